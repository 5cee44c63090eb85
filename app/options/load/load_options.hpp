// The options of yodel-load, parsed from its command line and checked, and the run they plan.
#pragma once

#include "app/options/client/client_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace yodel {

struct LoadOptions : ClientOptions {
    // Messages per second at the end of a run whose rate climbs.
    std::optional<double> last_rate;
    bool random_arrivals = false;  // a Poisson process instead of even gaps
    std::string messages_file;     // empty if messages are generated
    bool reads_stdin() const { return messages_file == "-"; }
    bool threads_auto = false;  // may reduce the number of threads
};

// Parses and checks the command line. After --help or --version only that flag is set. Throws
// UsageError.
LoadOptions parse_load_options(int argc, char* argv[]);

// Sets the source, the schedule and the messages of the run. Call it after parsing: it looks at
// standard input, and reads the file of --messages, of at most 64 MiB. Throws UsageError, and
// FileError if the file cannot be read, is empty or, with the line's number, if a line cannot
// be sent.
void plan_load(LoadOptions& options);

std::string load_help();  // the whole output of --help

// Returns the table of options. Each sets its value in `to`, which must outlive the table.
std::vector<Option> load_table(LoadOptions& to);

}  // namespace yodel
