#include "app/load/heat_map.hpp"

#include <algorithm>
#include <numeric>

namespace yodel {

namespace {

template <class Column>
void add_up(Column& to, const Column& other) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += other[i];
}

int shade(std::uint64_t count, std::uint64_t all) {
    if (count == 0) return 0;
    const double share = static_cast<double>(count) / static_cast<double>(all);
    const auto* const limit =
        std::lower_bound(HeatMap::shade_limits.begin(), HeatMap::shade_limits.end(), share);
    return 1 + static_cast<int>(limit - HeatMap::shade_limits.begin());
}

}  // namespace

void HeatMap::add(ev::Time now, const Histogram& slice) {
    if (empty() && slice.count() == 0) return;
    if (empty()) begin_ = now;
    extend_to(now);
    for (const Histogram::Bucket& bucket : slice.buckets())
        columns_.back()[cell(bucket.upper_end)] += bucket.count;
}

// Also adds empty columns, so that a stalled service is visible as a gap.
void HeatMap::extend_to(ev::Time now) {
    while ((now - begin_) / width_ >= static_cast<std::int64_t>(max_columns)) {
        columns_ = merged(2);
        width_ *= 2;
    }
    const auto needed = static_cast<std::size_t>((now - begin_) / width_) + 1;
    if (needed > columns_.size()) columns_.resize(needed);
}

std::vector<HeatMap::Column> HeatMap::merged(std::size_t together) const {
    std::vector<Column> fewer((columns_.size() + together - 1) / together);
    for (std::size_t i = 0; i < columns_.size(); ++i) add_up(fewer[i / together], columns_[i]);
    return fewer;
}

HeatMap::View HeatMap::view(std::size_t rows, std::size_t columns) const {
    if (empty()) return {};
    std::size_t together = 1;
    while ((columns_.size() + together - 1) / together > columns) together *= 2;
    const std::vector<Column> shown = merged(together);
    const Range all = covered(rows);
    const std::size_t each = (all.end - all.begin + rows - 1) / rows;
    View made{.width = width_ * static_cast<std::int64_t>(together), .rows = {}};
    for (std::size_t end = all.end; end > all.begin; end -= each)
        if (end - each < cell_count) made.rows.push_back(row(shown, {end - each, end}));
    return made;
}

HeatMap::Row HeatMap::row(const std::vector<Column>& columns, Range range) {
    range.end = std::min(range.end, cell_count);
    const auto longest =
        static_cast<std::int64_t>(Layout::upper_end(first_bucket + range.end - 1));
    Row made{ev::Duration(longest), {}};
    const auto sum = [](const Column& column, std::size_t begin, std::size_t end) {
        return std::accumulate(column.begin() + static_cast<std::ptrdiff_t>(begin),
                               column.begin() + static_cast<std::ptrdiff_t>(end),
                               std::uint64_t{0});
    };
    for (const Column& column : columns)
        made.shades.push_back(
            shade(sum(column, range.begin, range.end), sum(column, 0, cell_count)));
    return made;
}

// Returns the range from the lowest to the highest cell with round trips.
HeatMap::Range HeatMap::filled() const {
    Column sum{};
    for (const Column& column : columns_) add_up(sum, column);
    const auto some = [](std::uint64_t count) { return count > 0; };
    const auto first = std::find_if(sum.begin(), sum.end(), some);
    const auto last = std::find_if(sum.rbegin(), sum.rend(), some);
    return {static_cast<std::size_t>(first - sum.begin()),
            static_cast<std::size_t>(sum.rend() - last)};
}

// Returns a range with the same number of cells in each row and the filled cells in
// the middle. Surrounds a small filled range with empty cells, so that the map does not
// jump later.
HeatMap::Range HeatMap::covered(std::size_t rows) const {
    const Range range = filled();
    const std::size_t size = range.end - range.begin;
    const std::size_t each = (size + rows - 1) / rows;
    const std::size_t wanted = std::max(size, std::min(rows * each, min_covered_cells));
    const std::size_t covered = (wanted + each - 1) / each * each;
    const std::size_t begin = range.begin - std::min(range.begin, (covered - size) / 2);
    return {begin, begin + covered};
}

std::size_t HeatMap::cell(ev::Duration round_trip) {
    const std::size_t bucket = Layout::index(static_cast<std::uint64_t>(round_trip.count()));
    return std::clamp(bucket, first_bucket, last_bucket) - first_bucket;
}

}  // namespace yodel
