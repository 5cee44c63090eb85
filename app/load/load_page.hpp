// The load page, and its heat map.
#pragma once

#include "app/run/run_client.hpp"
#include "app/screen/full_screen.hpp"
#include "app/screen/pages.hpp"
#include "app/stats/histogram.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace yodel {

// A heat map of the main times of a run, called round trips here. Time runs to the right, round
// trips upwards on a logarithmic scale. The shade of a cell is its share of its column.
//
// Memory is bounded, because the time per column doubles when the map fills up.
class HeatMap {
public:
    static constexpr ev::Duration initial_column_time = std::chrono::milliseconds(250);
    static constexpr std::size_t max_columns = 256;

    // Maximum shares for the shades 1, 2 and 3. A larger share has shade 4, and an empty
    // cell has shade 0.
    static constexpr std::array<double, 3> shade_limits{0.01, 0.1, 0.4};

    struct Row {
        ev::Duration upper_end;   // longest round trip of the row
        std::vector<int> shades;  // one for each column
    };
    struct View {
        ev::Duration column_time{};
        std::vector<Row> rows;  // the longest round trips first
    };

    // Adds the round trips that ended since the last call. `now` must not decrease. The map
    // begins with the first round trip.
    void add(ev::Time now, const Histogram& slice);
    bool empty() const { return columns_.empty(); }

    // Returns the whole map in at most `rows` and `columns`, both at least 1. The rows cover
    // all round trips.
    View view(std::size_t rows, std::size_t columns) const;

private:
    // The number of round trips in each cell that has any, by the cell's index.
    using Column = std::map<std::size_t, std::uint64_t>;

    std::vector<Column> merged(std::size_t group_size) const;

    std::vector<Column> columns_;
    ev::Time began_at_{};
    ev::Duration column_time_ = initial_column_time;
};

// Messages per second; in a probe, `right` counts opened connections.
struct LoadRates {
    double sent = 0;
    double right = 0;
};

// Returns the page, which fits into `size`. If space is short, omits the least important rows
// and parts of rows. After the end of the run, shows the rates of the whole run, not `rates`.
Rows load_page(const RunProgress& progress, LoadRates rates, const HeatMap& map, ui::Size size);

// Draws the load page, at most ten times a second. ^C ends the run, ^Z suspends, ^L redraws.
// After the run, any key except ^Z and ^L ends the program.
class LoadScreen final : public RunDisplay, private FullScreen {
public:
    // See FullScreen. The handler of SIGCONT must call continued(). The owner must outlive the
    // screen.
    LoadScreen(ev::Loop& loop, Owner& owner);

    void turn_ended() override { FullScreen::turn_ended(); }
    void continued() override { FullScreen::continued(); }

private:
    void press(const ui::Key& key) override;
    void draw() override;
    void suspending() override { owner_.suspending(); }

    ev::Loop& loop_;
    Owner& owner_;
    HeatMap map_;
    Histogram seen_times_;  // see recent_times()
    RecentRate sent_rate_;
    RecentRate right_rate_;
};

}  // namespace yodel
