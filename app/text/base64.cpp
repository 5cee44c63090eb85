#include "app/text/base64.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace yodel {

namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::size_t group_bytes = 3;
constexpr std::size_t group_letters = 4;

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + group_bytes - 1) / group_bytes * group_letters);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), group_bytes))) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < group_bytes; ++i) {
            const char byte = i < bytes.size() ? bytes[i] : '\0';
            bits = bits << 8 | static_cast<unsigned char>(byte);
        }
        for (std::size_t i = 0; i < group_letters; ++i)
            text += i > bytes.size() ? '=' : alphabet[bits >> (18 - 6 * i) & 0x3f];
    }
    return text;
}

// Bits that no byte needs are not zero in some texts: these are not written by base64().
std::optional<std::string> from_base64(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() / group_letters * group_bytes);
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
