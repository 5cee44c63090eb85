// Generates messages, numbered from 1. The connections of one thread share a source.
#pragma once

#include "app/run/source.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace yodel {

// Generates the texts of messages. A text is printable, contains no delimiter of any framing,
// and differs from the previous text if its size allows.
//
// A text consists of a number, letters, and two check letters. Two such texts differ in at
// least three bytes, so a text with one damaged byte is still closest to the original. If the
// check letters do not fit, they are omitted, and damage may turn one text into another.
class GeneratedText {
public:
    // Minimum size that holds any number and the check letters.
    static constexpr std::size_t min_checked_size = 22;

    explicit GeneratedText(std::size_t size);  // bytes

    // Returns the text for a number: its last digits, letters, and the check letters. The view
    // is valid until the next call. Does not allocate.
    std::string_view text(std::uint64_t number);

private:
    void fill(std::size_t begin, std::size_t end);
    void put_checks();

    std::string text_;
    std::size_t digits_ = 0;  // at the front of the text
};

class GeneratedSource final : public Source {
public:
    explicit GeneratedSource(std::size_t size) : text_(size) {}  // bytes

    std::optional<Outgoing> next() override {
        if (over()) return std::nullopt;
        ++made_count_;
        return Outgoing{.payload = text_.text(made_count_)};
    }
    bool over() const override { return made_count_ == end_count_; }
    void end_after(std::uint64_t count) override { end_count_ = made_count_ + count; }

private:
    GeneratedText text_;
    std::uint64_t made_count_ = 0;
    std::uint64_t end_count_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace yodel
