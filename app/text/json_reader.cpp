#include "app/text/json_reader.hpp"

#include "ui/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace yodel {

namespace {

constexpr int max_depth = 32;                  // arrays and objects in each other
constexpr std::size_t max_values = 1'000'000;  // which take a hundred bytes each

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

int hex_digit(char byte) {
    if (is_digit(byte)) return byte - '0';
    if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
    return -1;
}

void append_utf8(std::string& to, char32_t value) {
    const auto byte = [&](char32_t bits) { to += static_cast<char>(bits); };
    const auto rest = [&](unsigned shift) { byte(0x80 | (value >> shift & 0x3f)); };
    if (value < 0x80) return byte(value);
    if (value < 0x800) {
        byte(0xc0 | value >> 6);
        return rest(0);
    }
    if (value < 0x10000) {
        byte(0xe0 | value >> 12);
    } else {
        byte(0xf0 | value >> 18);
        rest(12);
    }
    rest(6);
    rest(0);
}

bool any_twice(const std::vector<std::string>& names) {
    std::vector<std::string_view> sorted(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

// Each function reads one thing at the beginning of the rest of the text, and returns false
// where that is not there; the first trouble stays.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    JsonResult read() {
        JsonResult result;
        JsonValue value;
        if (read_value(value) && read_end())
            result.value = std::move(value);
        else
            result.trouble = trouble_;
        return result;
    }

private:
    bool read_value(JsonValue& value) {
        if (++values_ > max_values) return fail("has too many values");
        skip_space();
        switch (peek()) {
        case '{': return read_list(value, JsonValue::Kind::object, '}');
        case '[': return read_list(value, JsonValue::Kind::array, ']');
        case '"': value.kind = JsonValue::Kind::text; return read_text(value.text);
        case 't': return read_word("true") && set_flag(value, true);
        case 'f': return read_word("false") && set_flag(value, false);
        case 'n': return read_word("null");
        default: value.kind = JsonValue::Kind::number; return read_number(value.text);
        }
    }

    bool set_flag(JsonValue& value, bool flag) {
        value.kind = JsonValue::Kind::flag;
        value.flag = flag;
        return true;
    }

    bool read_list(JsonValue& value, JsonValue::Kind kind, char end) {
        if (depth_ == max_depth) return fail("is nested too deeply");
        value.kind = kind;
        ++depth_;
        ++at_;
        skip_space();
        if (peek() != end && !read_items(value, end)) return false;
        if (!read_byte(end)) return false;
        --depth_;
        return !any_twice(value.names) || fail("has a name twice in one object");
    }

    bool read_items(JsonValue& list, char end) {
        while (true) {
            if (list.kind == JsonValue::Kind::object && !read_name(list)) return false;
            if (!read_value(list.items.emplace_back())) return false;
            skip_space();
            if (peek() == end) return true;
            if (!read_byte(',')) return false;
        }
    }

    bool read_name(JsonValue& object) {
        skip_space();
        if (peek() != '"') return unexpected();
        if (!read_text(object.names.emplace_back())) return false;
        skip_space();
        return read_byte(':');
    }

    bool read_text(std::string& to) {
        ++at_;
        while (!ended() && text_[at_] != '"')
            if (!read_character(to)) return false;
        return read_byte('"');
    }

    bool read_character(std::string& to) {
        if (text_[at_] == '\\') return read_escape(to);
        if (static_cast<unsigned char>(text_[at_]) < 0x20) return unexpected();
        const ui::CodePoint character = ui::decode(text_, at_);
        const bool cut = text_.size() - at_ < ui::encoded_size(text_[at_]);
        if (character.size == 0) return cut ? cut_short() : unexpected();
        to.append(text_.substr(at_, character.size));
        at_ += character.size;
        return true;
    }

    bool read_escape(std::string& to) {
        static constexpr std::string_view letters = "\"\\/bfnrt";
        static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        ++at_;
        if (ended()) return cut_short();
        if (text_[at_] == 'u') return read_code(to);
        const std::size_t found = letters.find(text_[at_]);
        if (found == letters.npos) return unexpected();
        to += meanings[found];
        ++at_;
        return true;
    }

    // A character above 16 bits is two escapes, its surrogates.
    bool read_code(std::string& to) {
        char32_t value = 0;
        if (!read_four_digits(value)) return false;
        if (value >= 0xdc00 && value <= 0xdfff) return unexpected();
        if (value < 0xd800 || value > 0xdbff) {
            append_utf8(to, value);
            return true;
        }
        char32_t low = 0;
        if (!read_byte('\\')) return false;
        if (peek() != 'u') return unexpected();
        if (!read_four_digits(low)) return false;
        if (low < 0xdc00 || low > 0xdfff) return unexpected();
        append_utf8(to, 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00));
        return true;
    }

