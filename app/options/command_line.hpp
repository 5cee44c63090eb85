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
    std::string_view label;      // as in the help: "-f, --framing=F"; or a heading
    std::string_view help = {};  // empty: no row of its own in the help
    // Called with the argument, or "" if the option takes none. May throw UsageError without
    // naming the option, because the parser adds the option as the user wrote it. May be empty.
    std::function<void(const std::string&)> apply = {};
    // Names, separated by blanks; perhaps a comma and the reason.
    std::string_view excludes = {};  // the option cannot be combined with these
    std::string_view needs = {};     // the option needs one of these
    std::string_view implies = {};   // the option counts as these, too
    bool ends_parsing = false;       // the words after it are ignored

    bool is_heading() const { return !label.starts_with('-'); }
    bool has_name() const { return label.find("--") != label.npos; }
    std::string_view name() const;  // without dashes; the letter if there is no name
    std::string_view argument() const;
};

struct GivenOption {
    std::string written;  // as the user wrote it
    std::string names = {};
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
    std::string_view numbers = {};  // options in `only_there` whose arguments are numbers
};

// Applies the options from left to right. Options may follow operands, and "--" ends them.
// Names must be written in full. Throws UsageError, and WrongProgram with the command to type
// for an option of the other program.
CommandLine parse_command_line(int argc, char* argv[], const std::vector<Option>& table,
                               const OtherProgram& other = {});

std::string help_text(const std::vector<Option>& table);

}  // namespace yodel
