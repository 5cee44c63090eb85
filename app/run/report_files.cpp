#include "app/run/report_files.hpp"

#include "app/stats/figures.hpp"
#include "app/stats/histogram.hpp"

namespace yodel {

namespace {

using Content = LogFile::Content;

void open(std::optional<LogFile>& file, const std::string& path, Content content) {
    if (!path.empty()) file.emplace(path, content);
}

void finish(std::optional<LogFile>& file, const std::string& text,
            std::vector<Trouble>& troubles) {
    if (!file) return;
    file->add_text(text);
    if (!file->finish()) troubles.push_back({output_failed, file->trouble()});
}

// Returns the time of the first message; 1970 if there was none, or if it is unknown.
std::chrono::system_clock::time_point began(const Results& results) {
    using std::chrono::system_clock;
    if (!results.first_sent) return {};
    return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(
        results.first_sent->time_since_epoch() + results.utc_offset));
}

}  // namespace

ReportFiles::ReportFiles(const Options& options) {
    open(hgrm_, options.hgrm, Content::report);
    open(hlog_, options.hlog, Content::report);
}

void ReportFiles::log_interval(const Results& results, ev::Duration end) {
    if (hlog_)
        hlog_->add_text(
            intervals_.next(results.*main_times(results).times, end, began(results)));
}

void ReportFiles::finish(const Results& results, std::vector<Trouble>& troubles) {
    const Histogram& times = results.*main_times(results).times;
    yodel::finish(hgrm_, hgrm_text(times), troubles);
    if (!intervals_.complete(times)) log_interval(results, results.elapsed());
    yodel::finish(hlog_, "", troubles);
}

}  // namespace yodel
