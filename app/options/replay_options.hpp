// The options of yodel for conversations that are recorded and said again.
#pragma once

#include "app/options/command_line.hpp"

#include <string>
#include <vector>

namespace yodel {

struct ReplayOptions {
    bool payload = false;  // the objects of --json make a recording
    std::string file;      // the recording that is said again; empty: none
    bool fast = false;     // as soon as replies come

    bool given() const { return !file.empty(); }
};

std::vector<Option> replay_options(ReplayOptions& to);

}  // namespace yodel
