// The destinations of options, and the values that several programs share. All parsers throw
// UsageError without naming the option.
#pragma once

#include "app/options/command_line.hpp"
#include "app/protocol/framing.hpp"
#include "app/text/units.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace yodel {

// A parser of values of one kind. Its error is "TEXT is not EXPECTED".
template <class Value>
struct Kind {
    std::optional<Value> (*parse)(std::string_view text);
    const char* expected;

    Value operator()(const std::string& text) const {
        const std::optional<Value> value = parse(text);
        if (!value) throw UsageError(in_quotes(text) + " is not " + expected);
        return *value;
    }
};

// A parser that returns the text itself.
struct TextKind {
    bool (*accepts)(std::string_view text);
    const char* expected;

    std::string operator()(const std::string& text) const {
        if (!accepts(text)) throw UsageError(in_quotes(text) + " is not " + expected);
        return text;
    }
};

inline constexpr Kind<ev::Duration> duration_value{parse_duration,
                                                   "a duration such as 1.5s, 200ms or 2m"};
inline constexpr Kind<std::size_t> size_value{parse_size, "a size such as 512, 64k or 32M"};
inline constexpr Kind<std::size_t> positive_size{[](std::string_view text) {
                                                     const auto size = parse_size(text);
                                                     return size && *size > 0 ? size
                                                                              : std::nullopt;
                                                 },
                                                 size_value.expected};

// Returns a parser of numbers from 1 to `max`. `more`: what else the option takes.
inline auto number_up_to(unsigned max, const std::string& more = {}) {
    return [=](const std::string& text) {
        if (const auto number = parse_number(text, 1, max)) return *number;
        throw UsageError(in_quotes(text) + " is not a number from 1 to " + std::to_string(max) +
                         more);
    };
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
// 0 means no limit, as in curl.
inline auto into(std::optional<ev::Duration>& limit) {
    return [&limit](const std::string& text) {
        limit = duration_value(text);
        if (*limit == ev::Duration::zero()) limit.reset();
    };
}
template <class To, class Parse>
auto into(To& to, Parse parse) {
    return [&to, parse](const std::string& text) { to = parse(text); };
}
template <class To, class Parse>
auto add_to(std::vector<To>& list, Parse parse) {
    return [&list, parse](const std::string& text) { list.push_back(parse(text)); };
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
std::vector<Option> common_options(CommonOptions& to);

std::vector<Option> joined(std::initializer_list<std::vector<Option>> tables);

const Framing* framing_value(const std::string& text, bool can_echo);

// Throws if -4 or -6 was given and the host is a numeric address of the other family. Does not
// look up names.
void check_family(int family, const std::string& host);

}  // namespace yodel
