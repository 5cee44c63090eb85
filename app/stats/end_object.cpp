#include "app/stats/end_object.hpp"

#include "app/stats/outcome.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>

namespace yodel {

namespace {

// Returns [[upper_us, count], ...].
JsonArray buckets_json(const Histogram& times) {
    JsonArray buckets;
    for (const Histogram::Bucket& bucket : times.buckets())
        buckets.array(JsonArray().time(bucket.upper_end).number(bucket.count));
    return buckets;
}

constexpr std::size_t max_line = 64 * 1024 * 1024;

// Maximum of a rate, so that no sum becomes infinite.
constexpr double max_number = 1e15;

// 60 years. Added to the latest time that is accepted, in 2200, it does not overflow.
constexpr ev::Duration max_elapsed = std::chrono::hours(24 * 21915);

// Maximum status of our own. A shell uses higher values for commands it could not run and for
// signals.
constexpr int max_own_status = 125;

// The statistics that the object contains. Others follow from its histograms.
constexpr const char* main_statistics[] = {"min", "mean",  "p50",    "p90", "p95",
                                           "p99", "p99.9", "p99.99", "max"};

// --- Writing.

void add_times(JsonObject& object, const Results& results, bool of_connections) {
    for (const TimesRow& row : times_rows) {
        const Histogram& times = results.*row.times;
        if (row.of_connections != of_connections || times.count() == 0) continue;
        JsonObject members;
        for (const char* const name : main_statistics)
            members.time(name, *statistic(times, name));
        object.object(row.object, members.nanoseconds("sum", times.sum()));
        object.array(row.buckets, buckets_json(times));
    }
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
    if (results.warm_up.any()) {
        JsonObject counts;
        for (const auto& [name, count] : warm_up_counts)
            counts.number(name, results.warm_up.*count);
        object.object("warm_up", counts);
    }
    if (const auto& replay = results.replay) {
        JsonObject counts;
        counts.number("replayed", results.sent).number("matched", results.echoed);
        counts.number("bad", results.bad).number("lost", results.lost);
        counts.number("unsolicited_matched", replay->as_recorded);
        counts.number("missing", replay->missing).number("unrecorded", replay->unrecorded);
        object.object("replay", counts);
    }
}

// Writes times in microseconds. Derives `ended` from the rounded `began`, so that an object
// stays the same when it is restored and written again.
void add_span(JsonObject& object, const Results& results) {
    using std::chrono::microseconds;
    if (results.first_sent) {
        const auto began = std::chrono::floor<microseconds>(results.began());
        object.text("began", timestamp_text(began));
        if (results.last_answered >= *results.first_sent)
            object.text("ended", timestamp_text(std::chrono::floor<microseconds>(
                                     began + results.elapsed())));
    }
    object.time("duration_us", results.elapsed());
    if (results.late_start) object.time("late_start_us", *results.late_start);
    if (results.overlap) object.decimal("overlap", *results.overlap);
}

// --- Reading.

[[noreturn]] void disagree(std::string_view name) {
    throw JsonError(in_quotes(name) + " disagrees with the other figures");
}

int status_of(const JsonFields& of) { return static_cast<int>(of.count("status", 0, 255)); }

// Throws JsonError if the count is missing, unless it may be unmeasured.
std::uint64_t count_of(const JsonFields& of, const Figure& figure) {
    const bool optional = *figure.unmeasured != '\0' && !of.has(figure.name);
    return optional ? 0 : of.count(figure.name);
}

void read_counts(const JsonFields& end, const JsonFields& connections, Results& results) {
    for (const Figure& figure : figures())
        if (figure.count)
            results.*figure.count =
                count_of(figure.of_connections() ? connections : end, figure);
    results.probe = end.has("probe");
    if (end.has("planned")) {
        if (end.count("planned") != results.sent + results.unsent) disagree("planned");
        results.planned_rate = {.planned = end.number("planned_rate", max_number),
                                .reached = end.number("reached_rate", max_number)};
    }
    results.over_datagrams = end.has("jitter_us");
    if (!results.over_datagrams) return;
    results.jitter_count = results.echoed + results.bad;
    results.jitter_sum = static_cast<double>(end.time("jitter_us").count()) *
                         static_cast<double>(results.jitter_count);
}

ev::Time utc_time(const JsonFields& end, const char* name) {
    const auto time = parse_timestamp(end.text(name));
    if (!time) disagree(name);
    return ev::Time(time->time_since_epoch());
}

void read_span(const JsonFields& end, Results& results) {
    const ev::Duration elapsed = end.time("duration_us", max_elapsed);
    results.utc_offset = {};
    if (end.has("late_start_us")) results.late_start = end.time("late_start_us");
    if (end.has("overlap")) results.overlap = end.number("overlap", 1);
    if (results.sent == 0 && !end.has("began")) return;
    results.first_sent = utc_time(end, "began");
    if (!end.has("ended")) return;
    results.last_answered = *results.first_sent + elapsed;
    const auto ended = std::chrono::floor<std::chrono::microseconds>(results.last_answered);
    if (utc_time(end, "ended") != ended) disagree("ended");
}

// Gives a malformed bucket the count 0, which Histogram::restored() refuses.
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

// Both members may be absent, because no time was measured.
void read_times(const JsonFields& of, const TimesRow& row, Histogram& to) {
    if (!of.has(row.object) && !of.has(row.buckets)) return;
    const JsonFields times = of.object(row.object);
    const auto histogram =
        Histogram::restored(buckets_of(of.array(row.buckets)), times.time("min"),
                            times.time("max"), times.nanoseconds("sum"));
    if (!histogram || histogram->count() > max_count) disagree(row.buckets);
    if (times.time("p50") != histogram->percentile(50)) disagree(row.object);
    to = *histogram;
}

void read_facts(const JsonFields& end, Results& results) {
    for (const JsonValue& value : end.array("errors").items) {
        const JsonFields each(value);
        results.failures.push_back({.text = each.text("text"),
                                    .status = status_of(each),
                                    .count = each.count("count"),
                                    .failed = each.count("failed")});
    }
    if (end.has("tcp")) {
        const JsonFields tcp = end.object("tcp");
        results.tcp = {.retransmits = tcp.count("retransmits"),
                       .mss = tcp.count("mss"),
                       .cwnd = tcp.count("cwnd")};
        if (tcp.has("min_rtt_us")) results.tcp->min_rtt = tcp.time("min_rtt_us");
    }
    if (end.has("warm_up")) {
        const JsonFields counts = end.object("warm_up");
        for (const auto& [name, count] : warm_up_counts)
            results.warm_up.*count = counts.count(name);
    }
    if (end.has("replay")) {
        const JsonFields replay = end.object("replay");
        results.replay = {.as_recorded = replay.count("unsolicited_matched"),
                          .unrecorded = replay.count("unrecorded"),
                          .missing = replay.count("missing")};
    }
}

// Ignores a status of 1 that follows from the counts, because the sum of all results has its
// own verdict.
void read_status(const JsonFields& end, Results& results) {
    int status = status_of(end);
    if (status > max_own_status) status = reply_bad_or_lost;
    if (status == reply_bad_or_lost && Outcome{.results = results}.status() == status) return;
    const bool never_opened = std::any_of(
        results.failures.begin(), results.failures.end(), [&](const Results::Failure& failure) {
            return failure.status == status && failure.failed == failure.count;
        });
    results.count_end(status, !never_opened);
}

// Returns false at the end of the file, after an error, or if the line is too long.
bool read_line(std::FILE* file, std::string& line) {
    line.clear();
    int byte = std::getc(file);
    const bool any = byte != EOF;
    for (; byte != EOF && byte != '\n' && line.size() < max_line; byte = std::getc(file))
        line += static_cast<char>(byte);
    return any && std::ferror(file) == 0 && line.size() < max_line;
}

[[noreturn]] void refuse(const std::string& path, int error) { throw InputError(path, error); }

}  // namespace

void add_counts(JsonObject& object, const Results& results, bool of_connections) {
    for (const Figure& figure : figures())
        if (figure.count && figure.of_connections() == of_connections && figure.value(results))
            object.number(figure.name, results.*figure.count);
    if (results.over_datagrams && !of_connections) object.time("jitter_us", results.jitter());
}

void add_recent(JsonObject& object, const Histogram& times, const TimesRow& row) {
    if (times.count() == 0) return;
    JsonObject members;
    members.time("p50", times.percentile(50)).time("p99", times.percentile(99));
    object.object(row.object, members);
    object.array(row.buckets, buckets_json(times));
}

JsonObject end_object(const Results& results, std::string_view reason, int status,
                      const Verdict& verdict) {
    JsonObject object;
    object.text("type", "end").text("reason", reason);
    object.number("status", static_cast<std::uint64_t>(status));
    if (results.probe) object.flag("probe", true);
    add_counts(object, results, false);
    if (results.planned_rate) {
        object.number("planned", results.sent + results.unsent);
        object.decimal("planned_rate", results.planned_rate->planned);
        object.decimal("reached_rate", results.planned_rate->reached);
    }
    object.decimal("rate", results.rate());
    add_span(object, results);
    add_times(object, results, false);
    JsonObject connections;
    add_counts(connections, results, true);
    add_times(connections, results, true);
    object.object("connections", connections);
    add_facts(object, results);
    if (!verdict.requirements.empty()) object.array("required", verdict.json());
    if (const auto held = verdict.held_json()) object.object("held", *held);
    return object;
}

std::unique_ptr<Results> restored_results(const JsonFields& end) {
    auto results = std::make_unique<Results>();
    try {
        const JsonFields connections = end.object("connections");
        read_counts(end, connections, *results);
        read_span(end, *results);
        for (const TimesRow& row : times_rows)
            read_times(row.of_connections ? connections : end, row, *results.*row.times);
        if (results->round_trips.count() > results->echoed + results->bad)
            disagree("histogram");
        read_facts(end, *results);
        read_status(end, *results);
    } catch (const JsonError& error) {
        throw JsonError("the end object was edited, or another version of yodel wrote it: " +
                        std::string(error.what()));
    }
    return results;
}

void read_end_objects(const std::string& path,
                      const std::function<void(const JsonFields& end)>& take) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                               std::fclose);
    if (!file) refuse(path, errno);
    std::string line;
    bool any = false;
    for (std::size_t number = 1; read_line(file.get(), line); ++number) {
        if (line.find_first_not_of(" \t\r") == line.npos) continue;
        const JsonResult read = read_json(line);
        if (!read.value)
            throw JsonError(path + ": line " + std::to_string(number) + " " + read.trouble);
        const JsonFields object(*read.value);
        if (object.text_or_empty("type") != "end") continue;
        try {
            take(object);
        } catch (const JsonError& error) {
            throw JsonError(path + ": " + error.what());
        }
        any = true;
    }
    if (std::ferror(file.get()) != 0) refuse(path, errno);
    if (line.size() == max_line) refuse(path, EFBIG);
    if (!any) throw JsonError(path + ": no end object found (expected --json output)");
}

}  // namespace yodel
