// Writes JSON objects, each on one line, and reads JSON values.
//
// The reader follows RFC 8259 strictly: it accepts no comments, trailing commas or invalid
// UTF-8. It also refuses duplicate names. The text need not be trusted, because nesting and the
// number of values are limited, and reading takes at most n log n time. The caller splits a
// file with one object per line.
#pragma once

#include "app/text/units.hpp"
#include "ev/time.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// --- Writing

// Returns the text as a JSON string with its quotation marks. The text may contain any bytes.
// Invalid UTF-8, and characters that could command a terminal, are replaced as by
// ui::printable(), so a reader cannot restore them.
std::string json_string(std::string_view text);

// Returns microseconds with three decimals, exactly.
std::string json_microseconds(ev::Duration duration);

// An object whose members keep the order in which they were added. Names must be unique, and
// consist of characters that need no escape.
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
    JsonObject& array(std::string_view name, const std::vector<std::string>& elements) {
        return add(name, "[" + join(elements, ",") + "]");  // each element is JSON
    }
    JsonObject& time(std::string_view name, ev::Duration value) {
        return add(name, json_microseconds(value));
    }
    // Adds a finite number, rounded to three decimals.
    JsonObject& decimal(std::string_view name, double value);

    std::string str() const { return "{" + members_ + "}"; }

private:
    JsonObject& add(std::string_view name, std::string_view json);

    std::string members_;
};

// --- Reading

// Invalid JSON, or an unusable member of an object. what() is one clause.
struct JsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Maximum of a count in a file, so that no sum overflows.
inline constexpr std::uint64_t max_count = 10'000'000'000'000;

// Owns its text.
struct JsonValue {
    enum class Kind { null, flag, number, text, array, object };

    Kind kind = Kind::null;
    std::string content = {};  // decoded text, a number as written, "true", "false" or "null"
    std::vector<JsonValue> items = {};    // elements of an array or an object
    std::vector<std::string> names = {};  // names[i] is the name of items[i] in an object

    // These functions read the members of an object.
    const JsonValue* find(std::string_view name) const;  // null if there is none
    bool has(std::string_view name) const { return find(name) != nullptr; }
    bool flag(std::string_view name) const;                  // true if the member is true
    std::string text_or_empty(std::string_view name) const;  // a text; empty if there is none
    // The others throw JsonError if the member is missing, of another kind, or out of range.
    // The error text names the kind by `expected`, such as "an array".
    const JsonValue& get(std::string_view name, Kind wanted, const char* expected) const;
    const std::string& text(std::string_view name) const {
        return get(name, Kind::text, "a string").content;
    }
    // Reads what JsonObject::bytes() has written.
    std::string bytes(const std::string& name) const;
    // Reads a whole number without an exponent.
    std::uint64_t count(std::string_view name, std::uint64_t min = 0,
                        std::uint64_t max = max_count) const;
    // Reads microseconds with at most three decimals, exactly. Accepts at most a year.
    ev::Duration time(std::string_view name) const;

    bool operator==(const JsonValue&) const = default;
};

// Reads a text that contains one value, perhaps surrounded by white space. Throws JsonError,
// for example "the line is truncated".
JsonValue read_json(std::string_view text);

// Returns the text of an array or object with each element on a line of its own, and with
// numbers and strings unchanged. Returns none if the text is anything else, or has no elements.
// Changes `mark`, the offset of a byte, to the byte's offset in the result, or to npos if the
// result omits the byte.
std::optional<std::string> indented_json(std::string_view text, std::size_t& mark);

}  // namespace yodel
