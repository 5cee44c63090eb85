// A text to search for in any bytes. Case matters only if the text contains capitals. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

class Needle {
public:
    Needle() = default;  // empty: matches nothing
    explicit Needle(std::string text);

    bool empty() const { return text_.empty(); }
    bool in(std::string_view bytes) const;

    // Returns a mark for each byte: 1 if a match covers it, else 0. Empty if the needle is. Not
    // bits, because reading those takes longer.
    std::vector<char> marks(std::string_view bytes) const;

private:
    std::string text_;
    bool case_sensitive_ = false;
};

// True if one of the bytes [begin, end) is marked.
inline bool any_marked(const std::vector<char>& marks, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && i < marks.size(); ++i)
        if (marks[i] != 0) return true;
    return false;
}

}  // namespace ui
