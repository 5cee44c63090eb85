// What the arguments of options mean, where both programs have them.
#pragma once

#include "app/command_line.hpp"
#include "app/framing.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace yodel {

// The value that the text was parsed to. Throws UsageError: there is none.
template <class Value>
Value checked(const std::optional<Value>& value, const std::string& text, const char* what) {
    if (!value) throw UsageError("\"" + text + "\" is not " + what);
    return *value;
}

// These throw UsageError too.
ev::Duration duration_argument(const std::string& text);
std::optional<ev::Duration> limit_argument(const std::string& text);  // 0: none, as in curl
const Framing* framing_argument(const std::string& text);

}  // namespace yodel
