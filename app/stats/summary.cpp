#include "app/stats/summary.hpp"

#include "app/stats/figures.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace yodel {

namespace {

constexpr std::size_t max_lines = 10;

// Writes these percentiles and the maximum: 0.05/0.21/0.40 ms
std::string times_text(const Histogram& times, std::initializer_list<double> percents) {
    std::string text;
    for (const double percent : percents)
        text += milliseconds_text(times.percentile(percent)) + "/";
    return text + ms_text(times.max());
}

std::string round_trips_text(const Results& results) {
    const Histogram& times = results.round_trips;
    if (times.count() == 0) return "";
    if (times.count() == 1) return "; rtt " + ms_text(times.max());
    const std::string text = "; rtt min/p50/p95/p99/max " + milliseconds_text(times.min()) +
                             "/" + times_text(times, {50, 95, 99});
    return results.datagrams ? text + "; jitter " + ms_text(results.jitter()) : text;
}

// If the network takes less than a tenth of the time, the time is the service's.
std::string network_remark(const Results& results) {
    if (!results.tcp || !results.tcp->min_rtt || results.round_trips.count() == 0) return "";
    const ev::Duration p50 = results.round_trips.percentile(50);
    if (*results.tcp->min_rtt < p50 / 10) return "";
    return "; p50 " + shares_text(p50, *results.tcp->min_rtt);
}

std::string number(std::uint64_t count, const char* of) {
    return ", " + std::to_string(count) + " " + of;
}

std::string connections_remark(const Results& results, const Words& words) {
    std::string text;
    if (words.load && results.failed > 0 && !results.probe)
        text += "; " + std::to_string(results.failed) + " of " +
                std::to_string(results.attempts) + " attempts to connect failed";
    if (!(words.verbose || results.probe) || results.connect_times.count() == 0) return text;
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

std::string message_counts(const Counts& counts, const Words& words) {
    return std::to_string(counts.sent) + " sent" +
           number(counts.echoed, words.answered ? "answered" : "echoed") +
           number(counts.bad, "bad") + number(counts.lost, "lost");
}

std::string datagrams_text(const Results& results) {
    if (!results.datagrams) return number_if_any(results.duplicates, "twice");
    return number(results.duplicates, "twice") + number(results.out_of_order, "out of order");
}

std::string unsolicited_text(const Results& results) {
    if (!results.replay) return number_if_any(results.unsolicited, "unsolicited");
    return number_if_any(results.replay->recurred, "unsolicited as before") +
           number_if_any(results.replay->missing, "unsolicited missing") +
           number_if_any(results.replay->unrecorded, "unsolicited not recorded");
}

std::string late_start_remark(const Results& results) {
    if (results.late_start.value_or(ev::Duration::zero()) <= ev::Duration::zero()) return "";
    return "; began " + ms_text(*results.late_start) + " after --start-at";
}

std::string warm_up_remark(const Counts& warm_up, const Words& words) {
    if (!warm_up.any()) return "";
    return "; warm-up: " + message_counts(warm_up, words) +
           number_if_any(warm_up.unsent, "unsent");
}

std::string times(std::uint64_t count) {
    return count == 1 ? "" : " (" + std::to_string(count) + " times)";
}

// Returns true if one of these counts is above 0, unless a requirement decides.
bool faulty(const Results& results, const Verdict& verdict) {
    const auto fails = [&](const Figure& figure) {
        const bool usual = (results.datagrams && figure.count == &Results::duplicates) ||
                           (results.stale == 0 && figure.count == &Results::unsolicited);
        if (!figure.fault || usual || verdict.tolerates(figure.name)) return false;
        const bool in_warm_up = std::any_of(
            std::begin(warm_up_counts), std::end(warm_up_counts), [&](const auto& row) {
                return figure.name == row.first && results.warm_up.*row.second > 0;
            });
        return in_warm_up || results.*figure.count > 0;
    };
    const auto& replay = results.replay;
    return std::any_of(figures().begin(), figures().end(), fails) ||
           (replay && replay->missing + replay->unrecorded > 0);
}

}  // namespace

std::string counts_text(const Results& results, const Words& words) {
    if (results.probe)
        return count_text(results.opened, "connection") + " opened" +
               number(results.failed, "failed");
    if (results.replay)
        return std::to_string(results.sent) + " said again" +
               number(results.echoed, "as before") + number(results.bad, "different") +
               number(results.lost, "lost");
    return message_counts(results, words);
}

std::string own_fault_remarks(const Results& results) {
    std::string text;
    const ev::Duration p99 = results.lateness.percentile(99);
    if (p99 > results.round_trips.percentile(50) / 10)
        text += "; late p50/p99 " + milliseconds_text(results.lateness.percentile(50)) + "/" +
                ms_text(p99);
    if (!results.kept_rate())
        text += "; planned " + rate_text(results.planned_rate->planned) + ", reached " +
                rate_text(results.planned_rate->reached);
    return text;
}

std::string summary(const Results& results, const Words& words) {
    std::string text = counts_text(results, words) + number_if_any(results.late, "late") +
                       number_if_any(results.unsent, "unsent") + unsolicited_text(results) +
                       datagrams_text(results);
    if (words.load && results.rate() > 0) text += ", " + rate_text(results.rate());
    return text + round_trips_text(results) + own_fault_remarks(results) +
           network_remark(results) + late_start_remark(results) +
           warm_up_remark(results.warm_up, words) + results.unverified +
           connections_remark(results, words);
}

std::string progress_text(const Results& results, const Words& words) {
    std::string text = counts_text(results, words) + datagrams_text(results);
    const TimesRow& row = main_times(results);
    const Histogram& times = results.*row.times;
    if (times.count() == 0) return text;
    text += (results.probe ? ", " + std::string(row.name) : ",") + " p50 " +
            ms_text(times.percentile(50));
    return results.datagrams ? text + ", jitter " + ms_text(results.jitter()) : text;
}

int exit_status(const Results& results, const Verdict& verdict, const Ending& ending) {
    if (ending.signo != 0) return 128 + ending.signo;
    if (results.ended_status > reply_wrong_or_lost) return results.ended_status;
    if (results.failed_status != 0 && !verdict.tolerates("failed"))
        return results.failed_status;
    if (!ending.troubles.empty()) return ending.troubles.front().status;
    const bool failed = faulty(results, verdict) || verdict.failed();
    return failed ? reply_wrong_or_lost : results.ended_status;
}

std::vector<std::string> failure_lines(const Results& results, bool all) {
    const auto& failures = results.failures;
    std::vector<std::string> lines;
    for (const Results::Failure& failure : failures) {
        if (!all && failure.status != success) continue;
        if (lines.size() == max_lines) {
            lines.push_back(std::to_string(failures.size() - max_lines) +
                            " other kinds of failures (--json lists them all)");
            break;
        }
        lines.push_back(failure.text + times(failure.count));
    }
    return lines;
}

std::vector<std::string> last_words(const Results& results, const Verdict& verdict,
                                    const Ending& ending, const Words& words) {
    std::vector<std::string> lines;
    const bool failed = exit_status(results, verdict, ending) != success;
    if (!results.wrong_sentence.empty() && !words.wrong_reported)
        lines.push_back(results.wrong_sentence);
    const std::uint64_t lost = results.lost + results.warm_up.lost;
    if (failed && lost > 0 && !results.lost_sentence.empty())
        lines.push_back(results.lost_sentence + times(lost));
    const std::uint64_t unsent = results.unsent + results.warm_up.unsent;
    if (failed && unsent > 0 && !results.unsent_sentence.empty())
        lines.push_back(results.unsent_sentence + times(unsent));
    if ((failed || words.summary) && results.starved > 0 && !results.starved_sentence.empty())
        lines.push_back(results.starved_sentence + times(results.starved));
    const auto add = [&lines](const std::vector<std::string>& more) {
        lines.insert(lines.end(), more.begin(), more.end());
    };
    const bool all = failed || words.load;
    if (all || words.summary) add(failure_lines(results, all));
    for (const Trouble& trouble : ending.troubles) lines.push_back(trouble.text);
    const bool silent = lines.empty() && !verdict.failed() && ending.signo == 0;
    if (words.summary || (failed && silent)) lines.push_back(summary(results, words));
    add(verdict.lines());
    return lines;
}

}  // namespace yodel
