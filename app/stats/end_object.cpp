#include "app/stats/end_object.hpp"

#include "app/stats/figures.hpp"
#include "app/stats/summary.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/quotes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

using JsonKind = JsonValue::Kind;

constexpr std::size_t max_line = 64 * 1024 * 1024;

// No sum of such fractions is infinite.
constexpr double max_fraction = 1e15;

// Above it a shell reports commands and signals, such as the signal that ended a run.
constexpr int max_own_status = 125;

// --- Writing.

void add_times(JsonObject& object, const Results& results, bool of_connections) {
    for (const TimesRow& row : times_rows) {
        const Histogram& times = results.*row.times;
        if (row.of_connections != of_connections || times.count() == 0) continue;
        JsonObject members;
        for (const Statistic& statistic : statistics)
            members.time(statistic.name, statistic.of(times));
        object.object(row.object, members.nanoseconds("sum", times.sum()));
        JsonArray buckets;
        for (const Histogram::Bucket& bucket : times.buckets())
            buckets.array(JsonArray().time(bucket.upper_end).number(bucket.count));
        object.array(row.buckets, buckets);
    }
}

void add_counts(JsonObject& object, const Results& results, bool of_connections) {
    for (const Figure& figure : figures())
        if (figure.count && figure.of_connections() == of_connections && figure.value(results))
            object.number(figure.name, results.*figure.count);
}

void add_facts(JsonObject& object, const Results& results) {
    JsonArray errors;
    for (const Results::Failure& failure : results.failures)
        errors.object(JsonObject()
                          .text("text", failure.text)
                          .number("status", static_cast<std::uint64_t>(failure.status))
                          .number("count", failure.count)
                          .number("failed", failure.failed));
    object.array("errors", errors);
    if (const auto& tcp = results.tcp) {
        JsonObject facts;
        if (tcp->min_rtt) facts.time("min_rtt_us", *tcp->min_rtt);
        facts.number("retransmits", tcp->retransmits);
        object.object("tcp", facts.number("mss", tcp->mss).number("cwnd", tcp->cwnd));
    }
    if (const auto& replay = results.replay) {
        JsonObject counts;
        counts.number("said", results.sent).number("as_before", results.echoed);
        counts.number("different", results.bad).number("lost", results.lost);
        counts.number("unsolicited_as_before", replay->recurred);
        counts.number("missing", replay->missing).number("unrecorded", replay->unrecorded);
        object.object("replay", counts);
    }
}

// --- Reading. The first member that is missing or of another kind is the trouble.

struct Refused {
    std::string trouble;
};

[[noreturn]] void refuse(std::string_view name) {
    throw Refused{in_quotes(name) + " of the end object is not of its kind"};
}

[[noreturn]] void disagree(std::string_view name) {
    throw Refused{in_quotes(name) + " of the end object disagrees with its other figures"};
}

const JsonValue& member(const JsonValue& of, std::string_view name, JsonKind kind) {
    const JsonValue* const found = of.find(name);
    if (!found)
        throw Refused{"the end object has no " + in_quotes(name) +
                      ": another version of yodel wrote it"};
    if (found->kind != kind) refuse(name);
    return *found;
}

// Returns `value`, which is what a number of this name was read as, if it is in range.
template <class Value>
Value checked(const std::optional<Value>& value, Value max, std::string_view name) {
    if (!value || *value < Value() || *value > max) refuse(name);
    return *value;
}

std::uint64_t count(const JsonValue& of, std::string_view name,
                    std::uint64_t max = std::numeric_limits<std::uint64_t>::max()) {
    return checked(member(of, name, JsonKind::number).count(), max, name);
}

int status_of(const JsonValue& of) { return static_cast<int>(count(of, "status", 255)); }

double fraction(const JsonValue& of, std::string_view name) {
    return checked(member(of, name, JsonKind::number).fraction(), max_fraction, name);
}

