// The files of a run's results for other programs. They are opened at the start, so that a
// path that cannot be written is reported before anything is done.
#pragma once

#include "app/stats/interval_log.hpp"
#include "app/stats/reports.hpp"
#include "app/stats/results.hpp"
#include "app/stats/summary.hpp"
#include "app/text/log_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace yodel {

class ReportFiles {
public:
    // Paths; empty: no file.
    struct Options {
        std::string hgrm = {};  // the percentile distribution
        std::string hlog = {};  // the interval log
        std::string metrics = {};
        std::string junit = {};
    };

    // Throws OutputError.
    explicit ReportFiles(const Options& options);

    bool logs_intervals() const { return hlog_.has_value(); }
    // Adds the round trips since the last call to the interval log. The time counts from the
    // first message.
    void log_interval(const Results& results, ev::Duration end);
    // Completes the files, and adds the reasons if they could not be written. Adds the exit
    // status and the failure to the report; a failure that is there already is kept.
    void finish(RunReport run, Ending ending, const Words& words,
                std::vector<Trouble>& troubles);

private:
    std::optional<LogFile> hgrm_;
    std::optional<LogFile> hlog_;
    std::optional<LogFile> metrics_;
    std::optional<LogFile> junit_;
    IntervalLog intervals_;
};

}  // namespace yodel
