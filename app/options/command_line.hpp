// Parses a command line by a table of options, which also generates --help.
#pragma once

#include "app/options/modes.hpp"
#include "app/text/exit_status.hpp"

#include <functional>
#include <string>
#include <vector>

namespace yodel {

struct Option {
    char letter = 0;                 // 0: none
    const char* name = nullptr;      // without dashes; null: none
    const char* argument = nullptr;  // the argument's name in the help; null: no argument
    const char* help = "";           // "": no row of its own in the help
    // Called with the argument, or "" if the option takes none. May throw UsageError without
    // naming the option, because the parser adds the name as the user wrote it.
    std::function<void(const std::string&)> apply = {};
    Modes modes = 0;            // modes that the option applies to; 0: the modes of its group
    Modes chooses = 0;          // the option chooses one of these modes
    bool ends_parsing = false;  // the words after it are ignored
};

// The options under one heading of the help.
struct OptionGroup {
    const char* title;
    std::vector<Option> options;
    Modes modes = 0;  // for options that list no modes
};

struct CommandLine {
    std::vector<std::string> operands;  // the arguments that are not options
    std::vector<GivenOption> given;     // the options, in their order
};

// The program to which an unknown option may belong.
struct OtherProgram {
    std::string name;
    std::vector<OptionGroup> options;
};

// Applies the options from left to right. Options may follow operands, and "--" ends them.
// Names must be written in full. `other` is called for an unknown option. Throws UsageError,
// and WrongProgram with the command to type for an option of the other program.
CommandLine parse_command_line(int argc, char* argv[], const std::vector<OptionGroup>& groups,
                               OtherProgram (*other)() = nullptr);

// Returns the table as text, a row for each option under the headings of their groups.
std::string help_text(const std::vector<OptionGroup>& groups);

}  // namespace yodel
