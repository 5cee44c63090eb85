// A file that is written once, at the end of a run. It is opened at the start, so that a path
// that cannot be written is reported before anything is done, and never blocks.
#pragma once

#include "app/text/output.hpp"

#include <string>
#include <string_view>

namespace yodel {

class ReportFile {
public:
    // Empties the file, or makes it. Throws OutputError, for a pipe that nobody reads too.
    explicit ReportFile(const std::string& path);

    // Gives a slow reader a moment. Returns one clause with the file's name if not all could be
    // written; otherwise it is empty.
    std::string write(std::string_view text);

private:
    std::string path_;
    Output output_;
};

}  // namespace yodel
