// Reads one JSON value from a text, strictly by RFC 8259: no comments, trailing commas, invalid
// UTF-8 or duplicate names. A number is stored as its digits until it is read as a count
// or a time.
//
// The text need not be trusted, because nesting and the number of values are limited, and
// reading takes linear time. A file with one object per line is read line by line.
#pragma once

#include "ev/time.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// A value. It owns its text.
struct JsonValue {
    enum class Kind { null, flag, number, text, array, object };

    Kind kind = Kind::null;
    std::string text = {};  // decoded text, or the digits of a number
    bool flag = false;
    std::vector<JsonValue> items = {};    // elements of an array or an object
    std::vector<std::string> names = {};  // names[i] is the name of items[i] in an object

    // Returns the member with this name; null if there is none, or this is not an object.
    const JsonValue* find(std::string_view name) const;
    // The next two return none if the value is of another kind or out of range.
    std::optional<std::uint64_t> count() const;  // whole number without an exponent
    // Converts microseconds with at most three decimals to nanoseconds, exactly.
    std::optional<std::uint64_t> nanoseconds() const;

    bool operator==(const JsonValue&) const = default;
};

struct JsonResult {
    std::optional<JsonValue> value;
    // Error as the end of a sentence, such as "is truncated"; empty if there is a value.
    std::string trouble;
};

// Reads a text that contains one value, perhaps surrounded by white space.
JsonResult read_json(std::string_view text);

// Returns the text of an array or object with each element on a line of its own, and with
// numbers and strings unchanged. Returns none if the text is anything else, or has no elements.
// `mark`: the offset of a byte; becomes its offset in the result, or npos if it is omitted.
std::optional<std::string> indented_json(std::string_view text, std::size_t& mark);

// An error in the members of an object, as one clause.
struct JsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Maximum of a count in a file, so that no sum overflows.
inline constexpr std::uint64_t max_count = 10'000'000'000'000;

// Reads and checks the members of an object, which must outlive this. All functions but has(),
// flag() and text_or_empty() throw JsonError if the member is missing, of another kind, or out
// of range.
class JsonFields {
public:
    explicit JsonFields(const JsonValue& object) : object_(object) {}

    bool has(std::string_view name) const { return object_.find(name) != nullptr; }
    bool flag(std::string_view name) const;                  // true if the member is true
    std::string text_or_empty(std::string_view name) const;  // a text; empty if there is none

    std::uint64_t count(std::string_view name, std::uint64_t min = 0,
                        std::uint64_t max = max_count) const;
    ev::Duration time(std::string_view name, ev::Duration max = ev::Duration::max()) const;
    const std::string& text(std::string_view name) const;
    const JsonValue& array(std::string_view name) const;
    JsonFields object(std::string_view name) const;

private:
    const JsonValue& member(std::string_view name, JsonValue::Kind kind,
                            const char* expected) const;

    const JsonValue& object_;
};

}  // namespace yodel
