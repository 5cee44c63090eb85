// Parses a command line by a table of options, which also generates --help.
//
// A row lists the names of the options that it excludes or needs, or the letters of those that
// have no names. The errors about options that cannot be combined follow from these lists. A
// program can add a target, or a value such as --expect=none, to CommandLine::given, so that it
// is checked like an option.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace yodel {

struct Option {
    std::string_view label;      // as in the help: "-f, --framing=F"; or a heading
    std::string_view help = {};  // empty if --help omits the option
    // Called with the argument, or "" if the option takes none. May throw UsageError without
    // naming the option, because the parser adds the option as the user wrote it. May be empty.
    std::function<void(const std::string&)> apply = {};
    // Names separated by blanks, perhaps followed by a comma and the reason.
    std::string_view excludes = {};  // the option cannot be combined with these
    std::string_view needs = {};     // the option needs one of these
    std::string_view implies = {};   // the option counts as these, too

    bool is_heading() const { return !label.starts_with('-'); }
    bool has_name() const { return label.find("--") != label.npos; }
    std::string_view name() const;  // without dashes; the letter if there is no name
    std::string_view argument() const;
};

struct GivenOption {
    std::string written;  // as the user wrote it, or what errors call an added value
    std::string names = {};
    std::string excludes = {};  // a leading "!" excludes all but these
    std::string needs = {};
};

struct CommandLine {
    std::vector<std::string> operands = {};  // the arguments that are not options
    std::vector<GivenOption> given = {};     // from left to right

    // Returns `written` of the first given option that has one of these names, or an empty
    // string if no given option has one.
    std::string written(std::string_view names) const;
    bool has(std::string_view names) const { return !written(names).empty(); }
    void add_if(bool is_set, GivenOption option) {
        if (is_set) given.push_back(std::move(option));
    }
    // Throws UsageError if two options exclude each other, or if one needs a missing option.
    void check() const;
};

// The program to which an unknown option may belong.
struct OtherProgram {
    std::string name = {};
    std::vector<Option> table = {};
};

// Applies the options from left to right, up to --help or --version. Options may follow
// operands; after "--", all words are operands. Names must be written in full. Throws
// UsageError, or WrongProgram for an option that only the other program has.
CommandLine parse_command_line(int argc, char* argv[], const std::vector<Option>& table,
                               const OtherProgram& other = {});

std::string help_text(const std::vector<Option>& table);
// Returns the lines of --help that explain the arguments F, D and SIZE.
std::string argument_help(bool must_echo);

std::vector<Option> joined(std::initializer_list<std::vector<Option>> tables);
std::vector<Option> common_options();  // --no-sandbox, --help and --version

// --- Values and their destinations. All parsers throw UsageError without naming the option.

// Returns a parser of values. `parse` returns an optional value, or true if the text itself is
// a valid value. The error is "TEXT is not EXPECTED".
template <class Parse, class Text>
constexpr auto value_parser(Parse parse, Text expected) {
    return [=](const std::string& text) {
        const auto value = parse(text);
        if (!value) throw UsageError(in_quotes(text) + " is not " + expected);
        if constexpr (std::is_same_v<decltype(parse(text)), bool>)
            return text;
        else
            return *value;
    };
}

inline constexpr auto duration_value =
    value_parser(parse_duration, "a duration up to 100 years, such as 1.5s, 200ms or 2m");
// Returns a parser of sizes of at least `min` bytes.
constexpr auto size_from(std::size_t min) {
    return value_parser(
        [min](std::string_view text) {
            const auto size = parse_size(text);
            return size >= min ? size : std::nullopt;
        },
        "a size such as 512, 64k or 32M");
}

// Returns a parser of numbers from 1 to `max`. The error text appends `more`, which tells what
// else the option takes.
inline auto number_up_to(unsigned max, const std::string& more = {}) {
    return value_parser([max](std::string_view text) { return parse_number(text, 1, max); },
                        "a number from 1 to " + std::to_string(max) + more);
}

// Returns a parser that accepts only these words.
template <class Value>
auto one_of(std::vector<std::pair<std::string, Value>> words) {
    return [words = std::move(words)](const std::string& text) {
        std::string names;
        for (const auto& [word, value] : words) {
            if (text == word) return value;
            names += (names.empty() ? "" : ", ") + word;
        }
        throw UsageError(in_quotes(text) + " is not one of " + names);
    };
}

inline void store(bool& flag, const std::string&) { flag = true; }
inline void store(std::string& to, const std::string& text) { to = text; }
inline void store(ev::Duration& to, const std::string& text) { to = duration_value(text); }
// 0 means no limit, as in curl.
inline void store(std::optional<ev::Duration>& limit, const std::string& text) {
    limit = duration_value(text);
    if (*limit == ev::Duration::zero()) limit.reset();
}

// Return an action that stores `value` or, without a `value`, the option's argument. The parser
// or, if there is none, the type of the variable decides how to convert the argument. The
// variable must outlive the table.
template <class To>
auto into(To& to) {
    return [&to](const std::string& text) { store(to, text); };
}
template <class To, class Parse>
auto into(To& to, Parse parse) {
    return [&to, parse](const std::string& text) { to = parse(text); };
}
template <class To>
auto set(To& to, To value) {
    return [&to, value](const std::string&) { to = value; };
}

const Framing* framing_value(const std::string& text, bool must_echo);

}  // namespace yodel
