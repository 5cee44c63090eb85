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
    char letter;           // 0: none
    const char* name;      // without its dashes; null: none
    const char* argument;  // its name in the help; null: takes none
    const char* help;
    // Takes the argument, or "" where there is none. Throws UsageError.
    std::function<void(const std::string&)> apply;
};

// Applies the options and returns the other arguments. Throws UsageError.
std::vector<std::string> parse_command_line(int argc, char* argv[],
                                            const std::vector<Option>& options);

std::string help_text(const std::vector<Option>& options);

// Gives standard input, output and error something to be where the program was started without
// one of them, so that no socket takes its number.
void fill_standard_descriptors();

}  // namespace yodel
