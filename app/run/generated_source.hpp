// Generated messages, numbered from 1. The connections of one thread share a source.
#pragma once

#include "app/run/source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace yodel {

// The texts of generated messages: printable, without the delimiter of any framing, and
// different for consecutive numbers if the size allows.
//
// A text is a number, letters, and two check letters at its end. Two such texts differ in at
// least three bytes, so that a text with one damaged byte equals no other text, and is still
// nearest to its own. If the size leaves no space for the check letters behind the number, they
// are left out: damage may then turn a text into another one.
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

class GeneratedSource final : public Source {
public:
    // `count` messages of `size` bytes.
    GeneratedSource(std::size_t size, std::uint64_t count) : text_(size), count_(count) {}

    std::optional<Outgoing> next() override {
        if (over()) return std::nullopt;
        ++made_;
        return Outgoing{.payload = text_.text(made_)};
    }
    bool over() const override { return made_ == count_; }

private:
    GeneratedText text_;
    const std::uint64_t count_;
    std::uint64_t made_ = 0;
};

}  // namespace yodel
