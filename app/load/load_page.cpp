#include "app/load/load_page.hpp"

#include "app/screen/signs.hpp"
#include "app/screen/status_line.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace yodel {

using Phase = RunProgress::Phase;
using ui::Style;

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

// --- The page.

// Width of the heat map's scale, in columns.
constexpr int scale_width = 8;
// Minimum width at which facts are shown with their names.
constexpr int width_with_names = 36;

// A heat map has a title, an axis, and at least this number of rows between them.
constexpr int min_map_rows = 2;
// Facts beyond `min_facts` are dropped until the map has this number of rows.
constexpr int preferred_map_rows = 9;
constexpr int min_facts = 5;

constexpr std::size_t max_failures = 5;

// Distance between two marks on the axis, in columns.
constexpr std::size_t mark_distance = 16;

// A row of the page. If not all rows fit, those with the largest rank are omitted first.
struct Fact {
    int rank;
    std::string name;
    std::vector<Part> parts;
    std::string separator = ", ";
};

std::string number(std::uint64_t value, const char* unit) {
    return std::to_string(value) + " " + unit;
}

ui::Row row_of(const Fact& fact, int width) {
    ui::Row row;
    if (width >= width_with_names) {
        ui::append(row, fact.name, Style::dim);
        ui::pad(row, fact_name_width);
    }
    const ui::Row value = fit(fact.parts, width - ui::display_width(row), {fact.separator});
    row.insert(row.end(), value.begin(), value.end());
    return row;
}

// --- The facts.

std::string phase_text(const RunProgress& progress) {
    if (progress.phase == Phase::ending)
        return progress.results.probe
                   ? "ending"
                   : "ending: " + number(progress.results.in_flight(), "in flight");
    if (progress.phase == Phase::running) {
        const std::string text = "running " + elapsed_text(progress.elapsed, 1);
        return progress.length ? text + " of " + elapsed_text(*progress.length, 1) : text;
    }
    if (progress.phase == Phase::warming_up) return "warming up";
    if (progress.until_start) return "starts in " + duration_text(*progress.until_start);
    return "connecting";
}

Part phase_part(const RunProgress& progress) {
    const bool up = progress.open > 0;
    const Glyph& glyph = up ? glyph::connected : glyph::disconnected;
    return {glyph.text() + " " + phase_text(progress), 0, up ? Style::good : Style::bold};
}

std::vector<Part> count_parts(const Results& results) {
    std::vector<Part> parts;
    const auto add = [&parts](std::uint64_t count, const char* name, int rank,
                              Style above_zero = Style::normal) {
        parts.push_back({number(count, name), rank, count > 0 ? above_zero : Style::normal});
    };
    if (results.probe) {
        add(results.opened, "opened", 1);
        add(results.failed, "failed", 0, Style::bad);
        if (results.handshakes_full + results.handshakes_resumed == 0) return parts;
        add(results.handshakes_full, "full handshakes", 3);
        add(results.handshakes_resumed, "resumed", 2);
        return parts;
    }
    add(results.sent, "sent", 4);
    add(results.echoed, "echoed", 2);
    add(results.bad, "bad", 0, Style::bad);
    add(results.lost, "lost", 1, Style::bad);
    if (results.late > 0) add(results.late, "late", 5, Style::warn);
    if (results.unsolicited > 0) add(results.unsolicited, "unsolicited", 6, Style::warn);
    if (results.over_datagrams) {
        add(results.duplicates, status_word::duplicate, 7, Style::warn);
        add(results.reordered, status_word::reordered, 8, Style::warn);
    }
    add(results.in_flight(), "in flight", 3);
    return parts;
}

std::vector<Part> time_parts(const Results& results) {
    const Histogram& times = results.*main_times(results).times;
    if (times.count() == 0) return {{"none yet"}};
    std::vector<Part> parts;
    for (const auto& [name, percent, rank] : {std::tuple("p50 ", 50.0, 2),
                                              {"p90 ", 90.0, 4},
                                              {"p99 ", 99.0, 0},
                                              {"p99.9 ", 99.9, 3},
                                              {"p99.99 ", 99.99, 5}})
        parts.push_back({name + milliseconds_number(times.percentile(percent)), rank});
    parts.push_back({"max " + milliseconds_text(times.max()), 1});
    if (results.over_datagrams)
        parts.push_back({"jitter " + milliseconds_text(results.jitter()), 6});
    return parts;
}

