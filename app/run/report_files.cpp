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
    file->add_text(text);
    if (!file->finish()) troubles.push_back({output_failed, file->trouble()});
}

}  // namespace

ReportFiles::ReportFiles(const Options& options) { open(hgrm_, options.hgrm, Content::report); }

void ReportFiles::finish(const Results& results, std::vector<Trouble>& troubles) {
    if (hgrm_) yodel::finish(hgrm_, hgrm_text(results.*main_times(results).times), troubles);
}

}  // namespace yodel
