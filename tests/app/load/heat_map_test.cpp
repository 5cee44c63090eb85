#include "app/load/load_page.hpp"

#include "tests/support/catch.hpp"

#include <cstddef>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

constexpr ev::Time start{1h};

Histogram histogram_of(ev::Duration round_trip, std::uint64_t count) {
    Histogram made;
    made.record(round_trip, count);
    return made;
}

// Returns the shades as digits, a text for each row.
std::vector<std::string> shades(const HeatMap::View& view) {
    std::vector<std::string> rows;
    for (const HeatMap::Row& row : view.rows) {
        rows.emplace_back();
        for (const int shade : row.shades) rows.back() += std::to_string(shade);
    }
    return rows;
}

}  // namespace

TEST_CASE("shades a cell by its share of its column") {
    const std::pair<std::uint64_t, const char*> rows[] = {{0, "0"},   {1, "1"},   {10, "1"},
                                                          {11, "2"},  {100, "2"}, {101, "3"},
                                                          {400, "3"}, {401, "4"}};
    for (const auto& [count, shade] : rows) {
        HeatMap map;
        map.add(start, histogram_of(1ms, 1000 - count));
        map.add(start, histogram_of(1s, count));
        map.add(start, histogram_of(1us, 0));
        CAPTURE(count);
        CHECK(shades(map.view(2, 10)).front() == shade);
    }
}

TEST_CASE("puts the longest round trips into the first row, the shortest into the last") {
    HeatMap map;
    map.add(start, histogram_of(1ms, 1));
    map.add(start + HeatMap::initial_column_time, histogram_of(4ms, 1));
    const HeatMap::View view = map.view(3, 10);
    CHECK(shades(view) == std::vector<std::string>{"04", "00", "40"});
    CHECK(view.column_time == HeatMap::initial_column_time);
    CHECK(view.rows.front().upper_end >= 4ms);
    CHECK(view.rows.back().upper_end >= 1ms);
    CHECK(view.rows.back().upper_end < 2ms);
}

TEST_CASE("begins with the first round trips, and leaves a gap for time without any") {
    HeatMap map;
    map.add(start - 10s, {});
    CHECK(map.empty());
    CHECK(map.view(10, 10).rows.empty());
    map.add(start, histogram_of(1ms, 1));
    CHECK(shades(map.view(1, 10)) == std::vector<std::string>{"4"});
    map.add(start + 3 * HeatMap::initial_column_time, {});
    CHECK(shades(map.view(1, 10)) == std::vector<std::string>{"4000"});
    map.add(start + 4 * HeatMap::initial_column_time, histogram_of(1ms, 1));
    CHECK(shades(map.view(1, 10)) == std::vector<std::string>{"40004"});
}

TEST_CASE("keeps the whole run in view, in columns of more time") {
    HeatMap map;
    for (int i = 0; i < 9; ++i)
        map.add(start + i * HeatMap::initial_column_time, histogram_of(1ms, 1));
    CHECK(map.view(1, 9).column_time == HeatMap::initial_column_time);
    const std::tuple<std::size_t, int, const char*> rows[] = {
        {8, 2, "44444"}, {5, 2, "44444"}, {4, 4, "444"}, {2, 8, "44"}, {1, 16, "4"}};
    for (const auto& [columns, width, row] : rows) {
        CHECK(map.view(1, columns).column_time == width * HeatMap::initial_column_time);
        CHECK(shades(map.view(1, columns)) == std::vector<std::string>{row});
    }
}

TEST_CASE("bounds the number of columns for a run of any length, and loses nothing") {
    for (const ev::Duration pause : std::initializer_list<ev::Duration>{1min, 1h, 24h * 100}) {
        HeatMap map;
        for (int i = 0; i < 600; ++i) map.add(start + i * pause, histogram_of(1ms, 1));
        const HeatMap::View view = map.view(1, 1000);
        const std::vector<int>& shades = view.rows.front().shades;
        CHECK(shades.size() <= HeatMap::max_columns);
        CHECK(shades.size() >= HeatMap::max_columns / 2);
        CHECK(view.column_time * static_cast<std::int64_t>(HeatMap::max_columns) >=
              599 * pause);
        CHECK(shades == std::vector<int>(shades.size(), 4));
    }
}

TEST_CASE("doubles the time of a column once the columns do not fit") {
    HeatMap map;
    map.add(start, histogram_of(1ms, 1));
    map.add(start + HeatMap::max_columns * HeatMap::initial_column_time - 1ns, {});
    CHECK(map.view(1, 1000).rows.front().shades.size() == HeatMap::max_columns);
    CHECK(map.view(1, 1000).column_time == HeatMap::initial_column_time);
    map.add(start + HeatMap::max_columns * HeatMap::initial_column_time, {});
    CHECK(map.view(1, 1000).rows.front().shades.size() == HeatMap::max_columns / 2 + 1);
    CHECK(map.view(1, 1000).column_time == 2 * HeatMap::initial_column_time);
}

TEST_CASE("contains round trips of every length") {
    HeatMap map;
    for (const ev::Duration each :
         std::initializer_list<ev::Duration>{0s, 1ns, 1us, 1s, 60s, 1h})
        map.add(start, histogram_of(each, 1));
    for (const std::size_t rows : {1U, 2U, 7U, 50U, 106U, 107U, 1000U}) {
        CAPTURE(rows);
        const HeatMap::View view = map.view(rows, 10);
        CHECK(view.rows.size() <= rows);
        CHECK(view.rows.front().upper_end >= 60s);
        CHECK(view.rows.front().upper_end < 5min);
        CHECK(view.rows.front().shades.front() > 0);
        CHECK(view.rows.back().shades.front() > 0);
        for (std::size_t i = 1; i < view.rows.size(); ++i)
            CHECK(view.rows[i].upper_end < view.rows[i - 1].upper_end);
    }
}

TEST_CASE("puts a single round trip into the middle of the rows") {
    HeatMap map;
    map.add(start, histogram_of(1ms, 1));
    CHECK(shades(map.view(5, 10)) == std::vector<std::string>{"0", "0", "4", "0", "0"});
    HeatMap longest;
    longest.add(start, histogram_of(1h, 1));
    CHECK(shades(longest.view(5, 10)) == std::vector<std::string>{"0", "0", "4", "0", "0"});
    CHECK(longest.view(5, 10).rows.front().upper_end < 200s);
    HeatMap shortest;
    shortest.add(start, histogram_of(1ns, 1));
    CHECK(shades(shortest.view(5, 10)) == std::vector<std::string>{"0", "0", "0", "0", "4"});
}
