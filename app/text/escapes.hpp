// Bytes written as text with C escape sequences.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Replaces each of \n \r \t \0 \\ and \xNN by its byte. Returns none if anything else follows a
// backslash.
std::optional<std::string> unescaped(std::string_view text);

// Returns a text from which unescaped() restores the bytes.
std::string escaped(std::string_view bytes);

// Error text for a user if unescaped() fails.
inline constexpr const char* escapes_expected =
    "a backslash must be followed by n, r, t, 0, a backslash, or x and two digits";

}  // namespace yodel
