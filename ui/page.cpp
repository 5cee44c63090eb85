#include "ui/page.hpp"

#include <algorithm>
#include <limits>

namespace ui {

namespace {

constexpr std::size_t past_the_end = std::numeric_limits<std::size_t>::max() / 2;  // rows

}  // namespace

bool Page::press(const Key& key, int height) {
    // One row of the old window stays visible.
    const auto page = static_cast<std::size_t>(std::max(height - 1, 1));
    const auto up = [this](std::size_t rows) { return top_ - std::min(top_, rows); };
    const struct {
        Chord chord;
        std::size_t top;
    } bindings[] = {
        {plain(KeyCode::down), top_ + 1},
        {plain(KeyCode::up), up(1)},
        {plain(KeyCode::page_down), top_ + page},
        {plain(KeyCode::page_up), up(page)},
        {alt('>'), past_the_end},
        {alt('<'), 0},
    };
    for (const auto& binding : bindings) {
        if (binding.chord != key.chord) continue;
        top_ = binding.top;
        return true;
    }
    return false;
}

std::vector<Row> Page::rows(int width, int height) {
    std::vector<Row> rows = compose_(width);
    const std::size_t visible_count = std::min(rows.size(), static_cast<std::size_t>(height));
    top_ = std::min(top_, rows.size() - visible_count);
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(top_));
    rows.resize(visible_count);
    for (Row& row : rows) truncate(row, width);
    return rows;
}

}  // namespace ui
