#include "ui/frame.hpp"

#include "ui/text.hpp"

#include <algorithm>
#include <optional>

namespace ui {

namespace {

char strongest_mark(const Marks& marks, std::size_t begin, std::size_t end) {
    char mark = 0;
    for (std::size_t i = begin; i < std::min(end, marks.size()); ++i)
        mark = std::max(mark, marks[i]);
    return mark;
}

// True for Unicode's blocks of symbols and emoji.
bool is_emoji(char32_t c) {
    return (c >= 0x2190 && c <= 0x2bff) || (c >= 0x1f000 && c <= 0x1faff);
}

Style marked_style(Style style, char mark) {
    if (mark == bad_byte_mark) return Style::bad_byte;
    return mark == match_mark ? Style::match : style;
}

// Returns a mark for each column of a hex row. A blank between two numbers is marked only if
// both bytes have the same mark. `marks` begin with the byte at offset `begin`.
Marks marked_columns(const HexRow& row, const Marks& marks, std::size_t begin) {
    Marks columns(row.text.size());
    for (std::size_t byte = row.begin; byte < std::min(row.end, begin + marks.size()); ++byte) {
        const char mark = marks[byte - begin];
        if (mark == 0) continue;
        const std::size_t next = byte + 1 - begin;
        const bool is_joined =
            byte + 1 < row.end && strongest_mark(marks, next, next + 1) == mark;
        for (std::size_t i = 0; i < (is_joined ? 3 : 2); ++i)
            columns[row.hex_column(byte) + i] = mark;
        columns[row.text_column(byte)] = mark;
    }
    return columns;
}

}  // namespace

void append(Row& row, std::string_view text, Style style) {
    if (text.empty()) return;
    if (row.empty() || row.back().style != style) row.push_back({{}, style});
    row.back().text += text;
}

void append_escaped(Row& row, std::string_view bytes, Style style) {
    Cells cells(bytes);
    while (const std::optional<Cell> cell = cells.next())
        append(row, cell->text, cell->is_escaped ? Style::escaped : style);
}

int display_width(const Row& row) {
    int sum = 0;
    for (const Span& span : row) sum += display_width(span.text);
    return sum;
}

void truncate(Row& row, int width) {
    for (auto span = row.begin(); span != row.end(); ++span) {
        const int span_width = display_width(span->text);
        if (span_width > width) {
            span->text = truncated(span->text, width);
            row.erase(span->text.empty() ? span : span + 1, row.end());
            return;
        }
        width -= span_width;
    }
}

void pad(Row& row, int width, Style style) {
    const int missing = width - display_width(row);
    if (missing > 0) append(row, std::string(static_cast<std::size_t>(missing), ' '), style);
}

void Layout::put(const Row& spans, Wrap wrap) {
    for (const Span& span : spans) put(span.text, span.style, {}, wrap);
}

void Layout::put(std::string_view bytes, Style style, const Marks& marks, Wrap wrap) {
    Cells cells(bytes);
    bool is_after_emoji = false;
    while (const std::optional<Cell> cell = cells.next()) {
        const char mark = strongest_mark(marks, cell->begin, cell->end);
        const bool is_newline = bytes[cell->end - 1] == '\n';
        // An emoji's variation selectors, and the joiner to the next emoji, are invisible by
        // design.
        const bool is_joiner =
            cell->text == "\\ufe0e" || cell->text == "\\ufe0f" || cell->text == "\\u200d";
        if (is_after_emoji && cell->is_escaped && is_joiner && mark == 0) continue;
        is_after_emoji = !cell->is_escaped && is_emoji(decode(bytes, cell->begin).value);
        if (wrap == Wrap::words && wraps_at(bytes, cell->begin)) break_row();
        if (wrap == Wrap::words && last_width_ == width_ && cell->text == " ")
            ++unit_count_;  // a blank between two rows is not shown
        else if (wrap != Wrap::lines || !is_newline || mark != 0)
            put(*cell, marked_style(style, mark));
        if (is_newline && cell->end < bytes.size()) break_row();
    }
}

void Layout::put_hex(std::string_view bytes, Style style, const Marks& marks,
                     std::size_t begin) {
    indent_ = 0;
    for (const HexRow& row : hex_dump(bytes, static_cast<int>(width_), begin)) {
        if (last_width_ > 0) break_row();
        const Marks columns = marked_columns(row, marks, begin);
        for (std::size_t i = 0; i < row.text.size(); ++i)
            put_unit({&row.text[i], 1}, 1, marked_style(style, columns[i]));
    }
}

std::size_t Layout::row_of(std::size_t unit) const {
    const auto after = std::upper_bound(first_units_.begin(), first_units_.end(), unit);
    return static_cast<std::size_t>(after - first_units_.begin()) - 1;
}

// True if a word that begins at `at` needs a new row: it fits into a whole row, but not into
// the rest of this one.
bool Layout::wraps_at(std::string_view text, std::size_t at) const {
    if (at > 0 && text[at - 1] != ' ') return false;
    const std::string_view word = text.substr(at, text.find(' ', at) - at);
    const auto width = static_cast<std::size_t>(display_width(word));
    return last_width_ + width > width_ && width <= width_ - indent_;
}

void Layout::put(const Cell& cell, Style style) {
    const auto width = static_cast<std::size_t>(cell.width);
    if (cell.is_escaped) {
        if (style != Style::bad_byte) style = Style::escaped;
        for (const char c : cell.text) put_unit({&c, 1}, 1, style);
    } else if (width > width_ - indent_) {
        put_unit("?", 1, Style::escaped);
    } else {
        put_unit(cell.text, width, style);
    }
}

void Layout::put_unit(std::string_view text, std::size_t width, Style style) {
    if (last_width_ + width > width_) break_row();
    append(rows_.back(), text, style);
    last_width_ += width;
    ++unit_count_;
}

void Layout::break_row() {
    rows_.emplace_back();
    first_units_.push_back(unit_count_);
    append(rows_.back(), std::string(indent_, ' '));
    last_width_ = indent_;
}

}  // namespace ui
