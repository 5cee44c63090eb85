#include "app/run/generated_source.hpp"

#include <algorithm>
#include <charconv>

namespace yodel {

namespace {

constexpr std::size_t check_letters = 2;

// Both check letters are sums modulo a prime that exceeds the number of places and their values
// (0 to 10). A change in one place changes both sums, and changes in two places change at least
// one.
constexpr unsigned modulus = 23;

}  // namespace

GeneratedText::GeneratedText(std::size_t size) : text_(size, ' ') { fill(0, size); }

std::string_view GeneratedText::text(std::uint64_t number) {
    char all[20];  // enough for the largest number
    const char* const end = std::to_chars(all, all + sizeof all, number).ptr;
    const std::size_t digits = std::min(static_cast<std::size_t>(end - all), text_.size());
    std::copy(end - digits, end, text_.begin());
    fill(digits, std::max(digits_, digits));
    digits_ = digits;
    put_checks();
    return text_;
}

void GeneratedText::fill(std::size_t begin, std::size_t end) {
    static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
    for (std::size_t i = begin; i < end; ++i) text_[i] = letters[i % letters.size()];
}

// Places without a digit have the value 0.
void GeneratedText::put_checks() {
    if (digits_ + check_letters > text_.size()) return fill(digits_, text_.size());
    unsigned sum = 0;
    unsigned weighted = 0;
    for (unsigned place = 0; place < digits_; ++place) {
        const auto value = static_cast<unsigned>(text_[place] - '0') + 1;
        sum += value;
        weighted += value * (place + 1);
    }
    text_[text_.size() - 2] = static_cast<char>('a' + sum % modulus);
    text_[text_.size() - 1] = static_cast<char>('a' + weighted % modulus);
}

}  // namespace yodel
