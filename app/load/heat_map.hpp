// The round trips of a run as a heat map. Time runs to the right, and the round trip upwards
// on a logarithmic scale. The shade of a cell is its share of the round trips of its column.
//
// Memory is bounded (220 KiB): when all columns are used, each pair of columns becomes one
// column of twice the time. Pure: it reads no clock.
#pragma once

#include "app/stats/histogram.hpp"
#include "ev/time.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace yodel {

class HeatMap {
public:
    static constexpr ev::Duration first_width = std::chrono::milliseconds(250);
    static constexpr std::size_t max_columns = 256;

    // The limits between shades. A cell without round trips has shade 0. Up to these shares of
    // the round trips of its column it has shade 1, 2 or 3, and above shade 4.
    static constexpr std::array<double, 3> shares{0.01, 0.1, 0.4};

    struct Row {
        ev::Duration upper_end;   // the longest round trip of the row
        std::vector<int> shades;  // from the first column on
    };
    struct View {
        ev::Duration width{};   // the time of a column
        std::vector<Row> rows;  // the longest round trips first
    };

    // Adds the round trips that ended since the last call. The map begins with the first of
    // them. Must be called in the order of time.
    void add(ev::Time now, const Histogram& slice);
    bool empty() const { return columns_.empty(); }

    // Returns the whole map in at most `rows` and `columns`, both at least 1. The rows cover
    // all round trips.
    View view(std::size_t rows, std::size_t columns) const;

private:
    // The cells range over 1 us to 68 s. The outermost cells also count shorter and longer
    // times.
    using Layout = Buckets<2>;
    static constexpr std::size_t first_bucket = Layout::index((std::uint64_t{1} << 10) - 1);
    static constexpr std::size_t last_bucket = Layout::index(std::uint64_t{1} << 36);
    static constexpr std::size_t cells = last_bucket - first_bucket + 1;
    static constexpr std::size_t min_covered = 14;  // more than a factor of ten
    using Column = std::array<std::uint64_t, cells>;

    struct Range {
        std::size_t begin;
        std::size_t end;
    };

    static std::size_t cell(ev::Duration round_trip);
    void extend_to(ev::Time now);
    Range filled() const;
    Range covered(std::size_t rows) const;
    static Row row(const std::vector<Column>& columns, Range range);
    std::vector<Column> merged(std::size_t together) const;

    std::vector<Column> columns_;
    ev::Time begin_{};
    ev::Duration width_ = first_width;
};

}  // namespace yodel
