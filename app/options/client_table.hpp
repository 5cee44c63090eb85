// The table of the options of yodel, in the manual's groups and in the order of the help.
#pragma once

#include "app/options/client_options.hpp"
#include "app/options/command_line.hpp"

#include <vector>

namespace yodel {

// Each option sets its value in `to`, which must outlive the table.
std::vector<OptionGroup> client_table(ClientOptions& to);

}  // namespace yodel
