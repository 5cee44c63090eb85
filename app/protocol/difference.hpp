// Where a reply begins to differ from its message.
#pragma once

#include <cstddef>
#include <string_view>

namespace yodel {

// Returns the offset of the first byte that differs, or at which the shorter of the two ends.
std::size_t first_difference(std::string_view a, std::string_view b);

}  // namespace yodel
