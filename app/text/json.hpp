// Writes JSON objects, each on one line.
#pragma once

#include "ev/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// Returns the text as a JSON string with its quotation marks. The text may contain any bytes.
// Invalid UTF-8, and characters that could command a terminal, are replaced as by
// ui::printable(), so a reader cannot restore them.
std::string json_string(std::string_view text);

// Returns the text as a JSON string from which a reader restores every byte; none if it is not
// UTF-8. Escapes characters that could command a terminal or are invisible.
std::optional<std::string> exact_json_string(std::string_view text);

class JsonArray;

// An object whose members keep the order in which they were added. Names must be unique.
class JsonObject {
public:
    JsonObject& text(std::string_view name, std::string_view value) {
        return add(name, json_string(value));
    }
    // Adds any bytes so that a reader can restore them: as text or, if they are not UTF-8, as
    // base64 in a member with "_base64" added to its name.
    JsonObject& bytes(std::string_view name, std::string_view value);
    JsonObject& number(std::string_view name, std::uint64_t value) {
        return add(name, std::to_string(value));
    }
    JsonObject& flag(std::string_view name, bool value) {
        return add(name, value ? "true" : "false");
    }
    JsonObject& object(std::string_view name, const JsonObject& value) {
        return add(name, value.str());
    }
    JsonObject& array(std::string_view name, const JsonArray& value);
    // Adds microseconds with three decimals, exactly.
    JsonObject& time(std::string_view name, ev::Duration value);
    JsonObject& nanoseconds(std::string_view name, std::uint64_t value);
    // Adds a finite number, rounded to three decimals.
    JsonObject& decimal(std::string_view name, double value);

    std::string str() const { return "{" + members_ + "}"; }

private:
    JsonObject& add(std::string_view name, const std::string& value);

    std::string members_;
};

class JsonArray {
public:
    JsonArray& number(std::uint64_t value) { return add(std::to_string(value)); }
    JsonArray& text(std::string_view value) { return add(json_string(value)); }
    JsonArray& time(ev::Duration value);  // as in an object
    JsonArray& object(const JsonObject& value) { return add(value.str()); }
    JsonArray& array(const JsonArray& value) { return add(value.str()); }

    std::string str() const { return "[" + elements_ + "]"; }

private:
    JsonArray& add(const std::string& value);

    std::string elements_;
};

}  // namespace yodel
