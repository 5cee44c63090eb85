#include "app/load/merge.hpp"

#include "app/process/program.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/outcome.hpp"
#include "app/stats/pair.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// Below this overlap, the runs can hardly be called one load.
constexpr double min_overlap = 0.9;

// The first and last times at which several runs began and ended.
struct CommonSpan {
    ev::Time first_began = ev::Time::max();
    ev::Time last_began = ev::Time::min();
    ev::Time first_ended = ev::Time::max();
    ev::Time last_ended = ev::Time::min();

    // `without`: a run to omit; null for none.
    CommonSpan(const std::vector<RunSpan>& runs, const RunSpan* without) {
        for (const RunSpan& run : runs) {
            if (&run == without) continue;
            first_began = std::min(first_began, run.began);
            last_began = std::max(last_began, run.began);
            first_ended = std::min(first_ended, run.ended);
            last_ended = std::max(last_ended, run.ended);
        }
    }
    double overlap() const {
        if (last_ended <= first_began) return 1;
        const auto shared = std::max(first_ended - last_began, ev::Duration::zero());
        return std::chrono::duration<double>(shared) / (last_ended - first_began);
    }
};

// The results of one run or of several, for one target or two.
struct SavedRun {
    std::unique_ptr<Results> a = std::make_unique<Results>();
    std::unique_ptr<Results> b = {};  // null: there is one target
    PairResults pair = {};

    explicit SavedRun(const JsonFields& end)
        : a(restored_results(end.has("b") ? end.object("a") : end)) {
        if (end.has("b")) b = restored_results(end.object("b"));
        if (end.has("pair")) pair = restored_pair(end.object("pair"));
    }
    SavedRun() { a->utc_offset = {}; }
};

std::optional<SavedRun> last_run(const std::string& file) {
    std::optional<SavedRun> last;
    try {
        read_end_objects(file, [&](const JsonFields& end) { last.emplace(end); });
    } catch (const JsonError& error) {
        throw FileError("--merge: " + std::string(error.what()));
    }
    return last;
}

// Skips a file that does not exist, because reading it will report the error.
void refuse_duplicates(const std::vector<std::string>& files) {
    std::map<std::filesystem::path, std::string> seen;
    for (const std::string& file : files) {
        std::error_code error;
        const auto path = std::filesystem::canonical(file, error);
        if (error) continue;
        const auto [same, added] = seen.emplace(path, file);
        if (!added)
            throw UsageError("--merge: " + same->second + " and " + file +
                             " are the same file");
    }
}

// Adds the last run of each file to `sum`. Describes in `runs` how well several runs coincided,
// unless one sent nothing. Returns a remark if one did, or if they hardly coincided.
std::string add_up(const std::vector<std::string>& files, SavedRun& sum, std::string& runs) {
    std::vector<RunSpan> spans;
    std::string silent;  // file of a run that sent nothing
    for (const std::string& file : files) {
        const auto saved = last_run(file);
        const Results& last = *saved->a;
        if (last.first_sent)
            spans.push_back({.name = file,
                             .began = *last.first_sent,
                             .ended = std::max(*last.first_sent, last.last_answered)});
        else
            silent = file;
        if (&file == &files.front() && saved->b) sum.b = std::make_unique<Results>();
        if (!saved->b != !sum.b)
            throw UsageError("--merge: " + file + " and " + files.front() +
                             " differ in their number of targets");
        sum.a->add(last);
        if (sum.b) sum.b->add(*saved->b);
        sum.pair.add(saved->pair);
    }
    if (!silent.empty()) {
        sum.a->overlap = 0;
        return silent + " contains a run that sent nothing";
    }
    const RunOverlap together = RunOverlap::of(spans);
    sum.a->overlap = together.overlap;
    if (files.size() > 1)
        runs += ", began within " + milliseconds_text(together.start_spread) + ", overlap " +
                significant_text(together.overlap * 100, 3) + " %";
    return together.remark;
}

}  // namespace

// The outlier is the run without which the others overlap most.
RunOverlap RunOverlap::of(const std::vector<RunSpan>& runs) {
    const CommonSpan all(runs, nullptr);
    RunOverlap result{.start_spread = all.last_began - all.first_began,
                      .overlap = all.overlap()};
    if (result.overlap >= min_overlap) return result;
    const auto others = [&](const RunSpan& run) { return CommonSpan(runs, &run).overlap(); };
    const RunSpan& off =
        *std::max_element(runs.begin(), runs.end(), [&](const RunSpan& a, const RunSpan& b) {
            return others(a) < others(b);
        });
    result.remark = off.name + " began " + duration_text(off.began - all.first_began) +
                    " after the first run and ended " +
                    duration_text(all.last_ended - off.ended) + " before the last";
    return result;
}

int merge(const std::vector<std::string>& files, const Reporter::Options& options) {
    refuse_duplicates(files);
    SavedRun sum;
    const std::string count = count_text(files.size(), "run");
    std::string runs = count;
    const std::string remark = add_up(files, sum, runs);
    if (!sum.b) refuse_two_targets(options.required);
    const auto outcome = [&](const Results& results, char target, const Results* other) {
        return Outcome{.results = results,
                       .verdict = Verdict::on(results, options.required, target, other),
                       .summary_parts = {.load = true, .summary = false},
                       .reason = count + " merged"};
    };
    const Outcome single = outcome(*sum.a, sum.b ? 'a' : 0, sum.b.get());
    const std::optional<PairOutcome> pair =
        sum.b ? std::optional(PairOutcome{single, outcome(*sum.b, 'b', sum.a.get()), sum.pair})
              : std::nullopt;
    std::string text = runs + (pair ? "\na: " : ": ") + summary(*sum.a, single.summary_parts);
    if (pair) text += "\nb: " + summary(*sum.b, single.summary_parts);
    if (sum.pair.same + sum.pair.different > 0) text += "\n" + sum.pair.text();
    if (options.form == Reporter::Form::json)
        text = (pair ? pair->json(single.json(), pair->b.json()) : single.json()).str();
    print(text + "\n");
    if (!remark.empty() && !options.quiet) print_error(remark);
    for (const std::string& line : pair ? pair->lines() : single.lines()) print_error(line);
    return pair ? pair->decided().status : single.status();
}

}  // namespace yodel
