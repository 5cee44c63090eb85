#include "app/text/resp.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <cstdint>

namespace yodel {

namespace {

constexpr std::size_t max_nesting = 32;

std::string quoted(std::string_view bytes) {
    constexpr std::string_view escaped = "\\\"\n\r\t\a\b";
    std::string text = "\"";
    for (const char byte : bytes) {
        const std::size_t which = escaped.find(byte);
        if (which != escaped.npos)
            text += {'\\', "\\\"nrtab"[which]};
        else if (byte >= ' ' && byte <= '~')
            text += byte;
        else
            text += format("\\x%02x", static_cast<unsigned char>(byte));
    }
    return text + '"';
}

struct RespReader {
    std::string_view rest;
    std::string text = {};

    // Appends a value, whose lines after the first begin with `indent` spaces. Returns false if
    // it is incomplete or invalid.
    bool read(std::size_t indent, std::size_t depth) {
        const std::size_t end = rest.find("\r\n");
        if (end == rest.npos || end == 0 || depth > max_nesting) return false;
        const char type = rest[0];
        const std::string_view line = rest.substr(1, end - 1);
        rest.remove_prefix(end + 2);
        const auto add = [&](std::string_view label, std::string_view value = {}) {
            text.append(label).append(value);
            return true;
        };
        switch (type) {
        case '+': return add(line);
        case '-': return add("(error) ", line);
        case ':': return add("(integer) ", line);
        case ',': return add("(double) ", line);
        case '(': return add("(bignum) ", line);
        case '#': return add(line == "t" ? "(true)" : "(false)");
        case '_': return add("(nil)");
        default: break;
        }
        if (line == "-1" && (type == '$' || type == '*')) return add("(nil)");
        const auto count = parse_count(line);
        if (!count || *count > rest.size()) return false;
        if (type == '$' || type == '!' || type == '=') {
            if (rest.substr(*count, 2) != "\r\n") return false;
            const std::string_view bytes = rest.substr(0, *count);
            rest.remove_prefix(*count + 2);
            if (type == '$') return add(quoted(bytes));
            if (type == '!') return add("(error) ", bytes);
            return add(bytes.substr(std::min<std::size_t>(*count, 4)));  // after "txt:"
        }
        return type == '|' ? read_attributes(*count, indent, depth)
                           : read_values(type, *count, indent, depth);
    }

    // Attributes are for programs. The value that they describe follows.
    bool read_attributes(std::uint64_t count, std::size_t indent, std::size_t depth) {
        const std::size_t before = text.size();
        for (std::uint64_t i = 0; i < 2 * count; ++i)
            if (!read(indent, depth + 1)) return false;
        text.resize(before);
        return read(indent, depth + 1);
    }

    bool read_values(char type, std::uint64_t count, std::size_t indent, std::size_t depth) {
        const std::size_t kind = std::string_view("*~>%").find(type);
        if (kind == std::string_view::npos) return false;
        constexpr const char* words[] = {"array", "set", "push", "hash"};
        if (count == 0) {
            text += std::string("(empty ") + words[kind] + ")";
            return true;
        }
        const auto width = static_cast<unsigned>(std::to_string(count).size());
        const std::size_t inner = indent + width + 2;
        for (std::uint64_t i = 1; i <= count; ++i) {
            if (i > 1) text.append("\n").append(indent, ' ');
            text += format("%*llu%c ", static_cast<int>(width),
                           static_cast<unsigned long long>(i), ")~)#"[kind]);
            if (!read(inner, depth + 1)) return false;
            if (type != '%') continue;
            text += " => ";
            if (!read(inner, depth + 1)) return false;
        }
        return true;
    }
};

}  // namespace

std::optional<std::string> resp_text(std::string_view bytes) {
    RespReader reader{bytes};
    if (!reader.read(0, 0) || !reader.rest.empty()) return std::nullopt;
    return reader.text;
}

}  // namespace yodel
