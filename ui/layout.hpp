// Splits styled text into rows of a given width. Pure.
#pragma once

#include "ui/frame.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace ui {

struct Cell;

// A mark for each byte of a text. The strongest mark of a cell decides its style.
using Marks = std::vector<char>;
inline constexpr char match_mark = 1;
inline constexpr char bad_byte_mark = 2;

// A unit is the smallest part that a row can begin with: a cell, or one character of an escape.
// Units are numbered from 0. Their numbers do not depend on the width.
class Layout {
public:
    enum class Wrap {
        anywhere,
        words,  // between words, if they fit into a row
        lines,  // anywhere, and newlines are shown only if they are marked
    };

    explicit Layout(std::size_t width) : width_(width) {}

    void put(const Row& spans, Wrap wrap);
    // Adds any bytes as visible text. A newline that more bytes follow ends its row.
    void put(std::string_view bytes, Style style, const Marks& marks, Wrap wrap);
    // Adds a hex dump of bytes[begin, size), on rows of its own. `marks` begin with this part.
    void put_hex(std::string_view bytes, Style style, const Marks& marks,
                 std::size_t begin = 0);
    // Indents the next rows to the current column.
    void indent_next_rows() { indent_ = used_; }

    std::vector<Row>& rows() { return rows_; }        // at least one
    std::size_t last_width() const { return used_; }  // of the last row
    // Returns the row of a unit; the last row if the unit does not exist.
    std::size_t row_of(std::size_t unit) const;
    std::size_t first_unit(std::size_t row) const { return first_units_[row]; }

private:
    bool wraps_at(std::string_view text, std::size_t at) const;
    void put(const Cell& cell, Style style);
    void put_unit(std::string_view text, std::size_t width, Style style);
    void break_row();

    std::size_t width_;
    std::size_t indent_ = 0;  // columns before each row but the first
    std::size_t used_ = 0;    // columns of the last row
    std::size_t units_ = 0;
    std::vector<Row> rows_ = std::vector<Row>(1);
    std::vector<std::size_t> first_units_ = {0};  // the first unit of each row
};

}  // namespace ui
