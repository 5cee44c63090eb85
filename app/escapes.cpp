#include "app/escapes.hpp"

#include <algorithm>

namespace yodel {

namespace {

int hex_digit(char character) {
    const std::string_view digits = "0123456789abcdef";
    const std::size_t place = digits.find(static_cast<char>(character | 0x20));
    return place == digits.npos ? -1 : static_cast<int>(place);
}

// One escape behind its backslash, which is cut off the text.
std::optional<char> take_escape(std::string_view& text) {
    static constexpr std::string_view letters = "nrt0\\", meanings{"\n\r\t\0\\", 5};
    const std::size_t known = text.empty() ? letters.npos : letters.find(text[0]);
    if (known != letters.npos) {
        text.remove_prefix(1);
        return meanings[known];
    }
    const bool hex = text.size() >= 3 && text[0] == 'x';
    if (!hex || hex_digit(text[1]) < 0 || hex_digit(text[2]) < 0) return std::nullopt;
    const int byte = 16 * hex_digit(text[1]) + hex_digit(text[2]);
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

}  // namespace yodel
