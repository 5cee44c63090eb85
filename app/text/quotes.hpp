// Words of a user or of a file, as the sentence about them has them.
#pragma once

#include <string>
#include <string_view>

namespace yodel {

inline std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

}  // namespace yodel
