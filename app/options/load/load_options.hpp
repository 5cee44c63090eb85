// The options of yodel-load, parsed from its command line and checked.
#pragma once

#include "app/load/load.hpp"
#include "app/options/client/client_options.hpp"

#include <string>
#include <vector>

namespace yodel {

struct LoadOptions : ClientOptions {
    LoadPlan plan;
};

// Parses and checks the command line. After --help or --version only that flag is set. Throws
// UsageError.
LoadOptions parse_load_options(int argc, char* argv[]);

std::string load_help();  // the whole output of --help

// Returns the table of options. Each sets its value in `to`, which must outlive the table.
std::vector<Option> load_table(LoadOptions& to);

}  // namespace yodel
