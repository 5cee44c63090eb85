#include "app/stats/outcome.hpp"

#include "app/stats/end_object.hpp"
#include "app/stats/figures.hpp"
#include "app/text/diagnostics.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

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
    if (faulty()) status = reply_bad_or_lost;
    return {status, failure_with(status)};
}

std::string Outcome::failure_with(int status) const {
    for (const Results::Failure& failure : results.failures)
        if (failure.status == status) return failure.text;
    return reason;
}

// Returns true if a fault was counted that no requirement tolerates, or if a replay missed or
// received an unsolicited message unlike the recording. Duplicate datagrams are no fault, nor
// are unsolicited messages unless one is stale.
bool Outcome::faulty() const {
    const auto fails = [&](const Figure& figure) {
        const bool usual = (results.over_datagrams && figure.count == &Results::duplicates) ||
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
    if (all || summary_parts.summary) add(failure_lines(results, all));
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
        lines.push_back(failure.text + times_text(failure.count));
    }
    return lines;
}

}  // namespace yodel
