#include "ui/page.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ui {
namespace {

constexpr std::size_t past_the_end = std::numeric_limits<std::size_t>::max() / 2;  // rows

}  // namespace

Page::Page(Compose compose) : compose_(std::move(compose)) {}

bool Page::press(const Key& key, int height) {
    // A row of what was seen stays.
    const auto page = static_cast<std::size_t>(std::max(height - 1, 1));
    const Chord chord = key.chord;
    const std::size_t row = 1;
    if (chord == plain(KeyCode::down)) return move_to(top_ + row);
    if (chord == plain(KeyCode::page_down)) return move_to(top_ + page);
    if (chord == plain(KeyCode::up)) return move_to(top_ - std::min(top_, row));
    if (chord == plain(KeyCode::page_up)) return move_to(top_ - std::min(top_, page));
    if (chord == alt('<')) return move_to(0);
    if (chord == alt('>')) return move_to(past_the_end);
    return false;
}

bool Page::move_to(std::size_t top) {
    top_ = top;
    return true;
}

std::vector<Row> Page::rows(int width, int height) {
    std::vector<Row> rows = compose_(width);
    const auto seen = std::min(rows.size(), static_cast<std::size_t>(height));
    top_ = std::min(top_, rows.size() - seen);
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(top_));
    rows.resize(seen);
    for (Row& row : rows) truncate(row, width);
    return rows;
}

}  // namespace ui
