// Reads JSON, one value from one text, strictly by RFC 8259: no comments, no trailing commas,
// no byte that is not UTF-8, no name twice in an object. A number keeps its digits until it is
// read as a count, a time or a fraction.
//
// The text may come from anywhere: its depth and its number of values are bounded, and time is
// proportional to its length. A file of many objects is read line by line, a text for each.
#pragma once

#include "ev/time.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// A value, which owns all of its text.
struct JsonValue {
    enum class Kind { null, flag, number, text, array, object };

    Kind kind = Kind::null;
    std::string text = {};  // a text with its escapes decoded, or the digits of a number
    bool flag = false;
    std::vector<JsonValue> items = {};    // elements of an array or an object
    std::vector<std::string> names = {};  // names[i] is the name of items[i] in an object

    // Returns the member of an object; null if there is none, or this is not an object.
    const JsonValue* find(std::string_view name) const;
    // Each of these is none if the value is of another kind, or out of range.
    std::optional<std::uint64_t> count() const;  // a whole number, written without an exponent
    // The nanoseconds in a number of microseconds with at most three decimals, exactly.
    std::optional<std::uint64_t> nanoseconds() const;
    std::optional<double> fraction() const;  // any number, rounded to a double

    bool operator==(const JsonValue&) const = default;
};

struct JsonResult {
    std::optional<JsonValue> value;
    // The error in the text, as the end of a sentence: "is cut short". Empty if there is a
    // value.
    std::string trouble;
};

// Reads a text that contains one value, and nothing else but space around it.
JsonResult read_json(std::string_view text);

// An error in the members of an object, as one clause.
struct JsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// No sum of counts from files overflows.
inline constexpr std::uint64_t max_count = 10'000'000'000'000;

// The members of an object, each checked when it is read. Except for the first two functions,
// all throw JsonError if the member is missing, of another kind, or out of range. The object
// outlives this.
class JsonFields {
public:
    explicit JsonFields(const JsonValue& object) : object_(object) {}

    bool has(std::string_view name) const { return object_.find(name) != nullptr; }
    std::string word(std::string_view name) const;  // a text; empty if there is none

    std::uint64_t count(std::string_view name, std::uint64_t min = 0,
                        std::uint64_t max = max_count) const;
    std::uint64_t nanoseconds(std::string_view name) const;
    ev::Duration time(std::string_view name, ev::Duration max = ev::Duration::max()) const;
    double fraction(std::string_view name, double max) const;  // at least 0
    const std::string& text(std::string_view name) const;
    const JsonValue& array(std::string_view name) const;
    JsonFields object(std::string_view name) const;

private:
    const JsonValue& member(std::string_view name, JsonValue::Kind kind,
                            const char* expected) const;

    const JsonValue& object_;
};

}  // namespace yodel
