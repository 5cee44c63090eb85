#include "ui/needle.hpp"

#include "ui/utf8.hpp"

#include <wctype.h>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

std::size_t size_in_utf8(char32_t value) {
    if (value < 0x80) return 1;
    if (value < 0x800) return 2;
    return value < 0x10000 ? 3 : 4;
}

// Writes a character, whose encoding takes `size` bytes, over the bytes at `at`.
void overwrite(std::string& text, std::size_t at, std::size_t size, char32_t value) {
    for (std::size_t i = size - 1; i > 0; --i) {
        text[at + i] = static_cast<char>(0x80 | (value & 0x3f));
        value >>= 6;
    }
    const unsigned mark = size == 1 ? 0 : (0xf00U >> size) & 0xffU;
    text[at] = static_cast<char>(mark | value);
}

// Converts ASCII itself, for speed: one key press may search megabytes, mostly of ASCII, whose
// lower case is the same in all locales.
char32_t lower_case(char32_t value) {
    if (value >= 0x80) return static_cast<char32_t>(::towlower(static_cast<wint_t>(value)));
    return value >= 'A' && value <= 'Z' ? value - 'A' + 'a' : value;
}

// Returns the text in lower case with unchanged offsets: a character whose lower case has
// another size stays as it is.
std::string in_lower_case(std::string_view bytes) {
    std::string text(bytes);
    for (std::size_t at = 0; at < bytes.size();) {
        const CodePoint point = decode(bytes, at);
        const char32_t small = lower_case(point.value);
        if (point.size > 0 && small != point.value && size_in_utf8(small) == point.size)
            overwrite(text, at, point.size, small);
        at += point.size > 0 ? point.size : 1;
    }
    return text;
}

}  // namespace

Needle::Needle(std::string text)
    : text_(std::move(text)), case_sensitive_(in_lower_case(text_) != text_) {}

bool Needle::in(std::string_view bytes) const {
    if (empty()) return false;
    if (case_sensitive_) return bytes.find(text_) != bytes.npos;
    return in_lower_case(bytes).find(text_) != bytes.npos;
}

// Matches may overlap. Each byte is marked once, so that many of them cost no more.
std::vector<char> Needle::marks(std::string_view bytes) const {
    if (empty()) return {};
    const std::string searched = case_sensitive_ ? std::string(bytes) : in_lower_case(bytes);
    std::vector<char> marks(bytes.size());
    std::size_t end = 0;  // the end of the last match
    for (std::size_t at = searched.find(text_); at != searched.npos;
         at = searched.find(text_, at + 1)) {
        for (std::size_t i = std::max(at, end); i < at + text_.size(); ++i) marks[i] = 1;
        end = at + text_.size();
    }
    return marks;
}

}  // namespace ui
