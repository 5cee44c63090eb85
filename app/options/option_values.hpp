// The values of options that both programs have. All of these throw UsageError, in words that
// need not name the option.
#pragma once

#include "app/options/command_line.hpp"
#include "app/protocol/framing.hpp"
#include "app/text/quotes.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace yodel {

// Returns the value that `text` was parsed to. If there is none, the error is "TEXT is not
// EXPECTED".
template <class Value>
Value checked(const std::optional<Value>& value, const std::string& text,
              const std::string& expected) {
    if (!value) throw UsageError(in_quotes(text) + " is not " + expected);
    return *value;
}

ev::Duration duration_value(const std::string& text);
std::optional<ev::Duration> limit_value(const std::string& text);  // 0: no limit, as in curl
unsigned positive_value(const std::string& text, unsigned most);
std::size_t threads_value(const std::string& text);  // `auto`: a thread on each processor
const Framing* framing_value(const std::string& text);

// Sets the address family for -4 or -6. An error if the other one was given before.
void set_family(int& family, int wanted);

// An error if -4 or -6 was given and the host is a numeric address of the other family. Names
// are not looked up.
void check_family(int family, const std::string& host);

// The options that both programs end their tables with; each sets its flag, which must outlive
// the table.
Option help_option(bool& wanted);
Option version_option(bool& wanted);

Option sandbox_option(bool& left_out);

}  // namespace yodel
