#include "app/run/report_files.hpp"

#include "app/stats/figures.hpp"
#include "app/stats/histogram.hpp"
#include "app/text/exit_status.hpp"

namespace yodel {

namespace {

using Content = LogFile::Content;

void open(std::optional<LogFile>& file, const std::string& path, Content content) {
    if (!path.empty()) file.emplace(path, content);
}

}  // namespace

ReportFiles::ReportFiles(const Options& options) {
    open(hgrm_, options.hgrm, Content::report);
    open(hlog_, options.hlog, Content::report);
    open(metrics_, options.metrics, Content::whole_report);
    open(junit_, options.junit, Content::report);
}

void ReportFiles::log_interval(const Results& results, ev::Duration end) {
    const Histogram& times = results.*main_times(results).times;
    if (hlog_) hlog_->add_text(intervals_.next(times, end, results.began()));
}

void ReportFiles::finish(RunReport run, Ending ending, const Words& words,
                         std::vector<Trouble>& troubles) {
    const Results& results = run.results;
    const Histogram& times = results.*main_times(results).times;
    const auto complete = [&](std::optional<LogFile>& file, const auto& text) {
        if (!file) return;
        file->add_text(text(run));
        if (file->finish()) return;
        troubles.push_back({output_failed, file->trouble()});
        ending.troubles.push_back(troubles.back());
    };
    complete(hgrm_, [&](const RunReport&) { return hgrm_text(times); });
    if (!intervals_.complete(times)) log_interval(results, results.elapsed());
    complete(hlog_, [](const RunReport&) { return std::string(); });
    run.status = exit_status(results, run.verdict, ending);
    if (run.failure.empty())
        run.failure = failure_text(results, run.verdict, ending, words);
    else if (run.status == success)
        run.status = reply_wrong_or_lost;
    complete(metrics_, metrics_text);
    complete(junit_, junit_text);
}

}  // namespace yodel
