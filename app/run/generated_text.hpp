// The texts of generated messages: printable, without the delimiter of any framing, and
// different for consecutive numbers if the size allows.
//
// A text is a number, letters, and two check letters at its end.  Two such texts differ in at
// least three bytes, so that one whose single byte was damaged is no other text, and is still
// nearest to its own. Where the size leaves no space for the check letters behind the number,
// they are left out: damage may then turn a text into another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace yodel {

class GeneratedText {
public:
    // A text of this many bytes holds the whole of each number, and the check letters.
    static constexpr std::size_t min_checked_size = 22;

    explicit GeneratedText(std::size_t size);  // bytes

    // Returns the text for a number: its last digits, letters behind them, and the check
    // letters. The view is valid until the next call. Nothing is allocated.
    std::string_view text(std::uint64_t number);

private:
    void fill(std::size_t begin, std::size_t end);
    void put_checks();

    std::string text_;
    std::size_t digits_ = 0;  // at the front of the text
};

}  // namespace yodel
