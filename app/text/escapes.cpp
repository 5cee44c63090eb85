#include "app/text/escapes.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

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

}  // namespace yodel