std::vector<Part> rate_parts(const RunProgress& progress, double rate) {
    if (!progress.planned_rate)
        return {{rate_text(rate)},
                {progress.results.probe ? "connections opened" : "as replies arrive", 1}};
    const bool behind =
        progress.phase == Phase::running && rate < 0.95 * *progress.planned_rate;
    std::vector<Part> parts{{rate_text(rate), 0, behind ? Style::warn : Style::normal},
                            {"planned " + rate_text(*progress.planned_rate), 1}};
    if (progress.last_rate)
        parts.push_back({"climbing to " + rate_text(*progress.last_rate), 2});
    return parts;
}

std::vector<Part> connection_parts(const RunProgress& progress) {
    const std::uint64_t failed = progress.results.failed;
    std::vector<Part> parts{
        {std::to_string(progress.open) + " open of " + std::to_string(progress.connections), 0},
        {number(failed, "failed"), 1, failed > 0 ? Style::bad : Style::normal}};
    if (progress.results.attempts > progress.connections)
        parts.push_back({number(progress.results.attempts, "attempts"), 2});
    const auto add_time = [&parts](const char* name, const Histogram& times, int rank) {
        if (times.count() > 0)
            parts.push_back({name + milliseconds_text(times.percentile(99)), rank});
    };
    add_time("connect p99 ", progress.results.connect_times, 4);
    add_time("handshake p99 ", progress.results.handshake_times, 3);
    return parts;
}

std::vector<Part> lateness_parts(const Histogram& lateness) {
    return {{"p50 " + milliseconds_number(lateness.percentile(50)), 1},
            {"p99 " + milliseconds_number(lateness.percentile(99)), 0},
            {"max " + milliseconds_text(lateness.max()), 2},
            {"of yodel-load itself", 3, Style::dim}};
}

void add_failures(std::vector<Fact>& facts, const std::vector<Results::Failure>& failures) {
    const std::size_t shown = std::min(failures.size(), max_failures);
    for (std::size_t i = 0; i < shown; ++i)
        facts.push_back(
            {i == 0 ? 4 : 10 + static_cast<int>(i),
             i == 0 ? "failures" : "",
             {{std::to_string(failures[i].count)}, {failures[i].text, 0, Style::bad}},
             "  "});
    if (failures.size() > shown)
        facts.push_back({20, "", {{number(failures.size() - shown, "other kinds")}}});
}

std::vector<Fact> facts_of(const RunProgress& progress, double rate) {
    const Results& results = progress.results;
    std::vector<Fact> facts{{1, results.probe ? "total" : "messages", count_parts(results)},
                            {3, "rate", rate_parts(progress, rate)},
                            {2, main_times(results).name, time_parts(results), "  "},
                            {5, "connections", connection_parts(progress)}};
    if (results.lateness.count() > 0)
        facts.push_back({8, "lateness", lateness_parts(results.lateness), "  "});
    std::string descriptors = std::to_string(progress.descriptors);
    if (progress.descriptor_limit > 0)
        descriptors += " of " + std::to_string(progress.descriptor_limit);
    facts.push_back({9, "descriptors", {{descriptors}}});
    add_failures(facts, results.failures);
    return facts;
}

ui::Row single_row(const RunProgress& progress, double rate, int width) {
    std::vector<Part> parts{phase_part(progress)};
    const auto add = [&parts](std::vector<Part> more, int rank) {
        for (Part& part : more) part.rank += rank;
        parts.insert(parts.end(), more.begin(), more.end());
    };
    add(count_parts(progress.results), 1);
    add({{rate_text(rate)}}, 3);
    add(time_parts(progress.results), 3);
    return fit(parts, width, {" "});
}

// --- The heat map.

// Omits the legend if it does not fit.
ui::Row map_title(const char* name, const HeatMap::View& view, int width) {
    ui::Row row = fit({{std::string(name) + "s in ms", 0, Style::bold},
                       {"column: " + duration_text(view.width), 1, Style::dim}},
                      width, {"  "});
    ui::Row legend{{"  share:", Style::dim}};
    for (int shade = 1; shade <= 4; ++shade) {
        const auto limit = static_cast<std::size_t>(shade - 1);
        ui::append(legend, " ", Style::dim);
        ui::append(legend, shades[shade].text());
        ui::append(legend,
                   limit == HeatMap::shade_limits.size()
                       ? " more"
                       : " to " + significant_text(HeatMap::shade_limits[limit] * 100, 2) + "%",
                   Style::dim);
    }
    if (ui::display_width(row) + ui::display_width(legend) <= width)
        row.insert(row.end(), legend.begin(), legend.end());
    return row;
}

