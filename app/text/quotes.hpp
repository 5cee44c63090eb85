// What a user or a file wrote, as the sentence about it names it.
#pragma once

#include <string>
#include <string_view>

namespace yodel {

inline std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

}  // namespace yodel
