// Parses the values of options that all programs share. All functions throw UsageError
// without naming the option.
#pragma once

#include "app/options/command_line.hpp"
#include "app/protocol/framing.hpp"
#include "app/text/units.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace yodel {

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

// Return an action for an option. into() stores the argument, parsed if there is a parser;
// flag() sets a flag. The referenced variables must outlive the table.
template <class To, class Parse = std::identity>
auto into(To& to, Parse parse = {}) {
    return [&to, parse](const std::string& text) { to = parse(text); };
}
inline auto flag(bool& to) {
    return [&to](const std::string&) { to = true; };
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

// Returns a parser of numbers from 1 to `max`.
std::function<unsigned(const std::string&)> number_up_to(unsigned max);

ev::Duration duration_value(const std::string& text);
std::optional<ev::Duration> limit_value(const std::string& text);  // 0: no limit, as in curl
const Framing* framing_value(const std::string& text, bool can_echo = false);
std::string host_name_value(const std::string& text);  // a host name or an address

// Throws if -4 or -6 was given and the host is a numeric address of the other family. Does not
// look up names.
void check_family(int family, const std::string& host);

// Return the options at the end of all programs' tables. Each sets its flag, which must
// outlive the table.
Option help_option(bool& wanted);
Option version_option(bool& wanted);

Option sandbox_option(bool& left_out);

// Stands for a missing name or argument of an option.
inline constexpr const char* none = nullptr;
// The help of an option that is explained in another option's help.
inline constexpr const char* no_help_row = "";

// Returns an action that sets the address family, and refuses a second, different one.
std::function<void(const std::string&)> family_value(int& to, int family);

}  // namespace yodel
