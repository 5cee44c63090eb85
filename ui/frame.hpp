// A frame is the content of the screen as a value: rows of styled text. Composing a frame
// needs no terminal.
//
// All text in a frame must be visible text: literals, or text that ui/text.hpp made visible.
// Widths are columns of the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

// The appearance of each style depends on whether the terminal shows colors.
enum class Style {
    normal,
    dim,
    bold,
    good,
    bad,
    warn,
    escaped,     // stands for bytes that can't be shown, in reverse video
    match,       // a match of a search
    bad_byte,    // the first bad byte of a reply, and its counterpart in the message
    selected,    // the selected message
    status,      // the status line, drawn as a bar
    status_bad,  // parts of the status line
    status_warn,
};

struct Span {
    std::string text;
    Style style = Style::normal;

    bool operator==(const Span&) const = default;
};

using Row = std::vector<Span>;

struct Size {
    int rows = 24;
    int columns = 80;

    bool operator==(const Size&) const = default;
};

struct Frame {
    // Rows from the top. Missing rows are blank; rows below the screen are not drawn.
    std::vector<Row> rows;
    int cursor_row = 0;
    int cursor_column = 0;
    bool is_cursor_shown = false;
};

// Appends visible text, to the last span if the style is the same, else as a new span.
void append(Row& row, std::string_view text, Style style = Style::normal);

// Appends any bytes as visible text. Escapes get Style::escaped instead of `style`.
void append_escaped(Row& row, std::string_view bytes, Style style = Style::normal);

int display_width(const Row& row);

// Removes trailing cells that do not fit into `width` columns.
void truncate(Row& row, int width);

// Appends blanks up to `width` columns.
void pad(Row& row, int width, Style style = Style::normal);

struct Cell;

// A mark for each byte of a text. The strongest mark of a cell decides its style.
using Marks = std::vector<char>;
inline constexpr char match_mark = 1;
inline constexpr char bad_byte_mark = 2;

// Splits styled text into rows of a given width. A unit is the smallest part that a row can
// begin with: a cell, or one character of an escape. Units are numbered from 0, whatever the
// width is, except in and after a hex dump.
class Layout {
public:
    enum class Wrap {
        anywhere,
        words,  // between words, if they fit into a row
        lines,  // anywhere, and newlines are shown only if they are marked
    };

    explicit Layout(std::size_t width) : width_(width) {}

    void put(const Row& spans, Wrap wrap);
    // Adds any bytes as visible text. A newline ends its row, unless it is the last byte. VS15,
    // VS16 and ZWJ after an emoji are left out unless they are marked.
    void put(std::string_view bytes, Style style, const Marks& marks, Wrap wrap);
    // Adds a hex dump of bytes[begin, size), which begins a new row. Ends the indentation.
    // `marks` begin with the byte at `begin`.
    void put_hex(std::string_view bytes, Style style, const Marks& marks,
                 std::size_t begin = 0);
    // Indents the next rows to the current column.
    void indent_next_rows() { indent_ = last_width_; }

    std::vector<Row>& rows() { return rows_; }              // at least one
    std::size_t last_width() const { return last_width_; }  // columns of the last row
    // Returns the row of a unit, or the last row if the unit does not exist.
    std::size_t row_of(std::size_t unit) const;
    std::size_t first_unit(std::size_t row) const { return first_units_[row]; }

private:
    bool wraps_at(std::string_view text, std::size_t at) const;
    void put(const Cell& cell, Style style);
    void put_unit(std::string_view text, std::size_t width, Style style);
    void break_row();

    std::size_t width_;
    std::size_t indent_ = 0;  // of the next rows, in columns
    std::size_t last_width_ = 0;
    std::size_t unit_count_ = 0;
    std::vector<Row> rows_ = std::vector<Row>(1);
    std::vector<std::size_t> first_units_ = {0};  // the first unit of each row
};

}  // namespace ui
