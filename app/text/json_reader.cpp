#include "app/text/json_reader.hpp"

#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <charconv>

namespace yodel {

namespace {

constexpr int max_depth = 32;                  // nested arrays and objects
constexpr std::size_t max_values = 1'000'000;  // about a hundred bytes of memory each

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_space(char byte) {
    return std::string_view(" \t\r\n").find(byte) != std::string_view::npos;
}

// Each function reads one element from the front of the remaining text, or throws JsonError
// with the end of a sentence.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    JsonValue read() {
        JsonValue value = read_value();
        skip_space();
        if (!ended()) refuse();
        return value;
    }

private:
    using Kind = JsonValue::Kind;

    JsonValue read_value() {
        if (++value_count_ > max_values) throw JsonError("contains too many values");
        skip_space();
        switch (peek()) {
        case '{': return read_list(Kind::object, '}');
        case '[': return read_list(Kind::array, ']');
        case '"': return {.kind = Kind::text, .text = read_text()};
        case 't': return read_word("true", {.kind = Kind::flag, .flag = true});
        case 'f': return read_word("false", {.kind = Kind::flag, .flag = false});
        case 'n': return read_word("null", {});
        default: return {.kind = Kind::number, .text = read_number()};
        }
    }

    JsonValue read_list(Kind kind, char end) {
        if (depth_ == max_depth) throw JsonError("is nested too deeply");
        JsonValue list{.kind = kind};
        ++depth_;
        ++at_;
        skip_space();
        bool more = peek() != end;
        while (more) {
            if (kind == Kind::object) list.names.push_back(read_name());
            list.items.push_back(read_value());
            skip_space();
            more = skip(',');
        }
        take(end);
        --depth_;
        std::vector<std::string_view> names(list.names.begin(), list.names.end());
        std::sort(names.begin(), names.end());
        if (std::adjacent_find(names.begin(), names.end()) != names.end())
            throw JsonError("contains a duplicate name in one object");
        return list;
    }

    std::string read_name() {
        skip_space();
        if (peek() != '"') refuse();
        std::string name = read_text();
        skip_space();
        take(':');
        return name;
    }

    std::string read_text() {
        std::string text;
        ++at_;
        while (!ended() && text_[at_] != '"') {
            if (text_[at_] == '\\')
                read_escape(text);
            else
                read_character(text);
        }
        take('"');
        return text;
    }

    void read_character(std::string& to) {
        if (static_cast<unsigned char>(text_[at_]) < 0x20) refuse();
        const ui::CodePoint character = ui::decode(text_, at_);
        const bool cut = text_.size() - at_ < ui::encoded_size(text_[at_]);
        if (character.size == 0 && cut) at_ = text_.size();  // refuse() reports the truncation
        if (character.size == 0) refuse();
        to.append(text_.substr(at_, character.size));
        at_ += character.size;
    }

    void read_escape(std::string& to) {
        static constexpr std::string_view letters = "\"\\/bfnrt";
        static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        ++at_;
        if (peek() == 'u') return ui::append_utf8(to, read_code());
        const std::size_t found = letters.find(peek());
        if (found == letters.npos) refuse();
        to += meanings[found];
        ++at_;
    }

    // Reads one escape, or two if the first is a surrogate.
    char32_t read_code() {
        const char32_t value = read_four_digits();
        if (value < 0xd800 || value > 0xdfff) return value;
        if (value > 0xdbff) refuse();
        take('\\');
        if (peek() != 'u') refuse();
        const char32_t low = read_four_digits();
        if (low < 0xdc00 || low > 0xdfff) refuse();
        return 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
    }

    // Starts at the letter u.
    char32_t read_four_digits() {
        const std::string_view digits = text_.substr(++at_, 4);
        unsigned value = 0;
        const char* const stop =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
        const auto count = static_cast<std::size_t>(stop - digits.data());
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
        if (!is_digit(peek())) refuse();
        while (is_digit(peek())) ++at_;
    }

    JsonValue read_word(std::string_view word, JsonValue meaning) {
        for (const char letter : word) take(letter);
        return meaning;
    }

    void skip_space() {
        while (!ended() && is_space(text_[at_])) ++at_;
    }
    // Returns false if the next byte differs.
    bool skip(char byte) {
        const bool found = peek() == byte;
        if (found) ++at_;
        return found;
    }
    void take(char byte) {
        if (!skip(byte)) refuse();
    }

