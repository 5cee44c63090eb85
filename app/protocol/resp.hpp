// The Redis protocol (RESP 2 and 3): reads the lines of its replies, and shows values as
// redis-cli does.
#pragma once

#include "app/protocol/framing.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Reads a line of a reply, for Framing::reply_line.
ReplyLine resp_line(std::string_view line, std::string_view before);

// Returns the value in lines without a final newline, such as `"PONG"`, `(integer) 5`, or, for
// an array, `1) "a"` and `2) (nil)`. Bulk strings are in quotes, with escapes for quotes,
// backslashes, and bytes that are not printable ASCII. Returns none if the bytes are not
// exactly one valid value, or if values are nested more than 32 levels deep.
std::optional<std::string> resp_text(std::string_view bytes);

}  // namespace yodel
