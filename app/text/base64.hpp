// Reads the base64 that ui/text.hpp writes.
#pragma once

#include "ui/text.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

using ui::base64;

// Returns none for a text that base64() does not return.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace yodel
