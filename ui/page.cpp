#include "ui/page.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ui {
namespace {

constexpr std::size_t beyond_all = std::numeric_limits<std::size_t>::max() / 2;  // rows

}  // namespace

Page::Page(Compose compose) : compose_(std::move(compose)) {}

bool Page::press(const Key& key, int height) {
    // A row of what was seen stays.
    const auto page = static_cast<std::size_t>(std::max(height - 1, 1));
    if (key.chord == plain(KeyCode::down)) return ++top_, true;
    if (key.chord == plain(KeyCode::page_down)) return top_ += page, true;
    if (key.chord == plain(KeyCode::up)) return top_ -= std::min<std::size_t>(top_, 1), true;
    if (key.chord == plain(KeyCode::page_up)) return top_ -= std::min(top_, page), true;
    if (key.chord == alt('<')) return top_ = 0, true;
    if (key.chord == alt('>')) return top_ = beyond_all, true;
    return false;
}

std::vector<Row> Page::rows(int width, int height) {
    std::vector<Row> rows = compose_(width);
    const auto seen = std::min(rows.size(), static_cast<std::size_t>(height));
    top_ = std::min(top_, rows.size() - seen);
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(top_));
    rows.resize(seen);
    for (Row& row : rows) cut(row, width);
    return rows;
}

}  // namespace ui
