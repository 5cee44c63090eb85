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

// An option argument is completed by the values that the table has for it; by files or
// directories where the argument is called FILE, PATH or DIR; and otherwise by nothing. After
// an option called FILE..., all further words are files. The shell is one of
// completed_shells().
std::string completion_script(const std::string& shell, const CompletionSpec& command);

std::vector<std::string> completed_shells();

// The option --completion, which sets `shell`; the string must outlive the table.
Option completion_option(std::string& shell);

}  // namespace yodel
