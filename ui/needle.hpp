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

    // Returns for each byte if a match covers it. Empty if the needle is.
    std::vector<bool> marks(std::string_view bytes) const;

private:
    std::string text_;
    bool case_sensitive_ = false;
};

// True if one of the bytes [begin, end) is marked.
bool any_marked(const std::vector<bool>& marks, std::size_t begin, std::size_t end);

}  // namespace ui
