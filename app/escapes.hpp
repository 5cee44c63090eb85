// Bytes that are hard to type, written as in C.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Puts the byte in the place of each \n \r \t \0 \\ and \xNN; none if anything else follows a
// backslash.
std::optional<std::string> unescaped(std::string_view text);

}  // namespace yodel
