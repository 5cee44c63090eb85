#include "app/text/escapes.hpp"

#include "ui/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace yodel {

namespace {

// The letters of escapes, and their meanings.
constexpr std::string_view letters = "nrt0\\";
constexpr std::string_view meanings{"\n\r\t\0\\", 5};

// Removes an escape sequence, whose backslash is already removed, from the front. Returns its
// byte; none if the sequence is invalid.
std::optional<char> take_escape(std::string_view& text) {
    const std::size_t known = text.empty() ? letters.npos : letters.find(text[0]);
    if (known != letters.npos) {
        text.remove_prefix(1);
        return meanings[known];
    }
    if (text.size() < 3 || text[0] != 'x') return std::nullopt;
    unsigned byte = 0;
    const char* const end = text.data() + 3;
    if (std::from_chars(end - 2, end, byte, 16).ptr != end) return std::nullopt;
    text.remove_prefix(3);
    return static_cast<char>(byte);
}

}  // namespace

std::optional<std::string> unescaped(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const std::size_t mark = std::min(text.find('\\'), text.size());
        plain += text.substr(0, mark);
        text.remove_prefix(mark);
        if (text.empty()) break;
        text.remove_prefix(1);
        const std::optional<char> byte = take_escape(text);
        if (!byte) return std::nullopt;
        plain += *byte;
    }
    return plain;
}

std::string escaped(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const std::size_t known = meanings.find(byte);
        if (known != meanings.npos) text += '\\';
        text += known == meanings.npos ? byte : letters[known];
    }
    return text;
}

// The comparison with ui::base64() also refuses texts whose unused bits are not zero.
std::optional<std::string> from_base64(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    unsigned count = 0;  // bits that are not yet part of a byte
    for (const char letter : text.substr(0, text.find('='))) {
        const std::size_t value = ui::base64_digits.find(letter);
        if (value == text.npos) return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    if (ui::base64(bytes) != text) return std::nullopt;
    return bytes;
}

}  // namespace yodel
