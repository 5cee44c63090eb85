// Makes the scripts for completion in shells from the table of options.
#pragma once

#include "app/options/command_line.hpp"

#include <string>
#include <vector>

namespace yodel {

// The program to complete.
struct CompletionSpec {
    std::string program;
    std::vector<OptionGroup> options;
    bool hosts = false;  // words that are not options name hosts
};

// Returns the script for bash, zsh or fish. It completes an argument by its values in the
// table, by files if it is called FILE or PATH, and by directories if it is called DIR. After
// an option with the argument FILE..., all further words are files.
std::string completion_script(const std::string& shell, const CompletionSpec& spec);

// Returns the option --completion. It sets `shell`, which must outlive the table.
Option completion_option(std::string& shell);

}  // namespace yodel
