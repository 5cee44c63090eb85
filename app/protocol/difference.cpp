#include "app/protocol/difference.hpp"

#include <algorithm>

namespace yodel {

std::size_t first_difference(std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    if (a.substr(0, size) == b.substr(0, size))
        return size;  // the fastest way to find that out
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(size);
    return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

}  // namespace yodel
