// Shows values of the Redis protocol (RESP 2 and 3) to people, as redis-cli does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Returns the value in lines without a final newline, such as `"PONG"`, `(integer) 5`, or, for
// an array, `1) "a"` and `2) (nil)`. Strings are in quotes, with escapes for all bytes but
// visible ASCII. Returns none unless the bytes are exactly one value, and if its arrays are
// nested more than 32 levels deep.
std::optional<std::string> resp_text(std::string_view bytes);

}  // namespace yodel
