// Parses a command line by a table of options, which also generates --help.
//
// A row names the options that it excludes or needs: by their names, or by their letters if
// they have no names. The errors about options that cannot be combined follow from these names.
// A target, or a value such as --expect=none, acts like an option if it is added to the command
// line.
#pragma once

#include "app/text/exit_status.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

struct Option {
    char letter = 0;                 // 0: none
    const char* name = nullptr;      // without dashes; null: none
    const char* argument = nullptr;  // the argument's name in the help; null: no argument
    const char* help = "";           // "": no row of its own in the help
    // Called with the argument, or "" if the option takes none. May throw UsageError without
    // naming the option, because the parser adds the option as the user wrote it.
    std::function<void(const std::string&)> apply = {};
    // Names, separated by blanks. If null, those of the group apply.
    const char* excludes = nullptr;  // the option cannot be combined with these
    const char* needs = nullptr;     // the option needs one of these
    const char* implies = "";        // the option counts as these, too
    bool ends_parsing = false;       // the words after it are ignored
};

// The options under one heading of the help.
struct OptionGroup {
    const char* title;
    std::vector<Option> options;
    const char* excludes = "";
    const char* needs = "";
};

struct GivenOption {
    std::string written;  // as the user wrote it
    std::string names;
    std::string excludes = {};
    std::string needs = {};
};

struct CommandLine {
    std::vector<std::string> operands = {};  // the arguments that are not options
    std::vector<GivenOption> given = {};     // in their order

    // Returns the first given option with one of these names, as the user wrote it; empty if
    // there is none.
    std::string written(std::string_view names) const;
    bool has(std::string_view names) const { return !written(names).empty(); }
    // Throws UsageError about the first option that excludes another one, or lacks one.
    void check() const;
};

// The program to which an unknown option may belong.
struct OtherProgram {
    const char* name;
    std::string_view only_there;  // names and letters of options
    std::string_view only_here;
};

// Applies the options from left to right. Options may follow operands, and "--" ends them.
// Names must be written in full. Throws UsageError, and WrongProgram with the command to type
// for an option of the other program.
CommandLine parse_command_line(int argc, char* argv[], const std::vector<OptionGroup>& groups,
                               const OtherProgram& other = {});

// Returns the table as text, a row for each option under the headings of their groups.
std::string help_text(const std::vector<OptionGroup>& groups);

}  // namespace yodel
