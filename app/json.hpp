// JSON, as much of it as is written here.
#pragma once

#include <string>
#include <string_view>

namespace yodel {

// The text in quotation marks. It may hold any bytes: those that are not UTF-8, and those that
// could command a terminal, are made visible.
std::string json_string(std::string_view text);

}  // namespace yodel