    // After the letter u, on which it stands.
    bool read_four_digits(char32_t& value) {
        ++at_;
        for (int i = 0; i < 4; ++i) {
            const int digit = ended() ? -1 : hex_digit(text_[at_]);
            if (digit < 0) return unexpected();
            value = value * 16 + static_cast<char32_t>(digit);
            ++at_;
        }
        return true;
    }

    bool read_number(std::string& to) {
        const std::size_t begin = at_;
        if (peek() == '-') ++at_;
        if (peek() == '0')
            ++at_;
        else if (!read_digits())
            return false;
        if (peek() == '.') {
            ++at_;
            if (!read_digits()) return false;
        }
        if (!read_exponent()) return false;
        to = text_.substr(begin, at_ - begin);
        return true;
    }

    bool read_exponent() {
        if (peek() != 'e' && peek() != 'E') return true;
        ++at_;
        if (peek() == '+' || peek() == '-') ++at_;
        return read_digits();
    }

    bool read_digits() {
        if (!is_digit(peek())) return unexpected();
        while (is_digit(peek())) ++at_;
        return true;
    }

    bool read_word(std::string_view word) {
        for (const char letter : word)
            if (!read_byte(letter)) return false;
        return true;
    }

    bool read_byte(char byte) {
        if (ended() || text_[at_] != byte) return unexpected();
        ++at_;
        return true;
    }

    bool read_end() {
        skip_space();
        return ended() || unexpected();
    }

    void skip_space() {
        while (!ended() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
    }

    bool ended() const { return at_ == text_.size(); }
    // A zero byte stands for the end: no JSON has one outside a text.
    char peek() const { return ended() ? '\0' : text_[at_]; }

    bool unexpected() {
        return ended() ? cut_short() : fail("is not JSON at byte " + std::to_string(at_));
    }
    bool cut_short() { return fail("is cut short"); }
    bool fail(const std::string& trouble) {
        if (trouble_.empty()) trouble_ = trouble;
        return false;
    }

    const std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::size_t values_ = 0;
    std::string trouble_;
};

std::optional<std::uint64_t> whole_number(std::string_view digits) {
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, number);
    if (code != std::errc() || stop != end) return std::nullopt;
    return number;
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? nullptr
                                : &items[static_cast<std::size_t>(found - names.begin())];
}

std::optional<std::uint64_t> JsonValue::count() const {
    return kind == Kind::number ? whole_number(text) : std::nullopt;
}

std::optional<std::uint64_t> JsonValue::nanoseconds() const {
    if (kind != Kind::number) return std::nullopt;
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string decimals = text.substr(std::min(point + 1, text.size()));
    if (decimals.size() > 3) return std::nullopt;
    decimals.resize(3, '0');
    return whole_number(text.substr(0, point) + decimals);
}

// This uses strtod because std::from_chars would need libm, which is not loaded otherwise.
std::optional<double> JsonValue::fraction() const {
    if (kind != Kind::number) return std::nullopt;
    const double number = std::strtod(text.c_str(), nullptr);
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

JsonResult read_json(std::string_view text) { return Reader(text).read(); }

}  // namespace yodel
