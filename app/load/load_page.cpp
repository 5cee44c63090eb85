#include "app/load/load_page.hpp"

#include "app/screen/signs.hpp"
#include "app/screen/status_line.hpp"
#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace yodel {

using Phase = RunProgress::Phase;
using ui::Style;

namespace {

// Width of the heat map's scale, in columns.
constexpr int scale_width = 8;
// Minimum width at which facts are shown with their names.
constexpr int min_width_with_names = 36;

// A heat map has a title, an axis, and at least this number of rows between them.
constexpr int min_map_rows = 2;
// Facts are dropped to give the map this number of rows, including its title and axis, but
// `min_facts` are kept. If no map fits even then, none are dropped for it.
constexpr int preferred_map_rows = 9;
constexpr int min_facts = 4;

constexpr std::size_t max_failures = 5;  // kinds shown

// Distance between two marks on the axis, in columns.
constexpr std::size_t mark_distance = 16;

// Buckets of a histogram in a cell, a quarter of an octave.
constexpr std::size_t cell_buckets = Histogram::buckets_per_octave / 4;

// Cells range from 1 us to 68 s. The outermost ones also count shorter and longer times.
std::size_t cell_of(ev::Duration time) {
    constexpr ev::Duration shortest(1023);
    constexpr ev::Duration longest(std::int64_t{1} << 36);
    return Histogram::bucket_index(std::clamp(time, shortest, longest)) / cell_buckets;
}

// A row of the page. If not all rows fit, those with the largest rank are omitted first.
struct Fact {
    int rank;
    std::string name;
    std::vector<Part> parts;
    std::string separator = ", ";
};

std::string counted(std::uint64_t value, const char* unit) {
    return std::to_string(value) + " " + unit;
}

// --- The facts.

std::string percent_text(double share) {
    return std::to_string(static_cast<int>(std::min(share, 1.0) * 100)) + "%";
}

std::string phase_text(const RunProgress& progress) {
    const Results& results = progress.results;
    if (progress.phase == Phase::ended)
        return "ended after " + elapsed_text(progress.elapsed, 1);
    if (progress.phase == Phase::ending)
        return results.is_probe ? "ending"
                                : "ending: " + counted(results.in_flight(), "in flight");
    if (progress.phase == Phase::warming_up) return "warming up";
    if (progress.phase == Phase::running) {
        const std::string text = "running " + elapsed_text(progress.elapsed, 1);
        if (progress.run.length)
            return text + " of " + elapsed_text(*progress.run.length, 1) + ", " +
                   percent_text(std::chrono::duration<double>(progress.elapsed) /
                                *progress.run.length);
        if (progress.run.count == 0) return text;
        const double sent =
            static_cast<double>(results.is_probe ? results.opened : results.sent);
        return text + ", " + percent_text(sent / static_cast<double>(progress.run.count)) +
               " of " + std::to_string(progress.run.count);
    }
    if (progress.until_start) return "starts in " + duration_text(*progress.until_start);
    return "connecting";
}

std::vector<Part> count_parts(const RunProgress& progress) {
    const Results& results = progress.results;
    std::vector<Part> parts;
    const auto add = [&parts](std::uint64_t count, const char* name, int rank,
                              Style above_zero = Style::normal) {
        parts.push_back({counted(count, name), rank, count > 0 ? above_zero : Style::normal});
    };
    if (results.is_probe) {
        add(results.opened, "opened", 1);
        add(results.failed, "failed", 0, Style::bad);
        if (results.handshakes_full + results.handshakes_resumed > 0) {
            add(results.handshakes_full, "full handshakes", 3);
            add(results.handshakes_resumed, "resumed", 2);
        }
        return parts;
    }
    add(results.sent, "sent", 4);
    const bool expects_any = progress.run.session.expect == Expect::any;
    add(results.echoed, expects_any ? "answered" : "echoed", 2);
    add(results.bad, "bad", 0, Style::bad);
    add(results.lost, "lost", 1, Style::bad);
    if (results.unsent > 0) add(results.unsent, "unsent", 1, Style::bad);
    if (results.late > 0) add(results.late, "late", 5, Style::warn);
    if (results.unsolicited > 0) add(results.unsolicited, "unsolicited", 6, Style::warn);
    if (results.uses_datagrams) {
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
    if (results.uses_datagrams)
        parts.push_back({"jitter " + milliseconds_text(results.jitter()), 6});
    return parts;
}

std::vector<Part> rate_parts(const RunProgress& progress, const LoadRates& rates) {
    if (progress.results.is_probe) return {{rate_text(rates.right) + " connections opened"}};
    const std::optional<double>& planned = progress.planned_rate;
    const auto part = [&](std::string text, double rate, int rank) {
        const bool is_behind =
            planned && progress.phase == Phase::running && rate < 0.95 * *planned;
        return Part{std::move(text), rank, is_behind ? Style::warn : Style::normal};
    };
    const std::string of = planned ? " of " + rate_text(*planned) : "";
    std::vector<Part> parts{part("sent " + rate_text(rates.sent) + of, rates.sent, 1),
                            part("right " + rate_text(rates.right), rates.right, 0)};
    const std::optional<Pace>& pace = progress.run.pace;
    if (pace && pace->climbs() && progress.phase != Phase::ended)
        parts.push_back({"climbing to " + rate_text(pace->rate(*progress.run.length)), 2});
    return parts;
}

std::vector<Fact> facts_of(const RunProgress& progress, const LoadRates& rates) {
    const Results& results = progress.results;
    std::vector<Fact> facts{{1, results.is_probe ? "total" : "messages", count_parts(progress)},
                            {4, "rate", rate_parts(progress, rates)},
                            {3, main_times(results).name, time_parts(results), "  "}};
    if (!progress.verdicts.empty()) facts.push_back({2, "required", {}});
    for (const Requirement::Verdict& each : progress.verdicts) {
        const bool holds = each.failure.empty();  // failed requirements are left out last
        const Glyph& sign = holds ? glyph::right : glyph::bad;
        facts.back().parts.push_back(
            {sign.text() + " " + each.clause +
                 (each.measured.empty() ? "" : " (" + each.measured + ")"),
             holds ? 2 : 1, holds ? Style::good : Style::bad});
    }
    std::vector<Part>& connections = facts.emplace_back(Fact{6, "connections", {}}).parts;
    connections = {{std::to_string(progress.results.open) + " open of " +
                        std::to_string(progress.run.connections),
                    0},
                   {counted(results.failed, "failed"), 1,
                    results.failed > 0 ? Style::bad : Style::normal}};
    if (results.attempts > progress.run.connections)
        connections.push_back({counted(results.attempts, "attempts"), 2});
    for (const auto& [name, times, rank] :
         {std::tuple("connect p99 ", &Results::connect_times, 4),
          {"handshake p99 ", &Results::handshake_times, 3}})
        if (const Histogram& all = results.*times; all.count() > 0)
            connections.push_back({name + milliseconds_text(all.percentile(99)), rank});
    if (const Histogram& lateness = results.lateness; lateness.count() > 0)
        facts.push_back({8,
                         "lateness",
                         {{"p50 " + milliseconds_number(lateness.percentile(50)), 1},
                          {"p99 " + milliseconds_number(lateness.percentile(99)), 0},
                          {"max " + milliseconds_text(lateness.max()), 2},
                          {"of yodel-load itself", 3, Style::dim}},
                         "  "});
    if (progress.descriptors >= progress.descriptor_limit / 10 * 9 &&
        progress.descriptor_limit > 0)
        facts.push_back({7,
                         "descriptors",
                         {{std::to_string(progress.descriptors) + " of " +
                               std::to_string(progress.descriptor_limit),
                           0, Style::warn}}});
    const std::vector<Results::Failure>& failures = results.failures;
    for (std::size_t i = 0; i < std::min(failures.size(), max_failures); ++i)
        facts.push_back(
            {i == 0 ? 5 : 10 + static_cast<int>(i),
             i == 0 ? "failures" : "",
             {{std::to_string(failures[i].count)}, {failures[i].text, 0, Style::bad}},
             "  "});
    if (failures.size() > max_failures)
        facts.push_back({20, "", {{counted(failures.size() - max_failures, "other kinds")}}});
    return facts;
}

// --- The heat map.

// Adds the map in at most `height` rows, including a title and an axis. Omits the legend if it
// does not fit.
void add_map(Rows& rows, const RunProgress& progress, const HeatMap& map, int height,
             int width) {
    const auto columns = static_cast<std::size_t>(std::max(width - scale_width, 1));
    const HeatMap::View view = map.view(static_cast<std::size_t>(height - 2), columns);
    if (view.rows.empty()) return;
    const TimesRow& times = main_times(progress.results);
    ui::Row title = fit({{std::string(times.name) + "s in ms", 0, Style::bold},
                         {"column: " + duration_text(view.column_time), 1, Style::dim}},
                        width, {"  "});
    ui::Row legend{{"  share:", Style::dim}};
    for (std::size_t i = 0; i <= HeatMap::shade_limits.size(); ++i) {
        ui::append(legend, " ", Style::dim);
        ui::append(legend, shades[i + 1].text());
        const bool is_last = i == HeatMap::shade_limits.size();
        ui::append(legend,
                   is_last ? " more"
                           : " to " + significant_text(HeatMap::shade_limits[i] * 100, 2) + "%",
                   Style::dim);
    }
    if (ui::display_width(title) + ui::display_width(legend) <= width)
        title.insert(title.end(), legend.begin(), legend.end());
    rows.push_back(std::move(title));
    const ev::Duration p99 = (progress.results.*times.times).percentile(99);
    for (const HeatMap::Row& each : view.rows) {
        const double end = std::chrono::duration<double, std::milli>(each.upper_end).count();
        ui::Row& row = rows.emplace_back();
        ui::append(row, format("%*s ", scale_width - 2, significant_text(end, 2).c_str()),
                   Style::dim);
        ui::append(row, glyph::separator.text(), Style::dim);
        const Style style = each.upper_end > p99 ? Style::warn : Style::normal;
        for (const int shade : each.shades) ui::append(row, shades[shade].text(), style);
        ui::truncate(row, width);
    }
    ui::Row& axis = rows.emplace_back();
    const std::size_t count = view.rows.front().shades.size();
    for (std::size_t at = 0; at == 0 || at < count; at += mark_distance) {
        ui::pad(axis, scale_width - 1 + static_cast<int>(at));
        const ev::Duration time = view.column_time * static_cast<std::int64_t>(at);
        ui::append(axis, glyph::separator.text() + (at == 0 ? "0s" : duration_text(time)),
                   Style::dim);
    }
    ui::truncate(axis, width);
}

}  // namespace

// Also adds empty columns, so that a stalled service is visible as a gap.
void HeatMap::add(ev::Time now, const Histogram& slice) {
    if (empty() && slice.count() == 0) return;
    if (empty()) began_at_ = now;
    while ((now - began_at_) / column_time_ >= static_cast<std::int64_t>(max_columns)) {
        columns_ = merged(2);
        column_time_ *= 2;
    }
    const auto needed = static_cast<std::size_t>((now - began_at_) / column_time_) + 1;
    columns_.resize(std::max(columns_.size(), needed));
    for (const Histogram::Bucket& each : slice.buckets())
        columns_.back()[cell_of(each.upper_end)] += each.count;
}

std::vector<HeatMap::Column> HeatMap::merged(std::size_t group_size) const {
    std::vector<Column> fewer((columns_.size() + group_size - 1) / group_size);
    for (std::size_t i = 0; i < columns_.size(); ++i)
        for (const auto& [cell, count] : columns_[i]) fewer[i / group_size][cell] += count;
    return fewer;
}

// Each row covers the same number of cells. Empty cells surround a small filled range, so that
// the scale rarely changes when the range grows.
HeatMap::View HeatMap::view(std::size_t rows, std::size_t columns) const {
    constexpr std::size_t min_cells = 14;  // more than a factor of ten
    if (empty()) return {};
    std::size_t group_size = 1;
    while (columns_.size() > columns * group_size) group_size *= 2;
    const std::vector<Column> shown = merged(group_size);
    const Column all = merged(columns_.size()).front();
    const std::size_t first = all.begin()->first;
    const std::size_t filled = all.rbegin()->first + 1 - first;
    const std::size_t cells_per_row = (filled + rows - 1) / rows;
    const std::size_t wanted = std::max(filled, std::min(rows * cells_per_row, min_cells));
    const std::size_t count = (wanted + cells_per_row - 1) / cells_per_row * cells_per_row;
    const std::size_t begin =
        first - std::min(first - cell_of(ev::Duration::zero()), (count - filled) / 2);
    View view{.column_time = column_time_ * static_cast<std::int64_t>(group_size), .rows = {}};
    for (std::size_t end = begin + count; end > begin; end -= cells_per_row) {
        Row& row =
            view.rows.emplace_back(Row{Histogram::upper_end(end * cell_buckets - 1), {}});
        for (const Column& column : shown) {
            double in_row = 0;
            double in_column = 0;
            for (const auto& [cell, round_trips] : column) {
                const auto number = static_cast<double>(round_trips);
                in_column += number;
                if (cell >= end - cells_per_row && cell < end) in_row += number;
            }
            const auto shade = std::lower_bound(shade_limits.begin(), shade_limits.end(),
                                                in_row / std::max(in_column, 1.0));
            row.shades.push_back(in_row > 0 ? 1 + static_cast<int>(shade - shade_limits.begin())
                                            : 0);
        }
    }
    return view;
}

Rows load_page(const RunProgress& progress, LoadRates rates, const HeatMap& map,
               ui::Size size) {
    const bool has_ended = progress.phase == Phase::ended;
    if (has_ended) {
        const Results& results = progress.results;
        const double seconds = std::chrono::duration<double>(results.elapsed()).count();
        rates = {seconds > 0 ? static_cast<double>(results.sent) / seconds : 0, results.rate()};
    }
    const int width = size.columns;
    const bool is_connected = progress.results.open > 0;
    const Glyph& glyph = is_connected ? glyph::connected : glyph::disconnected;
    const Part phase{glyph.text() + " " + phase_text(progress), 0,
                     is_connected ? Style::good : Style::bold};
    if (size.rows <= 1) {
        std::vector<Part> parts{phase};
        for (auto [more, rank] : {std::pair(count_parts(progress), 1),
                                  {{{rate_text(rates.right)}}, 3},
                                  {time_parts(progress.results), 3}})
            for (Part& part : more) {
                part.rank += rank;
                parts.push_back(std::move(part));
            }
        return {fit(parts, width, {" "})};
    }
    Rows rows{fit({phase, {progress.target, 1, Style::bold}}, width, {"  "})};
    std::vector<Fact> facts = facts_of(progress, rates);
    // If no connection is open during the run, the reasons matter more than the map.
    const bool has_only_failures =
        progress.results.open == 0 && !has_ended && !progress.results.failures.empty();
    const int min_kept_facts = has_only_failures ? static_cast<int>(facts.size()) : min_facts;
    const bool has_hint = size.rows > min_facts + 1;
    const int rows_left = size.rows - (has_hint ? 2 : 1);
    const int facts_beside_map = std::max(rows_left - preferred_map_rows, min_kept_facts);
    const bool has_map = rows_left - facts_beside_map >= min_map_rows + 2;
    const int max_facts = has_map ? facts_beside_map : rows_left;
    while (static_cast<int>(facts.size()) > max_facts)
        facts.erase(
            std::max_element(facts.begin(), facts.end(),
                             [](const Fact& a, const Fact& b) { return a.rank < b.rank; }));
    for (const Fact& fact : facts) {
        ui::Row& row = rows.emplace_back();
        if (width >= min_width_with_names) {
            ui::append(row, fact.name, Style::dim);
            ui::pad(row, fact_name_width);
        }
        const ui::Row value = fit(fact.parts, width - ui::display_width(row), {fact.separator});
        row.insert(row.end(), value.begin(), value.end());
    }
    const int height = size.rows - static_cast<int>(rows.size()) - (has_hint ? 1 : 0);
    if (height >= min_map_rows + 2) add_map(rows, progress, map, height, width);
    if (!has_hint) return rows;
    rows.resize(static_cast<std::size_t>(size.rows - 1));
    append_hints(rows.emplace_back(),
                 has_ended ? "press a key to quit"
                 : progress.phase == Phase::ending
                     ? "^C quits immediately"
                     : "^C ends the run; ^C again quits immediately",
                 width);
    return rows;
}

LoadScreen::LoadScreen(ev::Loop& loop, Owner& owner)
    : FullScreen(loop, std::chrono::milliseconds(100)), loop_(loop), owner_(owner) {}

void LoadScreen::press(const ui::Key& key) {
    const ui::Chord chord = ui::without_alt(key.chord);
    if (chord == ui::ctrl('z')) return suspend();
    if (chord == ui::ctrl('l')) return terminal().redraw();
    if (chord == ui::ctrl('c') || owner_.progress().phase == Phase::ended) owner_.interrupted();
}

void LoadScreen::draw() {
    const RunProgress progress = owner_.progress();
    if (progress.phase != Phase::ended) {
        map_.add(loop_.now(), recent_times(progress.results, seen_times_));
        sent_rate_.add(loop_.now(), progress.results.sent);
        right_rate_.add(loop_.now(), progress.results.achieved_count());
        mark_changed();  // the page contains times, so it always differs
    }
    const LoadRates rates{sent_rate_.per_second(), right_rate_.per_second()};
    terminal().draw({.rows = load_page(progress, rates, map_, terminal().size())});
}

}  // namespace yodel
