// Options from a table: the same rows are parsed, checked and shown by --help.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace yodel {

// The user's mistake, in one clause that names it.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Option {
    char letter = 0;                 // 0: none
    const char* name = nullptr;      // without its dashes; null: none
    const char* argument = nullptr;  // its name in the help; null: takes none
    const char* help = "";
    // Takes the argument, or "" where there is none. Throws UsageError, in words that need not
    // name the option: the parser puts it before them, as the user wrote it.
    std::function<void(const std::string&)> apply = {};
    bool for_tls = false;  // It has no meaning without TLS.
    bool last = false;     // The words after it are not read.
};

// The options that belong together, under one heading of the help.
struct OptionGroup {
    const char* title;
    std::vector<Option> options;
};

struct CommandLine {
    std::vector<std::string> words;  // The arguments that are not options.
    std::string for_tls;  // The first option for TLS, as it was written; empty: none was given.
};

// Applies the options from left to right; they may stand behind other words, and "--" ends
// them. Names are written in full. Throws UsageError.
CommandLine parse_command_line(int argc, char* argv[], const std::vector<OptionGroup>& groups);

std::string help_text(const std::vector<OptionGroup>& groups);

}  // namespace yodel
