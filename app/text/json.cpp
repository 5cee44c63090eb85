#include "app/text/json.hpp"

#include "ui/text.hpp"

#include <cstdio>
#include <limits>

namespace yodel {

namespace {

// Nanoseconds as microseconds.
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

}  // namespace

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char byte : ui::printable(text)) {
        if (byte == '"' || byte == '\\') quoted += '\\';
        quoted += byte;
    }
    return quoted + '"';
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
    return add(name, json_string(value));
}

JsonObject& JsonObject::number(std::string_view name, std::uint64_t value) {
    return add(name, std::to_string(value));
}

JsonObject& JsonObject::flag(std::string_view name, bool value) {
    return add(name, value ? "true" : "false");
}

JsonObject& JsonObject::object(std::string_view name, const JsonObject& value) {
    return add(name, value.str());
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

JsonObject& JsonObject::fraction(std::string_view name, double value) {
    char digits[std::numeric_limits<double>::max_exponent10 + 8];
    std::snprintf(digits, sizeof digits, "%.3f", value);
    return add(name, digits);
}

JsonObject& JsonObject::add(std::string_view name, const std::string& value) {
    if (!members_.empty()) members_ += ',';
    members_ += json_string(name) + ':' + value;
    return *this;
}

JsonArray& JsonArray::number(std::uint64_t value) { return add(std::to_string(value)); }

JsonArray& JsonArray::time(ev::Duration value) { return add(microseconds(value)); }

JsonArray& JsonArray::object(const JsonObject& value) { return add(value.str()); }

JsonArray& JsonArray::array(const JsonArray& value) { return add(value.str()); }

JsonArray& JsonArray::add(const std::string& value) {
    if (!elements_.empty()) elements_ += ',';
    elements_ += value;
    return *this;
}

}  // namespace yodel
