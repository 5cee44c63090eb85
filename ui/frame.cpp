#include "ui/frame.hpp"

#include "ui/text.hpp"

namespace ui {

void append(Row& row, std::string_view text, Style style) {
    if (text.empty()) return;
    if (row.empty() || row.back().style != style) row.push_back({{}, style});
    row.back().text += text;
}

void append_bytes(Row& row, std::string_view bytes, Style style) {
    Cells cells(bytes);
    while (const std::optional<Cell> cell = cells.next())
        append(row, cell->text, cell->escaped ? Style::escaped : style);
}

int display_width(const Row& row) {
    int sum = 0;
    for (const Span& span : row) sum += display_width(span.text);
    return sum;
}

void truncate(Row& row, int width) {
    for (auto span = row.begin(); span != row.end(); ++span) {
        const int taken = display_width(span->text);
        if (taken > width) {
            span->text = truncated(span->text, width);
            row.erase(span->text.empty() ? span : span + 1, row.end());
            return;
        }
        width -= taken;
    }
}

void pad(Row& row, int width, Style style) {
    const int missing = width - display_width(row);
    if (missing > 0) append(row, std::string(static_cast<std::size_t>(missing), ' '), style);
}

std::string plain_text(const Row& row) {
    std::string text;
    for (const Span& span : row) text += span.text;
    return text;
}

}  // namespace ui