    bool ended() const { return at_ == text_.size(); }
    // Returns the next byte, or NUL at the end. JSON allows no NUL outside a text.
    char peek() const { return ended() ? '\0' : text_[at_]; }

    [[noreturn]] void refuse() const {
        throw JsonError(ended() ? "is truncated"
                                : "is not JSON at byte " + std::to_string(at_));
    }

    const std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::size_t value_count_ = 0;
};

// Returns the size of the string at the front of a valid text, with its quotation marks.
std::size_t string_size(std::string_view text) {
    std::size_t end = 1;
    while (text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    return end + 1;
}

// Appends the valid text, and returns the offset at which the byte at `mark` is now.
std::size_t append_indented(std::string& to, std::string_view text, std::size_t mark) {
    std::size_t found = text.npos;
    std::size_t depth = 0;
    bool opened = false;  // the last byte begins a list
    const auto break_line = [&] { to += "\n" + std::string(2 * depth, ' '); };
    for (std::size_t at = 0, size = 1; at < text.size(); at += size) {
        const char byte = text[at];
        size = byte == '"' ? string_size(text.substr(at)) : 1;
        if (is_space(byte)) continue;
        const bool closes = byte == '}' || byte == ']';
        if (closes) --depth;
        if (closes != opened) break_line();
        if (mark >= at && mark < at + size) found = to.size() + mark - at;
        to += text.substr(at, size);
        opened = byte == '{' || byte == '[';
        if (opened) ++depth;
        if (byte == ',') break_line();
        if (byte == ':') to += ' ';
    }
    return found;
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? nullptr
                                : &items[static_cast<std::size_t>(found - names.begin())];
}

std::optional<std::uint64_t> JsonValue::count() const {
    return kind == Kind::number ? parse_count(text) : std::nullopt;
}

std::optional<std::uint64_t> JsonValue::nanoseconds() const {
    if (kind != Kind::number) return std::nullopt;
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string decimals = text.substr(std::min(point + 1, text.size()));
    if (decimals.size() > 3) return std::nullopt;
    decimals.resize(3, '0');
    return parse_count(text.substr(0, point) + decimals);
}

JsonResult read_json(std::string_view text) {
    try {
        return {Reader(text).read(), ""};
    } catch (const JsonError& error) {
        return {std::nullopt, error.what()};
    }
}

std::optional<std::string> indented_json(std::string_view text, std::size_t& mark) {
    const std::optional<JsonValue> value = read_json(text).value;
    if (!value || value->items.empty()) return std::nullopt;
    std::string indented;
    mark = append_indented(indented, text, mark);
    return indented;
}

bool JsonFields::flag(std::string_view name) const {
    const JsonValue* const found = object_.find(name);
    return found && found->flag;
}

std::string JsonFields::text_or_empty(std::string_view name) const {
    const JsonValue* const found = object_.find(name);
    return found && found->kind == JsonValue::Kind::text ? found->text : "";
}

std::uint64_t JsonFields::count(std::string_view name, std::uint64_t min,
                                std::uint64_t max) const {
    const auto value = member(name, JsonValue::Kind::number, "a whole number").count();
    if (value && *value >= min && *value <= max) return *value;
    throw JsonError(in_quotes(name) + " is not a whole number from " + std::to_string(min) +
                    " to " + std::to_string(max));
}

ev::Duration JsonFields::time(std::string_view name, ev::Duration max) const {
    const auto value =
        member(name, JsonValue::Kind::number, "a time in microseconds").nanoseconds();
    if (!value) throw JsonError(in_quotes(name) + " is not a time in microseconds");
    if (*value > static_cast<std::uint64_t>(max.count()))
        throw JsonError(in_quotes(name) + " is too long");
    return ev::Duration(static_cast<std::int64_t>(*value));
}

const std::string& JsonFields::text(std::string_view name) const {
    return member(name, JsonValue::Kind::text, "a string").text;
}

const JsonValue& JsonFields::array(std::string_view name) const {
    return member(name, JsonValue::Kind::array, "an array");
}

JsonFields JsonFields::object(std::string_view name) const {
    return JsonFields(member(name, JsonValue::Kind::object, "an object"));
}

const JsonValue& JsonFields::member(std::string_view name, JsonValue::Kind kind,
                                    const char* expected) const {
    const JsonValue* const found = object_.find(name);
    if (!found) throw JsonError(in_quotes(name) + " is missing");
    if (found->kind != kind) throw JsonError(in_quotes(name) + " is not " + expected);
    return *found;
}

}  // namespace yodel
