// Parses the values of options that all programs share. All functions throw UsageError
// without naming the option.
#pragma once

#include "app/options/command_line.hpp"
#include "app/protocol/framing.hpp"
#include "app/text/units.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace yodel {

// Stands for a missing name or argument of an option.
inline constexpr const char* absent = nullptr;
// The help of an option that is explained in another option's help.
inline constexpr const char* no_help_row = "";

// Returns the value parsed from `text`. If there is none, throws the error "TEXT is not
// EXPECTED".
template <class Value>
Value checked(const std::optional<Value>& value, const std::string& text,
              const std::string& expected) {
    if (!value) throw UsageError(in_quotes(text) + " is not " + expected);
    return *value;
}

// Returns the text if it is valid. Otherwise throws the same error as checked().
std::string checked_text(bool valid, const std::string& text, const std::string& expected);

ev::Duration duration_value(const std::string& text);
std::optional<ev::Duration> limit_value(const std::string& text);  // 0: no limit, as in curl
std::size_t positive_size_value(const std::string& text);
std::string host_name_value(const std::string& text);  // a host name or an address
const Framing* framing_value(const std::string& text, bool can_echo = false);

// Returns a parser of numbers from 1 to `max`.
std::function<unsigned(const std::string&)> number_up_to(unsigned max);

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

// Return an action for an option, which sets the flag, or stores the argument as a value of its
// type or as the parser returns it. The referenced variable must outlive the table.
inline auto into(bool& flag) {
    return [&flag](const std::string&) { flag = true; };
}
inline auto into(std::string& to) {
    return [&to](const std::string& text) { to = text; };
}
inline auto into(ev::Duration& to) {
    return [&to](const std::string& text) { to = duration_value(text); };
}
inline auto into(std::optional<ev::Duration>& limit) {
    return [&limit](const std::string& text) { limit = limit_value(text); };
}
template <class To, class Parse>
auto into(To& to, Parse parse) {
    return [&to, parse](const std::string& text) { to = parse(text); };
}
template <class To>
auto set(To& to, To value) {
    return [&to, value](const std::string&) { to = value; };
}

// What all programs have in their options, and the last rows of their tables.
struct CommonOptions {
    CommandLine line;  // as it was given
    bool no_sandbox = false;
    bool help = false;
    bool version = false;
};
std::vector<Option> with_common_options(std::vector<Option> rows, CommonOptions& to);

// Throws if -4 or -6 was given and the host is a numeric address of the other family. Does not
// look up names.
void check_family(int family, const std::string& host);

}  // namespace yodel
