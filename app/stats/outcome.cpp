#include "app/stats/outcome.hpp"

#include "app/stats/end_object.hpp"
#include "app/stats/figures.hpp"
#include "app/text/diagnostics.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace yodel {

namespace {

constexpr std::size_t max_lines = 10;

std::string times_text(std::uint64_t count) {
    return count == 1 ? "" : " (" + std::to_string(count) + " times)";
}

}  // namespace

Trouble Outcome::decided() const {
    if (signo != 0) return {128 + signo, signal_text(signo)};
    int status = results.ended_status;
    const bool never_opened = results.failed_status != 0 && !verdict.tolerates("failed");
    if (status <= reply_bad_or_lost && never_opened) status = results.failed_status;
    if (status > reply_bad_or_lost) return {status, failure_with(status)};
    if (!troubles.empty()) return troubles.front();
    if (verdict.failed()) return {reply_bad_or_lost, verdict.lines().front()};
    const std::string found = faults();
    if (found.empty()) return {status, failure_with(status)};
    return {reply_bad_or_lost, found};
}

std::string Outcome::failure_with(int status) const {
    for (const Results::Failure& failure : results.failures)
        if (failure.status == status) return failure.text;
    return reason;
}

// Lists all faults, also of the warm-up, unless a requirement tolerates them: "2 bad, 1 lost".
// In a replay, unsolicited messages unlike the recording are faults. Duplicate datagrams
// are none, nor are unsolicited messages unless one is stale.
std::string Outcome::faults() const {
    std::string text;
    const auto add = [&text](std::uint64_t count, std::string_view name) {
        if (count == 0) return;
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " ";
        text += name;
    };
    for (const auto& [name, count, whole, fault] : count_rows) {
        const bool usual = (results.over_datagrams && count == &Results::duplicates) ||
                           (results.stale == 0 && count == &Results::unsolicited);
        if (fault && !usual && !verdict.tolerates(name))
            add(results.*count + results.warm_up.*count, name);
    }
    if (results.replay) add(results.replay->missing, "missing");
    if (results.replay) add(results.replay->unrecorded, "not in the recording");
    return text;
}

std::vector<std::string> Outcome::lines() const {
    std::vector<std::string> lines;
    const bool failed = status() != success;
    if (!results.reply_problem_sentence.empty() && !summary_parts.reply_problem_printed)
        lines.push_back(results.reply_problem_sentence);
    const std::uint64_t lost = results.lost + results.warm_up.lost;
    if (failed && lost > 0 && !results.lost_sentence.empty())
        lines.push_back(results.lost_sentence + times_text(lost));
    const auto add = [&lines](const std::vector<std::string>& more) {
        lines.insert(lines.end(), more.begin(), more.end());
    };
    const bool all = failed || summary_parts.load;
    if (all || summary_parts.summary)
        add(failure_lines(results, all, summary_parts.failures_printed));
    // Usually a consequence of a failure.
    const std::uint64_t unsent = results.unsent + results.warm_up.unsent;
    if (failed && unsent > 0 && !results.unsent_sentence.empty())
        lines.push_back(results.unsent_sentence + times_text(unsent));
    for (const Trouble& trouble : troubles) lines.push_back(trouble.text);
    const bool silent = lines.empty() && !verdict.failed() && signo == 0;
    if (summary_parts.summary || (failed && silent))
        lines.push_back(summary(results, summary_parts));
    if (summary_parts.summary) add(verdict.held_lines());
    add(verdict.lines());
    return lines;
}

void Outcome::print() const {
    for (const std::string& line : lines()) print_error(line);
}

JsonObject Outcome::json() const {
    const auto [status, text] = decided();
    return end_object(results, text, status, verdict);
}

std::vector<std::string> failure_lines(const Results& results, bool all, std::size_t first) {
    const std::span failures = std::span(results.failures).subspan(first);
    std::vector<std::string> lines;
    for (const Results::Failure& failure : failures) {
        if (!all && failure.status != success) continue;
        if (lines.size() == max_lines) {
            lines.push_back(std::to_string(failures.size() - max_lines) +
                            " other kinds of failures (--json lists them all)");
            break;
        }
        lines.push_back(failure.text + times_text(failure.count));
    }
    return lines;
}

}  // namespace yodel
