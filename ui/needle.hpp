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
    bool is_in(std::string_view bytes) const;

    // Returns a mark for each byte: 1 if a match covers it, else 0. Returns no marks for an
    // empty needle. A vector<bool> would be slower to read.
    std::vector<char> marks(std::string_view bytes) const;

private:
    std::string text_;
    bool case_sensitive_ = false;
};

}  // namespace ui