std::uint64_t nanoseconds(const JsonValue& of, std::string_view name) {
    return checked(member(of, name, JsonKind::number).nanoseconds(),
                   std::numeric_limits<std::uint64_t>::max(), name);
}

ev::Duration time(const JsonValue& of, std::string_view name) {
    constexpr auto max = static_cast<std::uint64_t>(ev::Duration::max().count());
    return ev::Duration(static_cast<std::int64_t>(
        checked(member(of, name, JsonKind::number).nanoseconds(), max, name)));
}

// Version 0.2.0 called unsolicited messages unasked, and left out what could not be.
std::uint64_t message_count(const JsonValue& end, const std::string& name) {
    if (end.find(name)) return count(end, name);
    if (name == "unsent" || name == "twice" || name == "out_of_order") return 0;
    return count(end, name == "unsolicited" && end.find("unasked") ? "unasked" : name);
}

void read_counts(const JsonValue& end, const JsonValue& connections, Results& results) {
    for (const Figure& figure : figures())
        if (figure.count)
            results.*figure.count = figure.of_connections() ? count(connections, figure.name)
                                                            : message_count(end, figure.name);
    results.measured = {.elapsed = time(end, "duration_us"), .rate = fraction(end, "rate")};
    if (end.find("planned")) {
        if (count(end, "planned") != results.sent + results.unsent) disagree("planned");
        results.planned_rate = {.planned = fraction(end, "planned_rate"),
                                .reached = fraction(end, "reached_rate")};
    }
    results.datagrams = end.find("jitter_us") != nullptr;
    if (!results.datagrams) return;
    results.jitter_count = results.echoed + results.bad;
    results.jitter_sum = static_cast<double>(time(end, "jitter_us").count()) *
                         static_cast<double>(results.jitter_count);
}

// A bucket that is none has no count, which no histogram has.
std::vector<Histogram::Bucket> buckets_of(const JsonValue& list) {
    std::vector<Histogram::Bucket> buckets;
    for (const JsonValue& pair : list.items) {
        Histogram::Bucket bucket{.upper_end = ev::Duration(-1), .count = 0};
        const bool whole = pair.items.size() == 2 && pair.items[0].nanoseconds();
        if (whole)
            bucket = {ev::Duration(static_cast<std::int64_t>(*pair.items[0].nanoseconds())),
                      pair.items[1].count().value_or(0)};
        buckets.push_back(bucket);
    }
    return buckets;
}

// Both members are left out if no time was measured.
void read_times(const JsonValue& of, const TimesRow& row, Histogram& to) {
    if (!of.find(row.object) && !of.find(row.buckets)) return;
    const JsonValue& times = member(of, row.object, JsonKind::object);
    const auto histogram =
        Histogram::restored(buckets_of(member(of, row.buckets, JsonKind::array)),
                            time(times, "min"), time(times, "max"), nanoseconds(times, "sum"));
    if (!histogram) disagree(row.buckets);
    // Version 0.2.0 rounded the ranks of other percentiles differently.
    if (time(times, "p50") != histogram->percentile(50)) disagree(row.object);
    to = *histogram;
}

void read_facts(const JsonValue& end, Results& results) {
    for (const JsonValue& each : member(end, "errors", JsonKind::array).items)
        results.failures.push_back({.text = member(each, "text", JsonKind::text).text,
                                    .status = status_of(each),
                                    .count = count(each, "count"),
                                    .failed = each.find("failed") ? count(each, "failed") : 0});
    if (end.find("tcp")) {
        const JsonValue& tcp = member(end, "tcp", JsonKind::object);
        results.tcp = {.retransmits = count(tcp, "retransmits"),
                       .mss = count(tcp, "mss"),
                       .cwnd = count(tcp, "cwnd")};
        if (tcp.find("min_rtt_us")) results.tcp->min_rtt = time(tcp, "min_rtt_us");
    }
    if (end.find("replay")) {
        const JsonValue& replay = member(end, "replay", JsonKind::object);
        const bool renamed = replay.find("unasked_as_before") != nullptr;
        results.replay = {
            .recurred = count(replay, renamed ? "unasked_as_before" : "unsolicited_as_before"),
            .unrecorded = count(replay, "unrecorded"),
            .missing = count(replay, "missing")};
    }
}

