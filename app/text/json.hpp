// Writes JSON: objects on one line.
#pragma once

#include "ev/loop.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace yodel {

// Returns the text as a JSON string, quotation marks included. The text may hold any bytes:
// those that are not UTF-8, and those that could command a terminal, are made visible as
// ui::printable() does, so a reader cannot restore them.
std::string json_string(std::string_view text);

// An object whose members keep the order in which they were added. Names must be unique.
class JsonObject {
public:
    JsonObject& text(std::string_view name, std::string_view value);
    JsonObject& number(std::string_view name, std::uint64_t value);
    JsonObject& flag(std::string_view name, bool value);
    JsonObject& object(std::string_view name, const JsonObject& value);
    // Adds a number of microseconds with three decimals.
    JsonObject& time(std::string_view name, ev::Duration value);

    std::string str() const { return "{" + members_ + "}"; }

private:
    JsonObject& add(std::string_view name, const std::string& value);

    std::string members_;
};

}  // namespace yodel
