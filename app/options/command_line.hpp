// Parses a command line by a table of options, which also generates --help.
//
// Rows say which options exclude each other, by facts. A fact is the name of a given option
// (its letter if it has no name), or a word that a given option implies, such as "tls". The
// errors about options that cannot be combined follow from these rows.
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
    // naming the option, because the parser adds the name as the user wrote it.
    std::function<void(const std::string&)> apply = {};
    // Facts, separated by blanks. If null, those of the group apply.
    const char* excludes = nullptr;  // the option cannot be combined with these
    const char* needs = nullptr;     // the option needs one of these
    const char* implies = "";
    bool ends_parsing = false;  // the words after it are ignored
};

// The options under one heading of the help.
struct OptionGroup {
    const char* title;
    std::vector<Option> options;
    const char* excludes = "";
    const char* needs = "";
};

// An option on the command line, the scheme of the target, or a value of an option, which acts
// like an option.
struct GivenOption {
    std::string written;
    std::string facts;  // its name, and the facts that it implies
    std::string excludes = {};
    std::string needs = {};
};

struct CommandLine {
    std::vector<std::string> operands;  // the arguments that are not options
    std::vector<GivenOption> given;     // the options, in their order
};

// Returns the first given option with one of these facts, as it was written; empty if there is
// none.
std::string given_with(const std::vector<GivenOption>& given, std::string_view facts);

// Throws UsageError about the first given option that another one excludes, or that lacks one.
void check_given(const std::vector<GivenOption>& given);

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
