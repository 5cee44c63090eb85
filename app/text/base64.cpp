#include "app/text/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace yodel {

namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

// Bits that no byte needs are not zero in some texts: these are not written by base64().
std::optional<std::string> from_base64(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    unsigned count = 0;  // of the bits that are still to become a byte
    for (const char letter : text.substr(0, text.find('='))) {
        const std::size_t value = alphabet.find(letter);
        if (value == alphabet.npos) return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    if (base64(bytes) != text) return std::nullopt;
    return bytes;
}

}  // namespace yodel
