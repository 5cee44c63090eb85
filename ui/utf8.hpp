// Decodes UTF-8, whatever the locale's encoding. Pure.
#pragma once

#include <cstddef>
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

}  // namespace ui