// A status of 1 that follows from the counts is left to the verdict on the sum.
void read_status(const JsonValue& end, Results& results) {
    int status = status_of(end);
    if (status > max_own_status) status = reply_wrong_or_lost;
    if (status == reply_wrong_or_lost && exit_status(results, {}) == status) return;
    const bool never_opened = std::any_of(
        results.failures.begin(), results.failures.end(), [&](const Results::Failure& failure) {
            return failure.status == status && failure.failed == failure.count;
        });
    results.count_end(status, !never_opened);
}

bool is_end(const JsonValue& value) {
    const JsonValue* const type = value.find("type");
    return type && type->text == "end";
}

// Returns false at the end of the file, after an error, and after the longest line.
bool read_line(std::FILE* file, std::string& line) {
    line.clear();
    int byte = std::getc(file);
    const bool any = byte != EOF;
    for (; byte != EOF && byte != '\n' && line.size() < max_line; byte = std::getc(file))
        line += static_cast<char>(byte);
    return any && std::ferror(file) == 0 && line.size() < max_line;
}

std::string error_text(const std::string& path, int error) {
    return path + ": " + std::generic_category().message(error);
}

}  // namespace

void add_counts(JsonObject& object, const Results& results) {
    add_counts(object, results, false);
    if (results.datagrams) object.time("jitter_us", results.jitter());
}

JsonObject end_object(const Results& results, std::string_view reason, int status,
                      const Verdict& verdict) {
    JsonObject object;
    object.text("type", "end").text("reason", reason);
    object.number("status", static_cast<std::uint64_t>(status));
    add_counts(object, results);
    if (results.planned_rate) {
        object.number("planned", results.sent + results.unsent);
        object.fraction("planned_rate", results.planned_rate->planned);
        object.fraction("reached_rate", results.planned_rate->reached);
    }
    object.fraction("rate", results.rate()).time("duration_us", results.elapsed());
    add_times(object, results, false);
    JsonObject connections;
    add_counts(connections, results, true);
    add_times(connections, results, true);
    object.object("connections", connections);
    add_facts(object, results);
    if (verdict.comparison) object.object("compare", verdict.comparison->json());
    return object;
}

RestoredResults restored_results(const JsonValue& end) {
    if (!is_end(end)) return {nullptr, "there is no end object"};
    auto results = std::make_unique<Results>();
    try {
        const JsonValue& connections = member(end, "connections", JsonKind::object);
        read_counts(end, connections, *results);
        for (const TimesRow& row : times_rows)
            read_times(row.of_connections ? connections : end, row, *results.*row.times);
        if (results->round_trips.count() > results->echoed + results->bad)
            disagree("histogram");
        read_facts(end, *results);
        read_status(end, *results);
    } catch (const Refused& refused) {
        return {nullptr, refused.trouble};
    }
    return {std::move(results), ""};
}

std::string read_results(const std::string& path,
                         const std::function<void(std::unique_ptr<Results>)>& take) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                               std::fclose);
    if (!file) return error_text(path, errno);
    std::string line;
    bool any = false;
    for (std::size_t number = 1; read_line(file.get(), line); ++number) {
        if (line.find_first_not_of(" \t\r") == line.npos) continue;
        const JsonResult read = read_json(line);
        if (!read.value) return path + ": line " + std::to_string(number) + " " + read.trouble;
        if (!is_end(*read.value)) continue;
        RestoredResults restored = restored_results(*read.value);
        if (!restored.results) return path + ": " + restored.trouble;
        take(std::move(restored.results));
        any = true;
    }
    if (std::ferror(file.get()) != 0) return error_text(path, errno);
    if (line.size() == max_line) return error_text(path, EFBIG);
    return any ? "" : path + ": there is no end object, as --json writes it";
}

}  // namespace yodel
