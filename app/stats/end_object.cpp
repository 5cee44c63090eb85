#include "app/stats/end_object.hpp"

#include "app/text/units.hpp"

#include <chrono>

namespace yodel {

namespace {

// Returns [[upper_us, count], ...].
JsonArray buckets_json(const Histogram& times) {
    JsonArray buckets;
    for (const Histogram::Bucket& bucket : times.buckets())
        buckets.array(JsonArray().time(bucket.upper_end).number(bucket.count));
    return buckets;
}

// The statistics that the object contains. Others follow from its histograms.
constexpr const char* main_statistics[] = {"min", "mean",  "p50",    "p90", "p95",
                                           "p99", "p99.9", "p99.99", "max"};

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

void add_facts(JsonObject& object, const RunResults& results) {
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
        for (const std::string_view name : {"sent", "echoed", "bad", "lost", "unsent"})
            for (const CountRow& row : count_rows)
                if (row.name == name) counts.number(name, results.warm_up.*row.count);
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

// Writes times in microseconds. Derives `ended` from the rounded `began`.
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
}

}  // namespace

void add_counts(JsonObject& object, const Results& results, bool of_connections) {
    for (const CountRow& row : count_rows)
        if (row.whole->of_connections == of_connections && row.whole->measured(results))
            object.number(row.name, results.*row.count);
    if (results.over_datagrams && !of_connections) object.time("jitter_us", results.jitter());
}

void add_recent(JsonObject& object, const Histogram& times, const TimesRow& row) {
    if (times.count() == 0) return;
    JsonObject members;
    members.time("p50", times.percentile(50)).time("p99", times.percentile(99));
    object.object(row.object, members);
    object.array(row.buckets, buckets_json(times));
}

JsonObject end_object(const RunResults& results, std::string_view reason, int status,
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

}  // namespace yodel