ui::Row map_row(const HeatMap::Row& row, ev::Duration p99) {
    const std::string scale =
        significant_text(std::chrono::duration<double, std::milli>(row.upper_end).count(), 2);
    ui::Row made;
    ui::append(made, format("%*s ", scale_width - 2, scale.c_str()), Style::dim);
    ui::append(made, glyph::separator.text(), Style::dim);
    for (const int shade : row.shades)
        ui::append(made, shades[shade].text(),
                   row.upper_end > p99 && shade > 0 ? Style::warn : Style::normal);
    return made;
}

ui::Row map_axis(const HeatMap::View& view, int width) {
    ui::Row row;
    const std::size_t columns = view.rows.front().shades.size();
    for (std::size_t at = 0; at == 0 || at < columns; at += mark_distance) {
        ui::pad(row, scale_width - 1 + static_cast<int>(at));
        const ev::Duration time = view.width * static_cast<std::int64_t>(at);
        ui::append(row, glyph::separator.text() + (at == 0 ? "0s" : duration_text(time)),
                   Style::dim);
    }
    ui::truncate(row, width);
    return row;
}

void add_map(std::vector<ui::Row>& rows, const RunProgress& progress, const HeatMap& map,
             int height, int width) {
    const auto columns = static_cast<std::size_t>(std::max(width - scale_width, 1));
    const HeatMap::View view = map.view(static_cast<std::size_t>(height - 2), columns);
    if (view.rows.empty()) return;
    const TimesRow& times = main_times(progress.results);
    rows.push_back(map_title(times.name, view, width));
    const ev::Duration p99 = (progress.results.*times.times).percentile(99);
    for (const HeatMap::Row& row : view.rows) {
        rows.push_back(map_row(row, p99));
        ui::truncate(rows.back(), width);
    }
    rows.push_back(map_axis(view, width));
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

Rows load_page(const RunProgress& progress, double rate, const HeatMap& map, ui::Size size) {
    const int width = size.columns;
    if (size.rows <= 1) return {single_row(progress, rate, width)};
    std::vector<ui::Row> rows{
        fit({phase_part(progress), {progress.target, 1, Style::bold}}, width, {"  "})};
    std::vector<Fact> facts = facts_of(progress, rate);
    // If all connections have failed, the reasons matter more than the map.
    const bool all_failed = progress.open == 0 && !progress.results.failures.empty();
    const int before_map = all_failed ? static_cast<int>(facts.size()) : min_facts - 1;
    const bool hint = size.rows > min_facts;
    const int left = size.rows - (hint ? 2 : 1);
    const int kept = std::max(left - preferred_map_rows, before_map);
    const bool map_fits = left - kept >= min_map_rows + 2;
    while (facts.size() > static_cast<std::size_t>(map_fits ? kept : left))
        facts.erase(
            std::max_element(facts.begin(), facts.end(),
                             [](const Fact& a, const Fact& b) { return a.rank < b.rank; }));
    for (const Fact& fact : facts) rows.push_back(row_of(fact, width));
    const int height = size.rows - static_cast<int>(rows.size()) - (hint ? 1 : 0);
    if (height >= min_map_rows + 2) add_map(rows, progress, map, height, width);
    if (!hint) return rows;
    rows.resize(static_cast<std::size_t>(size.rows - 1));
    const bool ending = progress.phase == Phase::ending;
    rows.push_back({{ending ? "^C quits at once" : "^C ends the run; ^C again quits at once",
                     Style::dim}});
    ui::truncate(rows.back(), width);
    return rows;
}

LoadScreen::LoadScreen(ev::Loop& loop, Owner& owner)
    : FullScreen(loop, std::chrono::milliseconds(100)), loop_(loop), owner_(owner) {}

bool LoadScreen::prepare_for_line() { return ::isatty(STDERR_FILENO) != 1; }

void LoadScreen::press(const ui::Key& key) {
    const ui::Chord chord = ui::without_alt(key.chord);
    if (chord == ui::ctrl('c')) owner_.interrupted();
    if (chord == ui::ctrl('z')) suspend();
    if (chord == ui::ctrl('l')) terminal().redraw();
}

void LoadScreen::draw() {
    const RunProgress progress = owner_.progress();
    map_.add(loop_.now(), recent_.take(progress.results));
    rate_.add(loop_.now(), progress.results.achieved_count());
    terminal().draw({.rows = load_page(progress, rate_.per_second(), map_, terminal().size())});
    mark_changed();  // the page contains times, so it always differs
}

}  // namespace yodel
