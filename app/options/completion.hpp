// The scripts by which shells complete a command line, made from the table of its options.
#pragma once

#include "app/options/command_line.hpp"

#include <string>
#include <vector>

namespace yodel {

// The program that is completed.
struct CompletionSpec {
    std::string program;
    std::vector<OptionGroup> options;
    bool hosts = false;  // the words that are not options name hosts
};

// An argument is completed by its values in the table, by files if it is called FILE or PATH,
// and by directories if it is called DIR. After an option called FILE..., all further words are
// files. The shell is bash, zsh or fish.
std::string completion_script(const std::string& shell, const CompletionSpec& spec);

// The option --completion, which sets `shell`; the string must outlive the table.
Option completion_option(std::string& shell);

}  // namespace yodel
