// Bytes in the text of a table.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace test {

// Replaces \xNN by a byte, and *N by N stars.
inline std::string expanded(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t used = 0;
        if (text.substr(i, 2) == "\\x") {
            bytes += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
            i += 3;
        } else if (text[i] == '*') {
            bytes.append(std::stoul(text.substr(i + 1), &used), '*');
            i += used;
        } else {
            bytes += text[i];
        }
    }
    return bytes;
}

// Writes any bytes in the form that expanded() reads.
inline std::string shown(std::string_view bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (byte == '*') {
            const std::size_t end = std::min(bytes.find_first_not_of('*', i), bytes.size());
            text += "*" + std::to_string(end - i);
            i = end - 1;
        } else if (byte < ' ' || byte > '~') {
            char hex[5];
            std::snprintf(hex, sizeof hex, "\\x%02x", unsigned{byte});
            text += hex;
        } else {
            text += bytes[i];
        }
    }
    return text;
}

}  // namespace test
