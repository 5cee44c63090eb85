#include "app/protocol/resp.hpp"

#include "app/text/regex.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace yodel {

namespace {

bool is_integer(std::string_view text) {
    return is_number(text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0));
}

bool is_int64(std::string_view text) {
    const std::size_t plus = text.starts_with('+') ? 1 : 0;
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data() + plus, text.data() + text.size(), number);
    return is_integer(text) && read.ec == std::errc();
}

bool is_double(std::string_view text) {
    thread_local const Regex form("^[+-]?(inf|nan|[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?)$");
    return form.matches(text);
}

// Returns why a value without a length is invalid, or null.
const char* scalar_fault(char type, std::string_view value) {
    switch (type) {
    case ':': return is_int64(value) ? nullptr : "which is not a valid integer";
    case '(': return is_integer(value) ? nullptr : "which is not a valid big number";
    case ',': return is_double(value) ? nullptr : "which is not a valid double";
    case '#': return value == "t" || value == "f" ? nullptr : "which is not a valid boolean";
    case '_': return value.empty() ? nullptr : "which is not a valid null";
    default: return nullptr;  // a simple string or an error
    }
}

constexpr std::size_t max_nesting = 32;

std::string quoted(std::string_view bytes) {
    constexpr std::string_view escaped = "\\\"\n\r\t\a\b";
    std::string text = "\"";
    for (const char byte : bytes) {
        const std::size_t index = escaped.find(byte);
        if (index != escaped.npos)
            text += {'\\', "\\\"nrtab"[index]};
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
        if (end == rest.npos || depth > max_nesting) return false;
        const std::string_view line = rest.substr(0, end);
        const auto [body_size, more_lines, fault] = resp_line(line, {});
        rest.remove_prefix(end + 2);
        if (fault || std::max(body_size, more_lines) > rest.size()) return false;
        std::string_view body = rest.substr(0, body_size);
        rest.remove_prefix(body.size());
        if (!body.empty() && !body.ends_with("\r\n")) return false;
        body = body.substr(0, std::max<std::size_t>(body.size(), 2) - 2);
        const auto add = [&](std::string_view label, std::string_view shown = {}) {
            text.append(label).append(shown);
            return true;
        };
        if (line.substr(1) == "-1" && (line[0] == '$' || line[0] == '*')) return add("(nil)");
        switch (line[0]) {
        case '+': return add(line.substr(1));
        case '-': return add("(error) ", line.substr(1));
        case ':': return add("(integer) ", line.substr(1));
        case ',': return add("(double) ", line.substr(1));
        case '(': return add("(bignum) ", line.substr(1));
        case '#': return add(line == "#t" ? "(true)" : "(false)");
        case '_': return add("(nil)");
        case '$': return add(quoted(body));
        case '!': return add("(error) ", body);
        case '=':
            return add(body.substr(std::min<std::size_t>(body.size(), 4)));  // after "txt:"
        default: return read_values(line[0], more_lines, indent, depth + 1);
        }
    }

    // `count` includes the keys of a hash. The attributes after `|` are for programs, so only
    // the last value, which the attributes describe, is shown.
    bool read_values(char type, std::uint64_t count, std::size_t indent, std::size_t depth) {
        if (type == '|') {
            const std::size_t size_before = text.size();
            for (; count > 0; --count) {
                text.resize(size_before);
                if (!read(indent, depth)) return false;
            }
            return true;
        }
        const std::size_t kind = std::string_view("*~>%").find(type);
        constexpr const char* words[] = {"array", "set", "push", "hash"};
        if (count == 0) text += std::string("(empty ") + words[kind] + ")";
        const std::uint64_t step = type == '%' ? 2 : 1;
        const auto width = static_cast<unsigned>(std::to_string(count / step).size());
        for (std::uint64_t i = 0; i < count; ++i) {
            if (i % step != 0) {
                text += " => ";
            } else {
                if (i > 0) text.append("\n").append(indent, ' ');
                const unsigned long long number = i / step + 1;
                text += format("%*llu%c ", static_cast<int>(width), number, ")~)#"[kind]);
            }
            if (!read(indent + width + 2, depth)) return false;
        }
        return true;
    }
};

}  // namespace

// A line is a whole value, the length of a string, or the number of the values that follow.
// Nested values only increase the number of lines that follow, so nesting needs no memory.
ReplyLine resp_line(std::string_view line, std::string_view /*before*/) {
    constexpr std::size_t max_line = 19;  // bytes; lengths are below 10^18, so that sums fit
    const char type = line.empty() ? '\0' : line[0];
    const auto is_one_of = [type](std::string_view types) {
        return types.find(type) != types.npos;
    };
    if (is_one_of("+-:_#,(")) return {.fault = scalar_fault(type, line.substr(1))};
    if (line == "$-1" || line == "*-1") return {};
    if (!is_one_of("$!=*~>%|")) return {.fault = "which is not valid for -f resp"};
    const auto count = parse_count(line.substr(1));
    if (!count || line.size() > max_line) return {.fault = "which contains no valid length"};
    if (is_one_of("$!=")) return {.body_size = *count + 2};
    if (is_one_of("*~>")) return {.more_lines = *count};
    return {.more_lines = 2 * *count + (type == '|' ? 1 : 0)};  // attributes precede a value
}

std::optional<std::string> resp_text(std::string_view bytes) {
    RespReader reader{bytes};
    if (!reader.read(0, 0) || !reader.rest.empty()) return std::nullopt;
    return reader.text;
}

}  // namespace yodel
