// A text that may be longer than the screen, in a window that keys scroll. It is composed
// again for each drawing, so that it follows changes of its content and the width.
//
// Pure: it draws nothing.
#pragma once

#include "ui/frame.hpp"
#include "ui/key.hpp"

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace ui {

class Page {
public:
    // Returns all rows of the text, for a window of `width` columns.
    using Compose = std::function<std::vector<Row>(int width)>;

    // The objects that `compose` uses must outlive the page.
    explicit Page(Compose compose) : compose_(std::move(compose)) {}

    // Scrolls by one row, by one window (`height` - 1 rows), or to the start or end, if the key
    // is bound to that. Otherwise returns false.
    bool press(const Key& key, int height);

    // The visible rows: at most `height`, of at most `width` columns each.
    std::vector<Row> rows(int width, int height);

private:
    Compose compose_;
    std::size_t top_ = 0;  // the first visible row; rows() limits it to the last page
};

}  // namespace ui
