// Bytes that are hard to type, written as in C.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Puts the byte in the place of each \n \r \t \0 \\ and \xNN; none if anything else follows a
// backslash.
std::optional<std::string> unescaped(std::string_view text);

// What is said to whoever wrote another.
inline constexpr const char* escapes_expected =
    "after a backslash come n, r, t, 0, another one, or x and two digits";

}  // namespace yodel
