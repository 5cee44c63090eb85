// Bytes in the text of a table, a script or a step.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace test {

// Reads \n, \r, \e, \\, \xNN, and x{1000} for a repeated character.
inline std::string bytes(std::string_view text) {
    std::string to;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto rest = text.substr(at + 1);
        if (text[at] == '\\' && rest.starts_with('x')) {
            to += static_cast<char>(std::stoi(std::string(rest.substr(1, 2)), nullptr, 16));
            at += 3;
        } else if (text[at] == '\\' && !rest.empty()) {
            const std::string_view letters = "nre";
            const std::size_t letter = letters.find(rest[0]);
            to += letter == letters.npos ? rest[0] : "\n\r\x1b"[letter];
            ++at;
        } else if (text[at] == '{' && !to.empty() && std::isdigit(rest[0])) {
            to.append(std::stoul(std::string(rest)) - 1, to.back());
            at += rest.find('}') + 1;
        } else {
            to += text[at];
        }
    }
    return to;
}

// Writes any bytes in that form.
inline std::string shown(std::string_view from) {
    std::string to;
    while (!from.empty()) {
        const char byte = from[0];
        const std::size_t run = std::min(from.find_first_not_of(byte), from.size());
        const std::size_t taken = run < 20 ? 1 : run;
        const char* const hex = "0123456789abcdef";
        if (byte == '\n' || byte == '\r' || byte == '\\') {
            to += std::string("\\") + (byte == '\n' ? 'n' : byte == '\r' ? 'r' : '\\');
        } else if (std::isprint(static_cast<unsigned char>(byte))) {
            to += byte;
        } else {
            to += std::string("\\x") + hex[(byte >> 4) & 15] + hex[byte & 15];
        }
        if (taken > 1) to += "{" + std::to_string(taken) + "}";
        from.remove_prefix(taken);
    }
    return to;
}

}  // namespace test
