#include "app/stats/summary.hpp"

#include "app/stats/figures.hpp"
#include "app/text/units.hpp"

#include <initializer_list>

namespace yodel {

namespace {

// Percentiles of fewer times would be single messages.
constexpr std::uint64_t min_count_for_percentiles = 20;

// Returns these percentiles and the maximum: "0.05/0.21/0.40 ms".
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
    const bool few = times.count() < min_count_for_percentiles;
    const std::string text = (few ? "; rtt min/max " : "; rtt min/p50/p95/p99/max ") +
                             milliseconds_number(times.min()) + "/" +
                             (few ? times_text(times, {}) : times_text(times, {50, 95, 99}));
    return results.over_datagrams ? text + "; jitter " + milliseconds_text(results.jitter())
                                  : text;
}

// Returns an empty text if the network takes less than a tenth of the time.
std::string network_remark(const Results& results) {
    if (!results.tcp || !results.tcp->min_rtt || results.round_trips.count() == 0) return "";
    const ev::Duration p50 = results.round_trips.percentile(50);
    if (*results.tcp->min_rtt < p50 / 10) return "";
    return "; p50 " + network_share_text(p50, *results.tcp->min_rtt);
}

std::string number(std::uint64_t count, const char* of) {
    return ", " + std::to_string(count) + " " + of;
}

std::string connections_remark(const Results& results, const SummaryParts& parts) {
    std::string text;
    if (parts.load && results.failed > 0 && !results.probe)
        text += "; " + std::to_string(results.failed) + " of " +
                std::to_string(results.attempts) + " attempts to connect failed";
    if (!((parts.load && parts.verbose) || results.probe) || results.connect_times.count() == 0)
        return text;
    text += "; connect p50/p99/max " + times_text(results.connect_times, {50, 99});
    if (results.handshake_times.count() == 0) return text;
    text += ", handshake " + times_text(results.handshake_times, {50, 99});
    if (results.handshakes_full + results.handshakes_resumed == 0) return text;
    return text + number(results.handshakes_full, "full") +
           number(results.handshakes_resumed, "resumed");
}

std::string number_if_any(std::uint64_t count, const char* of) {
    return count > 0 ? number(count, of) : "";
}

std::string message_counts(const Results& counts, const SummaryParts& parts) {
    if (parts.listens) return std::to_string(counts.sent) + " sent";
    return std::to_string(counts.sent) + " sent" +
           number(counts.echoed, parts.expects_any ? "answered" : "echoed") +
           number(counts.bad, "bad") + number(counts.lost, "lost");
}

std::string datagrams_text(const Results& results) {
    if (!results.over_datagrams) return number_if_any(results.duplicates, "duplicate");
    return number(results.duplicates, "duplicate") + number(results.reordered, "reordered");
}

std::string unsolicited_text(const Results& results, const SummaryParts& parts) {
    if (parts.listens) return number(results.unsolicited, "received");
    if (!results.replay) return number_if_any(results.unsolicited, "unsolicited");
    return number_if_any(results.replay->as_recorded, "unsolicited matched") +
           number_if_any(results.replay->missing, "unsolicited missing") +
           number_if_any(results.replay->unrecorded, "unsolicited not recorded");
}

std::string late_start_remark(const Results& results) {
    if (results.late_start.value_or(ev::Duration::zero()) <= ev::Duration::zero()) return "";
    return "; began " + milliseconds_text(*results.late_start) + " after --start-at";
}

std::string warm_up_remark(const Results& warm_up, const SummaryParts& parts) {
    if (!warm_up.any()) return "";
    return "; warm-up: " + message_counts(warm_up, parts) +
           number_if_any(warm_up.unsent, "unsent");
}

}  // namespace

std::string counts_text(const Results& results, const SummaryParts& parts) {
    if (results.probe)
        return count_text(results.opened, "connection") + " opened" +
               number(results.failed, "failed");
    if (results.replay)
        return std::to_string(results.sent) + " replayed" + number(results.echoed, "matched") +
               number(results.bad, "bad") + number(results.lost, "lost");
    return message_counts(results, parts);
}

std::string own_fault_remarks(const Results& results) {
    std::string text;
    const ev::Duration p99 = results.lateness.percentile(99);
    if (p99 > results.round_trips.percentile(50) / 10)
        text += "; late p50/p99 " + milliseconds_number(results.lateness.percentile(50)) + "/" +
                milliseconds_text(p99);
    if (!results.reached_planned_rate())
        text += "; planned " + rate_text(results.planned_rate->planned) + ", reached " +
                rate_text(results.planned_rate->reached);
    return text;
}

std::string summary(const RunResults& results, const SummaryParts& parts) {
    std::string text = counts_text(results, parts) + number_if_any(results.late, "late") +
                       number_if_any(results.unsent, "unsent") +
                       unsolicited_text(results, parts) +
                       (parts.listens ? "" : datagrams_text(results));
    if (parts.load && results.rate() > 0) text += ", " + rate_text(results.rate());
    return text + round_trips_text(results) + own_fault_remarks(results) +
           (parts.verbose ? network_remark(results) : "") + late_start_remark(results) +
           warm_up_remark(results.warm_up, parts) + results.unverified_remark +
           connections_remark(results, parts);
}

std::string progress_text(const Results& results, const SummaryParts& parts) {
    std::string text = counts_text(results, parts) + datagrams_text(results);
    const TimesRow& row = main_times(results);
    const Histogram& times = results.*row.times;
    if (times.count() == 0) return text;
    text += (results.probe ? ", " + std::string(row.name) : ",") + " p50 " +
            milliseconds_text(times.percentile(50));
    return results.over_datagrams ? text + ", jitter " + milliseconds_text(results.jitter())
                                  : text;
}

}  // namespace yodel
