// The files of a run's results for other programs. They are opened at the start, so that a
// path that cannot be written is reported before anything is done.
#pragma once

#include "app/stats/results.hpp"
#include "app/text/exit_status.hpp"
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
    };

    // Throws OutputError.
    explicit ReportFiles(const Options& options);

    // Completes the files, and adds the reasons if they could not be written.
    void finish(const Results& results, std::vector<Trouble>& troubles);

private:
    std::optional<LogFile> hgrm_;
};

}  // namespace yodel
