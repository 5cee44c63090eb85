#include "ui/clipboard.hpp"

#include "ui/text.hpp"

#include <cstdint>

namespace ui {

std::string base64(std::string_view bytes) {
    static constexpr char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view group = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const char byte = i < group.size() ? group[i] : '\0';
            bits = bits << 8 | static_cast<unsigned char>(byte);
        }
        for (std::size_t i = 0; i <= group.size(); ++i)
            text += digits[bits >> (18 - 6 * i) & 63];
        text.append(3 - group.size(), '=');
    }
    return text;
}

std::string clipboard_sequence(std::string_view text) {
    if (text.size() > longest_copy) return {};  // printable text is never shorter
    const std::string shown = printable(text);
    if (shown.size() > longest_copy) return {};
    return "\x1b]52;c;" + base64(shown) + "\x1b\\";
}

}  // namespace ui
