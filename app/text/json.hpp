// JSON, as much of it as is written here.
#pragma once

#include "ev/loop.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace yodel {

// The text in quotation marks. It may hold any bytes: those that are not UTF-8, and those that
// could command a terminal, are made visible.
std::string json_string(std::string_view text);

// An object on one line, its members in the order in which they are added.
class JsonObject {
public:
    JsonObject& text(std::string_view name, std::string_view value);
    JsonObject& number(std::string_view name, std::uint64_t value);
    JsonObject& flag(std::string_view name, bool value);
    JsonObject& object(std::string_view name, const JsonObject& value);
    // As a number of microseconds, to the nanosecond.
    JsonObject& time(std::string_view name, ev::Duration value);

    std::string str() const { return "{" + members_ + "}"; }

private:
    JsonObject& add(std::string_view name, const std::string& value);

    std::string members_;
};

}  // namespace yodel
