// Reads JSON, one value from one text, strictly as RFC 8259 has it: no comments, no trailing
// commas, no byte that is not UTF-8, no name twice in an object. Nothing of the text is
// guessed: a number keeps its digits until somebody asks for it as a count, a time or a
// fraction.
//
// The text may come from anywhere: its depth and its number of values are bounded, and time is
// proportional to its length. A file of many objects is read line by line, a text for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// A value, which owns all of its text.
struct JsonValue {
    enum class Kind { null, flag, number, text, array, object };

    Kind kind = Kind::null;
    std::string text;  // of a text, without quotation marks and escapes; the digits of a number
    bool flag = false;
    std::vector<JsonValue> items;    // of an array or an object
    std::vector<std::string> names;  // of an object: names[i] is that of items[i]

    // Returns the member of an object; null if there is none, or this is no object.
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
    // What is wrong with the text, as the end of a sentence: "is cut short". Empty if there is
    // a value.
    std::string trouble;
};

// Reads a text that holds one value, and nothing else but space around it.
JsonResult read_json(std::string_view text);

}  // namespace yodel
