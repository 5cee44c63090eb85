#include "app/text/json.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace yodel {

namespace {

// Appends the escape of a character, or of its two surrogates if it exceeds 16 bits.
void append_escape(std::string& to, char32_t character) {
    if (character >= 0x10000) {
        append_escape(to, 0xd800 + (character - 0x10000) / 0x400);
        character = 0xdc00 + character % 0x400;
    }
    to += format("\\u%04x", static_cast<unsigned>(character));
}

// Returns the text as a JSON string from which a reader restores every byte, or none if it is
// not UTF-8. Escapes characters that could command a terminal or are invisible.
std::optional<std::string> exact_json_string(std::string_view text) {
    std::string quoted = "\"";
    while (!text.empty()) {
        const ui::CodePoint next = ui::decode(text, 0);
        if (next.size == 0) return std::nullopt;
        const std::string_view character = text.substr(0, next.size);
        if (character == "\"" || character == "\\") quoted += '\\';
        const bool is_plain = character.size() == 1 ? character[0] >= ' ' && character[0] <= '~'
                                                    : ui::printable(character) == character;
        if (is_plain)
            quoted += character;
        else
            append_escape(quoted, next.value);
        text.remove_prefix(next.size);
    }
    return quoted + '"';
}

constexpr int max_depth = 32;                  // nested arrays and objects
constexpr std::size_t max_values = 1'000'000;  // about a hundred bytes of memory each

constexpr std::string_view spaces = " \t\r\n";

// Each function reads one element from the front of the remaining text, or throws.
class JsonReader {
public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    JsonValue read() {
        JsonValue value = read_value();
        skip_space();
        if (!is_at_end()) refuse();
        return value;
    }

private:
    using Kind = JsonValue::Kind;

    JsonValue read_value() {
        if (++value_count_ > max_values) throw JsonError("the line contains too many values");
        skip_space();
        switch (peek()) {
        case '{': return read_list(Kind::object, '}');
        case '[': return read_list(Kind::array, ']');
        case '"': return {.kind = Kind::text, .content = read_text()};
        case 't': return read_word(Kind::flag, "true");
        case 'f': return read_word(Kind::flag, "false");
        case 'n': return read_word(Kind::null, "null");
        default: return {.kind = Kind::number, .content = read_number()};
        }
    }

    JsonValue read_list(Kind kind, char end) {
        if (depth_ == max_depth) throw JsonError("the line is nested too deeply");
        JsonValue list{.kind = kind};
        ++depth_;
        ++at_;
        skip_space();
        bool has_more = peek() != end;
        while (has_more) {
            if (kind == Kind::object) {
                skip_space();
                list.names.push_back(read_text());
                skip_space();
                take(':');
            }
            list.items.push_back(read_value());
            skip_space();
            has_more = skip(',');
        }
        take(end);
        --depth_;
        std::vector<std::string_view> names(list.names.begin(), list.names.end());
        std::sort(names.begin(), names.end());
        if (std::adjacent_find(names.begin(), names.end()) != names.end())
            throw JsonError("the line contains an object with a duplicate name");
        return list;
    }

    std::string read_text() {
        std::string text;
        take('"');
        while (!skip('"')) {
            if (skip('\\'))
                read_escape(text);
            else
                read_character(text);
        }
        return text;
    }

    void read_character(std::string& to) {
        if (static_cast<unsigned char>(peek()) < 0x20) refuse();
        const ui::CodePoint character = ui::decode(text_, at_);
        const bool is_cut = text_.size() - at_ < ui::encoded_size(text_[at_]);
        // refuse() then reports the truncation.
        if (character.size == 0 && is_cut) at_ = text_.size();
        if (character.size == 0) refuse();
        to.append(text_.substr(at_, character.size));
        at_ += character.size;
    }

    void read_escape(std::string& to) {
        static constexpr std::string_view letters = "\"\\/bfnrt";
        static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (skip('u')) return ui::append_utf8(to, read_code());
        const std::size_t found = letters.find(peek());
        if (found == letters.npos) refuse();
        to += meanings[found];
        ++at_;
    }

    // Reads the digits of one escape, or of two if the first is a surrogate.
    char32_t read_code() {
        const char32_t value = read_four_digits();
        if (value < 0xd800 || value > 0xdfff) return value;
        if (value > 0xdbff) refuse();
        take('\\');
        take('u');
        const char32_t low = read_four_digits();
        if (low < 0xdc00 || low > 0xdfff) refuse();
        return 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
    }

    char32_t read_four_digits() {
        const std::string_view digits = text_.substr(at_, 4);
        unsigned value = 0;
        const char* const begin = digits.data();
        const auto count = static_cast<std::size_t>(
            std::from_chars(begin, begin + digits.size(), value, 16).ptr - begin);
        at_ += count;
        if (count < 4) refuse();
        return value;
    }

