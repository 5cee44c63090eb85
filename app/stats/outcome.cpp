#include "app/stats/outcome.hpp"

#include "app/text/output.hpp"
#include "app/text/units.hpp"

#include <chrono>
#include <cstddef>
#include <initializer_list>

namespace yodel {

namespace {

// --- The summary.

// With fewer round trips, the 95th percentile would equal the maximum.
constexpr std::uint64_t min_count_for_percentiles = 20;

std::string count_part(std::uint64_t count, const char* thing) {
    return ", " + std::to_string(count) + " " + thing;
}

std::string count_part_if_any(std::uint64_t count, const char* thing) {
    return count > 0 ? count_part(count, thing) : "";
}

std::string counts_text(const Results& results, const SummaryParts& parts) {
    if (results.is_probe)
        return count_text(results.opened, "connection") + " opened" +
               count_part(results.failed, "failed");
    const bool is_replay = results.is_replay;
    const std::string sent = std::to_string(results.sent) + (is_replay ? " replayed" : " sent");
    if (parts.listens) return sent;
    return sent +
           count_part(results.echoed, is_replay           ? "matched"
                                      : parts.expects_any ? "answered"
                                                          : "echoed") +
           count_part(results.bad, "bad") + count_part(results.lost, "lost");
}

std::string datagrams_text(const Results& results) {
    if (!results.uses_datagrams) return count_part_if_any(results.duplicates, "duplicate");
    return count_part(results.duplicates, "duplicate") +
           count_part(results.reordered, "reordered");
}

// Returns the percentiles for `percents`, and the maximum, such as "0.05/0.21/0.40 ms".
std::string times_text(const Histogram& times, std::initializer_list<double> percents) {
    std::string text;
    for (const double percent : percents)
        text += milliseconds_number(times.percentile(percent)) + "/";
    return text + milliseconds_text(times.max());
}

std::string round_trips_text(const Results& results) {
    const Histogram& times = results.round_trips;
    if (times.count() == 0) return "";
    if (times.count() == 1) return "; rtt " + milliseconds_text(times.max());
    const bool has_few = times.count() < min_count_for_percentiles;
    const std::string text =
        (has_few ? "; rtt min/max " : "; rtt min/p50/p95/p99/max ") +
        milliseconds_number(times.min()) + "/" +
        (has_few ? times_text(times, {}) : times_text(times, {50, 95, 99}));
    return results.uses_datagrams ? text + "; jitter " + milliseconds_text(results.jitter())
                                  : text;
}

std::string connections_remark(const Results& results, const SummaryParts& parts) {
    std::string text;
    if (parts.is_load && results.failed > 0 && !results.is_probe)
        text += "; " + std::to_string(results.failed) + " of " +
                std::to_string(results.attempts) + " attempts to connect failed";
    if (!((parts.is_load && parts.is_verbose) || results.is_probe) ||
        results.connect_times.count() == 0)
        return text;
    text += "; connect p50/p99/max " + times_text(results.connect_times, {50, 99});
    if (results.handshake_times.count() == 0) return text;
    text += ", handshake " + times_text(results.handshake_times, {50, 99});
    if (results.handshakes_full + results.handshakes_resumed == 0) return text;
    return text + count_part(results.handshakes_full, "full") +
           count_part(results.handshakes_resumed, "resumed");
}

// --- The end object.

std::string buckets_name(const TimesRow& row) { return std::string(row.prefix) + "histogram"; }

// Returns [upper_us,count] for each bucket.
std::vector<std::string> buckets_json(const Histogram& times) {
    std::vector<std::string> buckets;
    for (const Histogram::Bucket& bucket : times.buckets())
        buckets.push_back("[" + json_microseconds(bucket.upper_end) + "," +
                          std::to_string(bucket.count) + "]");
    return buckets;
}

// The statistics in the end object. Its histograms let a reader compute others.
constexpr const char* main_statistics[] = {"min", "mean",  "p50",    "p90", "p95",
                                           "p99", "p99.9", "p99.99", "max"};

// With `is_about_connections`, adds the counts of connections. Otherwise, adds the counts of
// messages, and the jitter of datagrams.
void add_counts(JsonObject& object, const Results& results, bool is_about_connections) {
    for (const CountRow& row : count_rows)
        if (row.whole->is_about_connections == is_about_connections &&
            row.whole->total_of(results))
            object.number(row.name, results.*row.count);
    if (results.uses_datagrams && !is_about_connections)
        object.time("jitter_us", results.jitter());
}

void add_times(JsonObject& object, const Results& results, bool is_about_connections) {
    for (const TimesRow& row : times_rows) {
        const Histogram& times = results.*row.times;
        if (row.is_about_connections != is_about_connections || times.count() == 0) continue;
        JsonObject members;
        for (const char* const name : main_statistics)
            members.time(name, *statistic(times, name));
        object.object(row.json_key, members.time("sum", times.sum()));
        object.array(buckets_name(row), buckets_json(times));
    }
}

void add_facts(JsonObject& object, const RunResults& results) {
    std::vector<std::string> errors;
    for (const Results::Failure& failure : results.failures)
        errors.push_back(JsonObject()
                             .text("text", failure.text)
                             .number("status", static_cast<std::uint64_t>(failure.status))
                             .number("count", failure.count)
                             .number("failed", failure.failed)
                             .str());
    object.array("errors", errors);
    if (const auto& tcp = results.tcp) {
        JsonObject facts;
        if (tcp->min_rtt) facts.time("min_rtt_us", *tcp->min_rtt);
        facts.number("retransmits", tcp->retransmits);
        object.object("tcp", facts.number("mss", tcp->mss).number("cwnd", tcp->cwnd));
    }
    if (results.warm_up.has_messages()) {
        const Results& warm_up = results.warm_up;
        JsonObject counts;
        counts.number("sent", warm_up.sent).number("echoed", warm_up.echoed);
        counts.number("bad", warm_up.bad).number("lost", warm_up.lost);
        object.object("warm_up", counts.number("unsent", warm_up.unsent));
    }
    if (results.is_replay) {
        JsonObject counts;
        counts.number("replayed", results.sent).number("matched", results.echoed);
        counts.number("bad", results.bad).number("lost", results.lost);
        counts.number("unsolicited_matched", results.as_recorded);
        counts.number("missing", results.missing).number("unrecorded", results.unrecorded);
        object.object("replay", counts);
    }
}

void add_requirements(JsonObject& object, const std::vector<Requirement::Verdict>& verdicts) {
    std::vector<std::string> clauses;
    JsonObject held;
    bool has_climbed = false;
    for (const Requirement::Verdict& each : verdicts) {
        JsonObject clause;
        clause.text("clause", each.clause);
        if (!each.measured.empty()) clause.text("was", each.measured);
        clauses.push_back(clause.flag("holds", each.failure.empty()).str());
        has_climbed = has_climbed || each.held_rate;
        if (each.held_rate) held.decimal(each.clause, *each.held_rate);
    }
    if (!verdicts.empty()) object.array("required", clauses);
    if (has_climbed) object.object("held", held);
}

// --- The last lines.

constexpr std::size_t max_kinds = 10;  // of failures

std::string repeats_text(std::uint64_t count) {
    return count == 1 ? "" : " (" + std::to_string(count) + " times)";
}

}  // namespace

std::string summary(const RunResults& results, const SummaryParts& parts) {
    std::string text = counts_text(results, parts) + count_part_if_any(results.late, "late") +
                       count_part_if_any(results.unsent, "unsent");
    if (parts.listens)
        text += count_part(results.unsolicited, "received");
    else if (results.is_replay)
        text += count_part_if_any(results.as_recorded, "unsolicited matched") +
                count_part_if_any(results.missing, "unsolicited missing") +
                count_part_if_any(results.unrecorded, "unsolicited not recorded");
    else
        text += count_part_if_any(results.unsolicited, "unsolicited");
    if (!parts.listens) text += datagrams_text(results);
    if (parts.is_load && results.rate() > 0) text += ", " + rate_text(results.rate());
    text += round_trips_text(results);
    // A client that sends late distorts the measurement, so the summary says by how much.
    const ev::Duration p50 = results.round_trips.percentile(50);
    const ev::Duration late = results.lateness.percentile(99);
    if (late > p50 / 10)
        text += "; lateness p50/p99 " + milliseconds_number(results.lateness.percentile(50)) +
                "/" + milliseconds_text(late);
    if (!results.reached_planned_rate())
        text += "; planned " + rate_text(*results.planned_rate) + ", reached " +
                rate_text(results.reached_rate);
    const bool has_rtt = results.round_trips.count() > 0 && results.tcp && results.tcp->min_rtt;
    if (parts.is_verbose && has_rtt && *results.tcp->min_rtt >= p50 / 10)
        text += "; p50 " + network_share_text(p50, *results.tcp->min_rtt);
    if (results.late_start.value_or(ev::Duration::zero()) > ev::Duration::zero())
        text += "; began " + milliseconds_text(*results.late_start) + " after --start-at";
    if (results.warm_up.has_messages())
        text += "; warm-up: " + counts_text(results.warm_up, parts) +
                count_part_if_any(results.warm_up.unsent, "unsent");
    return text + results.unverified_remark + connections_remark(results, parts);
}

std::string progress_text(const Results& results, const SummaryParts& parts) {
    std::string text = counts_text(results, parts) + datagrams_text(results);
    const TimesRow& row = main_times(results);
    const Histogram& times = results.*row.times;
    if (times.count() == 0) return text;
    text += (results.is_probe ? ", " + std::string(row.name) : ",") + " p50 " +
            milliseconds_text(times.percentile(50));
    return results.uses_datagrams ? text + ", jitter " + milliseconds_text(results.jitter())
                                  : text;
}

JsonObject interval_object(const Results& results, std::uint64_t second,
                           const Histogram& recent) {
    JsonObject object;
    object.text("type", "interval").number("t", second).number("open", results.open);
    add_counts(object, results, results.is_probe);
    if (recent.count() == 0) return object;
    const TimesRow& row = main_times(results);
    JsonObject members;
    members.time("p50", recent.percentile(50)).time("p99", recent.percentile(99));
    return object.object(row.json_key, members).array(buckets_name(row), buckets_json(recent));
}

Trouble Outcome::decided() const {
    const auto failure_with = [this](int status) -> Trouble {
        for (const Results::Failure& failure : results.failures)
            if (failure.status == status) return {status, failure.text};
        return {status, reason};
    };
    if (signo != 0) return {128 + signo, signal_text(signo)};
    int status = results.opened_failure_status;
    const bool never_opened = results.failed_status != 0 && !tolerates("failed");
    if (status <= reply_bad_or_lost && never_opened) status = results.failed_status;
    if (status > reply_bad_or_lost) return failure_with(status);
    if (!troubles.empty()) return troubles.front();
    for (const Requirement::Verdict& each : verdicts)
        if (!each.failure.empty()) return {reply_bad_or_lost, each.failure};
    const std::string faults = faults_text();
    return faults.empty() ? failure_with(status) : Trouble{reply_bad_or_lost, faults};
}

// Returns the faults of the run and its warm-up that no requirement tolerates, such as "2 bad,
// 1 lost". Duplicate datagrams are no faults. Unsolicited messages are faults only if at least
// one of them is stale. In a replay, unsolicited messages that are missing or not recorded are
// faults, too, which no requirement can tolerate.
std::string Outcome::faults_text() const {
    std::string faults;
    const auto add = [&faults](std::uint64_t count, std::string_view name) {
        if (count == 0) return;
        faults += (faults.empty() ? "" : ", ") + std::to_string(count) + " ";
        faults += name;
    };
    for (const auto& [name, count, whole, is_fault] : count_rows) {
        const bool is_usual = (results.uses_datagrams && count == &Results::duplicates) ||
                              (results.stale == 0 && count == &Results::unsolicited);
        if (is_fault && !is_usual && !tolerates(name))
            add(results.*count + results.warm_up.*count, name);
    }
    add(results.missing, "missing");
    add(results.unrecorded, "not in the recording");
    return faults;
}

bool Outcome::tolerates(std::string_view figure) const {
    bool is_required = false;
    for (const Requirement::Verdict& each : verdicts) {
        if (each.figure != figure) continue;
        if (!each.failure.empty()) return false;
        is_required = true;
    }
    return is_required;
}

std::vector<std::string> Outcome::lines() const {
    std::vector<std::string> lines;
    const bool has_failed = status() != success;
    if (!results.reply_problem_sentence.empty() && !summary_parts.is_problem_printed)
        lines.push_back(results.reply_problem_sentence);
    const auto add_repeated = [&](const std::string& sentence, std::uint64_t count) {
        if (has_failed && count > 0 && !sentence.empty())
            lines.push_back(sentence + repeats_text(count));
    };
    add_repeated(results.lost_sentence, results.lost + results.warm_up.lost);
    // If the run did not fail, each failure with a nonzero status was repaired or tolerated.
    const bool shows_all = has_failed || summary_parts.is_load;
    std::size_t kinds = 0;
    for (std::size_t i = summary_parts.printed_failures; i < results.failures.size(); ++i) {
        const Results::Failure& failure = results.failures[i];
        if (!shows_all && (failure.status != success || !summary_parts.has_summary)) continue;
        if (++kinds <= max_kinds) lines.push_back(failure.text + repeats_text(failure.count));
    }
    if (kinds > max_kinds)
        lines.push_back(std::to_string(kinds - max_kinds) +
                        " other kinds of failures (--json lists up to 100)");
    // A failure is the usual reason for unsent messages, so their sentence follows the
    // failures.
    add_repeated(results.unsent_sentence, results.unsent + results.warm_up.unsent);
    for (const Trouble& trouble : troubles) lines.push_back(trouble.text);
    std::vector<std::string> held;
    std::vector<std::string> unmet;
    for (const Requirement::Verdict& each : verdicts) {
        if (!each.failure.empty())
            unmet.push_back(each.failure);
        else if (summary_parts.has_summary && each.held_rate)
            held.push_back(each.held_text());
    }
    const bool has_no_cause = lines.empty() && unmet.empty() && signo == 0;
    if (summary_parts.has_summary || (has_failed && has_no_cause))
        lines.push_back(summary(results, summary_parts));
    lines.insert(lines.end(), held.begin(), held.end());
    lines.insert(lines.end(), unmet.begin(), unmet.end());
    return lines;
}

void Outcome::print() const {
    for (const std::string& line : lines()) print_error(line);
}

JsonObject Outcome::json() const {
    const auto [status, text] = decided();
    JsonObject object;
    object.text("type", "end").text("reason", text);
    object.number("status", static_cast<std::uint64_t>(status));
    if (results.is_probe) object.flag("probe", true);
    add_counts(object, results, false);
    if (results.planned_rate) {
        object.number("planned", results.sent + results.unsent);
        object.decimal("planned_rate", *results.planned_rate);
        object.decimal("reached_rate", results.reached_rate);
    }
    object.decimal("rate", results.rate());
    if (results.first_sent_at) {
        using std::chrono::microseconds;
        const auto began_at = std::chrono::floor<microseconds>(results.began_at());
        object.text("began", timestamp_text(began_at));
        if (results.last_answered_at >= *results.first_sent_at)
            object.text("ended", timestamp_text(std::chrono::floor<microseconds>(
                                     began_at + results.elapsed())));
    }
    object.time("duration_us", results.elapsed());
    if (results.late_start) object.time("late_start_us", *results.late_start);
    add_times(object, results, false);
    JsonObject connections;
    add_counts(connections, results, true);
    add_times(connections, results, true);
    object.object("connections", connections);
    add_facts(object, results);
    add_requirements(object, verdicts);
    if (results.samples) object.object("samples", results.samples->json());
    return object;
}

}  // namespace yodel
