// The texts of generated messages: printable, without the delimiter of any framing, and
// different for consecutive numbers if the size allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace yodel {

class GeneratedText {
public:
    explicit GeneratedText(std::size_t size);  // bytes

    // Returns the text for a number: its last digits, and letters behind them. The view is
    // valid until the next call. Nothing is allocated.
    std::string_view text(std::uint64_t number);

private:
    void fill(std::size_t begin, std::size_t end);

    std::string text_;
    std::size_t digits_ = 0;  // at the front of the text
};

}  // namespace yodel