    std::string read_number() {
        const std::size_t begin = at_;
        skip('-');
        if (!skip('0')) read_digits();
        if (skip('.')) read_digits();
        if (skip('e') || skip('E')) {
            if (!skip('+')) skip('-');
            read_digits();
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    void read_digits() {
        const std::size_t begin = at_;
        at_ = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
        if (at_ == begin) refuse();
    }

    JsonValue read_word(Kind kind, const std::string& word) {
        for (const char letter : word) take(letter);
        return {.kind = kind, .content = word};
    }

    void skip_space() { at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size()); }
    // Returns false if the next byte differs.
    bool skip(char byte) {
        const bool found = peek() == byte;
        if (found) ++at_;
        return found;
    }
    void take(char byte) {
        if (!skip(byte)) refuse();
    }

    bool is_at_end() const { return at_ == text_.size(); }
    // Returns the next byte, or NUL at the end. JSON allows no NUL outside a string.
    char peek() const { return is_at_end() ? '\0' : text_[at_]; }

    [[noreturn]] void refuse() const {
        throw JsonError(is_at_end() ? "the line is truncated"
                                    : "the line is not JSON at byte " + std::to_string(at_));
    }

    const std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::size_t value_count_ = 0;
};

// Decodes base64. Returns none for a text that ui::base64() would not write, such as one with
// other letters, or one whose unused bits are not zero.
std::optional<std::string> from_base64(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;  // bits that are not yet part of a byte
    for (const char letter : text.substr(0, text.find('='))) {
        bits = bits << 6 | static_cast<std::uint32_t>(ui::base64_digits.find(letter));
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    return ui::base64(bytes) == text ? std::optional(bytes) : std::nullopt;
}

// Returns the position after the string that begins at `at`.
std::size_t string_end(std::string_view text, std::size_t at) {
    for (++at; text[at] != '"';) at += text[at] == '\\' ? 2 : 1;
    return at + 1;
}

}  // namespace

// --- Writing

std::string json_string(std::string_view text) {
    return *exact_json_string(ui::printable(text));
}

std::string json_microseconds(ev::Duration duration) {
    const std::int64_t count = std::abs(duration.count());
    std::string decimals = std::to_string(1000 + count % 1000);
    decimals[0] = '.';
    return (duration.count() < 0 ? "-" : "") + std::to_string(count / 1000) + decimals;
}

JsonObject& JsonObject::bytes(std::string_view name, std::string_view value) {
    if (const auto exact = exact_json_string(value)) return add(name, *exact);
    return add(std::string(name) + "_base64", '"' + ui::base64(value) + '"');
}

JsonObject& JsonObject::decimal(std::string_view name, double value) {
    char digits[std::numeric_limits<double>::max_exponent10 + 8];
    std::snprintf(digits, sizeof digits, "%.3f", value);
    return add(name, digits);
}

JsonObject& JsonObject::add(std::string_view name, std::string_view json) {
    members_.append(members_.empty() ? "\"" : ",\"").append(name).append("\":").append(json);
    return *this;
}

// --- Reading

const JsonValue* JsonValue::find(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? nullptr
                                : &items[static_cast<std::size_t>(found - names.begin())];
}

bool JsonValue::flag(std::string_view name) const {
    const JsonValue* const found = find(name);
    return found && found->kind == Kind::flag && found->content == "true";
}

std::string JsonValue::text_or_empty(std::string_view name) const {
    const JsonValue* const found = find(name);
    return found && found->kind == Kind::text ? found->content : "";
}

const JsonValue& JsonValue::get(std::string_view name, Kind wanted,
                                const char* expected) const {
    const JsonValue* const found = find(name);
    if (!found) throw JsonError(in_quotes(name) + " is missing");
    if (found->kind != wanted) throw JsonError(in_quotes(name) + " is not " + expected);
    return *found;
}

std::string JsonValue::bytes(const std::string& name) const {
    const std::string encoded = name + "_base64";
    if (!has(encoded)) return text(name);
    if (has(name))
        throw JsonError(in_quotes(name) + " and " + in_quotes(encoded) + " are both present");
    const auto decoded = from_base64(text(encoded));
    if (!decoded) throw JsonError(in_quotes(encoded) + " is not base64");
    return *decoded;
}

std::uint64_t JsonValue::count(std::string_view name, std::uint64_t min,
                               std::uint64_t max) const {
    const auto count = parse_count(get(name, Kind::number, "a whole number").content);
    if (count && *count >= min && *count <= max) return *count;
    throw JsonError(in_quotes(name) + " is not a whole number from " + std::to_string(min) +
                    " to " + std::to_string(max));
}

ev::Duration JsonValue::time(std::string_view name) const {
    constexpr const char* expected = "a time in microseconds";
    constexpr ev::Duration longest = std::chrono::hours(24 * 365);  // so that no sum overflows
    std::string digits = get(name, Kind::number, expected).content;
    const std::size_t point = std::min(digits.find('.'), digits.size());
    digits.erase(point, 1);
    const std::size_t decimals = digits.size() - point;
    digits.append(3 - std::min<std::size_t>(decimals, 3), '0');
    const auto count = parse_count(digits);  // of nanoseconds
    if (!count || decimals > 3) throw JsonError(in_quotes(name) + " is not " + expected);
    if (*count > static_cast<std::uint64_t>(longest.count()))
        throw JsonError(in_quotes(name) + " is too long");
    return ev::Duration(static_cast<std::int64_t>(*count));
}

JsonValue read_json(std::string_view text) { return JsonReader(text).read(); }

std::optional<std::string> indented_json(std::string_view text, std::size_t& mark) {
    try {
        if (read_json(text).items.empty()) return std::nullopt;
    } catch (const JsonError&) {
        return std::nullopt;
    }
    std::string indented;
    std::size_t found = text.npos;
    std::size_t depth = 0;
    bool is_opening = false;  // the last byte begins an array or an object
    const auto break_line = [&] { indented += "\n" + std::string(2 * depth, ' '); };
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
        const char byte = text[at];
        end = at + 1;
        if (spaces.find(byte) != spaces.npos) continue;
        if (byte == '"') end = string_end(text, at);
        const bool closes = byte == '}' || byte == ']';
        if (closes) --depth;
        if (closes != is_opening) break_line();
        if (mark >= at && mark < end) found = indented.size() + mark - at;
        indented += text.substr(at, end - at);
        is_opening = byte == '{' || byte == '[';
        if (is_opening) ++depth;
        if (byte == ',') break_line();
        if (byte == ':') indented += ' ';
    }
    mark = found;
    return indented;
}

}  // namespace yodel
