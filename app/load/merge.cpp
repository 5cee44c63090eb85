#include "app/load/merge.hpp"

#include "app/process/program.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/outcome.hpp"
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

std::unique_ptr<Results> last_run(const std::string& file) {
    std::unique_ptr<Results> last;
    try {
        read_end_objects(file, [&](const JsonFields& end) { last = restored_results(end); });
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
std::string add_up(const std::vector<std::string>& files, Results& sum, std::string& runs) {
    std::vector<RunSpan> spans;
    std::string silent;  // file of a run that sent nothing
    for (const std::string& file : files) {
        const auto run = last_run(file);
        const Results& last = *run;
        if (last.first_sent)
            spans.push_back({.name = file,
                             .began = *last.first_sent,
                             .ended = std::max(*last.first_sent, last.last_answered)});
        else
            silent = file;
        sum.add(last);
    }
    if (!silent.empty()) {
        sum.overlap = 0;
        return silent + " contains a run that sent nothing";
    }
    const RunOverlap together = RunOverlap::of(spans);
    sum.overlap = together.overlap;
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
    Results sum;
    sum.utc_offset = {};
    const std::string count = count_text(files.size(), "run");
    std::string runs = count;
    const std::string remark = add_up(files, sum, runs);
    const Outcome outcome{.results = sum,
                          .verdict = Verdict::on(sum, options.required),
                          .summary_parts = {.load = true, .summary = false},
                          .reason = count + " merged"};
    print((options.form == Reporter::Form::json
               ? outcome.json().str()
               : runs + ": " + summary(sum, outcome.summary_parts)) +
          "\n");
    if (!remark.empty() && !options.quiet) print_error(remark);
    outcome.print();
    return outcome.status();
}

}  // namespace yodel
