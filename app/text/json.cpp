#include "app/text/json.hpp"

#include "ui/text.hpp"

#include <cstdio>
#include <limits>

namespace yodel {

namespace {

// Returns nanoseconds as microseconds with three decimals.
std::string microseconds(std::uint64_t nanoseconds) {
    std::string decimals = std::to_string(nanoseconds % 1000);
    decimals.insert(0, 3 - decimals.size(), '0');
    return std::to_string(nanoseconds / 1000) + "." + decimals;
}

std::string microseconds(ev::Duration duration) {
    const std::int64_t count = duration.count();
    const auto magnitude = static_cast<std::uint64_t>(count < 0 ? -count : count);
    return (count < 0 ? "-" : "") + microseconds(magnitude);
}

// Appends the escape of a character, or of its two surrogates if it exceeds 16 bits.
void append_escape(std::string& to, char32_t character) {
    char escape[16];
    if (character >= 0x10000) {
        append_escape(to, 0xd800 + (character - 0x10000) / 0x400);
        character = 0xdc00 + character % 0x400;
    }
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(character));
    to += escape;
}

}  // namespace

std::optional<std::string> exact_json_string(std::string_view text) {
    std::string quoted = "\"";
    while (!text.empty()) {
        const ui::CodePoint next = ui::decode(text, 0);
        if (next.size == 0) return std::nullopt;
        const std::string_view character = text.substr(0, next.size);
        if (character == "\"" || character == "\\") quoted += '\\';
        const bool plain = character.size() == 1 ? character[0] >= ' ' && character[0] <= '~'
                                                 : ui::printable(character) == character;
        if (plain)
            quoted += character;
        else
            append_escape(quoted, next.value);
        text.remove_prefix(next.size);
    }
    return quoted + '"';
}

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char byte : ui::printable(text)) {
        if (byte == '"' || byte == '\\') quoted += '\\';
        quoted += byte;
    }
    return quoted + '"';
}

JsonObject& JsonObject::bytes(std::string_view name, std::string_view value) {
    if (const auto exact = exact_json_string(value)) return add(name, *exact);
    return add(std::string(name) + "_base64", '"' + ui::base64(value) + '"');
}

JsonObject& JsonObject::array(std::string_view name, const JsonArray& value) {
    return add(name, value.str());
}

JsonObject& JsonObject::time(std::string_view name, ev::Duration value) {
    return add(name, microseconds(value));
}

JsonObject& JsonObject::nanoseconds(std::string_view name, std::uint64_t value) {
    return add(name, microseconds(value));
}

JsonObject& JsonObject::decimal(std::string_view name, double value) {
    char digits[std::numeric_limits<double>::max_exponent10 + 8];
    std::snprintf(digits, sizeof digits, "%.3f", value);
    return add(name, digits);
}

JsonObject& JsonObject::add(std::string_view name, const std::string& value) {
    if (!members_.empty()) members_ += ',';
    members_ += json_string(name) + ':' + value;
    return *this;
}

JsonArray& JsonArray::time(ev::Duration value) { return add(microseconds(value)); }

JsonArray& JsonArray::add(const std::string& value) {
    if (!elements_.empty()) elements_ += ',';
    elements_ += value;
    return *this;
}

}  // namespace yodel
