// Decodes UTF-8, whatever the locale's encoding. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ui {

struct CodePoint {
    char32_t value;
    std::size_t size;  // bytes of its encoding; 0: not UTF-8
};

// Returns the size of a character that begins with this byte; 0: no character does.
std::size_t encoded_size(char lead);

// Returns the character at `at`, which must be less than bytes.size(). Incomplete and
// over-long encodings, surrogates and values beyond Unicode are not UTF-8.
CodePoint decode(std::string_view bytes, std::size_t at);

// Appends the encoding of a character. Surrogates and values beyond Unicode are encoded in the
// same way, but the result is not valid UTF-8.
void append_utf8(std::string& to, char32_t value);

// Checks a text that arrives in pieces. A character may be split between pieces.
class Utf8Check {
public:
    // Returns false if the text so far cannot be the beginning of a UTF-8 text. Must not be
    // called again after that.
    bool add(std::string_view bytes);
    // True if the text ends with a whole character.
    bool complete() const { return incomplete_.empty(); }

private:
    std::string incomplete_;  // an incomplete character at the end of the text so far
};

bool is_utf8(std::string_view bytes);

}  // namespace ui
