// Base64 as RFC 4648 has it, with its padding and without line breaks: any bytes as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

std::string base64(std::string_view bytes);

// Returns none for a text that base64() does not return.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace yodel
