// A text to search for in any bytes. Case matters only if the text contains capitals. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ui {

class Needle {
public:
    Needle() = default;  // empty: matches nothing
    explicit Needle(std::string text);

    bool empty() const { return text_.empty(); }
    bool in(std::string_view bytes) const;

    // A run of bytes covered by matches, which may overlap.
    struct Run {
        std::size_t begin;
        std::size_t end;

        bool operator==(const Run&) const = default;
    };
    std::vector<Run> runs(std::string_view bytes) const;  // in order

private:
    std::string text_;
    bool case_sensitive_ = false;
};

// Tests bytes or cells, in ascending order, against runs.
class Marks {
public:
    explicit Marks(std::vector<Needle::Run> runs) : runs_(std::move(runs)) {}

    // True if a run contains one of the bytes [begin, end).
    bool touch(std::size_t begin, std::size_t end);

private:
    std::vector<Needle::Run> runs_;
    std::size_t at_ = 0;  // earlier runs are done
};

}  // namespace ui
