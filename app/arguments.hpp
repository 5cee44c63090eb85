// The values of options, where both programs have them.
#pragma once

#include "app/command_line.hpp"
#include "app/protocol/framing.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace yodel {

// The value that the text was parsed to. Throws UsageError where there is none.
template <class Value>
Value checked(const std::optional<Value>& value, const std::string& text, const char* what) {
    if (!value) throw UsageError("\"" + text + "\" is not " + what);
    return *value;
}

// These throw UsageError too.
ev::Duration duration_argument(const std::string& text);
std::optional<ev::Duration> limit_argument(const std::string& text);  // 0: none, as in curl
const Framing* framing_argument(const std::string& text);

// Sets the family of -4 or -6, which exclude each other.
void set_family(int& family, int wanted);

// Throws UsageError where -4 or -6 is given, and the host is an address of the other family.
// Names are not looked up.
void check_family(int family, const std::string& host);

}  // namespace yodel
