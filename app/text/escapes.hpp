// Decodes bytes written as text: C escape sequences, and base64.
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

// Decodes base64. Returns none for a text that ui::base64() would not write.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace yodel
