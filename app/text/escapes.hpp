// Bytes as text: escape sequences of C, for bytes that are hard to type, and base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Replaces each \n \r \t \0 \\ and \xNN by its byte. Returns none if anything else follows a
// backslash.
std::optional<std::string> unescaped(std::string_view text);

// The sentence for a user whose text was refused.
inline constexpr const char* escapes_expected =
    "a backslash must be followed by n, r, t, 0, a backslash, or x and two digits";

// Reads base64. Returns none for a text that ui::base64() would not write.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace yodel
