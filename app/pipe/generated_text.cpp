#include "app/pipe/generated_text.hpp"

#include <algorithm>
#include <charconv>

namespace yodel {

GeneratedText::GeneratedText(std::size_t size) : text_(size, ' ') { fill(0, size); }

std::string_view GeneratedText::text(std::uint64_t number) {
    char all[20];  // digits that the greatest number has
    const char* const end = std::to_chars(all, all + sizeof all, number).ptr;
    const std::size_t digits = std::min(static_cast<std::size_t>(end - all), text_.size());
    std::copy(end - digits, end, text_.begin());
    fill(digits, digits_);
    digits_ = digits;
    return text_;
}

void GeneratedText::fill(std::size_t begin, std::size_t end) {
    static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
    for (std::size_t i = begin; i < end; ++i) text_[i] = letters[i % letters.size()];
}

}  // namespace yodel
