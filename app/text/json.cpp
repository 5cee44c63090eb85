#include "app/text/json.hpp"

#include "ui/text.hpp"

#include <cstdio>

namespace yodel {

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

JsonObject& JsonObject::time(std::string_view name, ev::Duration value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3f",
                  std::chrono::duration<double, std::micro>(value).count());
    return add(name, digits);
}

JsonObject& JsonObject::add(std::string_view name, const std::string& value) {
    if (!members_.empty()) members_ += ',';
    members_ += json_string(name) + ':' + value;
    return *this;
}

}  // namespace yodel
