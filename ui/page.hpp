// A text that may be longer than the screen: composed anew for each drawing, seen through a
// window that its keys scroll.
//
// Pure: it draws nothing.
#pragma once

#include "ui/frame.hpp"
#include "ui/key.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace ui {

class Page {
public:
    using Compose = std::function<std::vector<Row>(int width)>;

    explicit Page(Compose compose);

    // Scrolls a page of `height` rows, or to its ends, if the key is one for that. False: it
    // means nothing here.
    bool press(const Key& key, int height);

    // What is seen, at most `height` rows of at most `width` columns each.
    std::vector<Row> rows(int width, int height);

private:
    bool move_to(std::size_t top);

    Compose compose_;
    std::size_t top_ = 0;  // the first row seen; beyond the last window until the next rows()
};

}  // namespace ui
