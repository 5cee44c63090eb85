// Characters out of UTF-8, whatever the locale's encoding. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace ui {

struct CodePoint {
    char32_t value;
    std::size_t size;  // bytes of its encoding; 0: these bytes are not UTF-8
};

// The bytes of a character that begins with this one; 0: none does.
std::size_t encoded_size(char lead);

// The character at `at`, which is below the size of the bytes. One that is cut short, longer
// than it need be, a surrogate or beyond Unicode is not UTF-8.
CodePoint decode(std::string_view bytes, std::size_t at);

}  // namespace ui
