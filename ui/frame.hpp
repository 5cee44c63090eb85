// A frame is the content of the screen as a value: rows of styled text. Composing a frame
// needs no terminal.
//
// All text in a frame must be visible text: literals, or text returned by functions of
// ui/text.hpp. Widths are columns of the terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ui {

// The meaning of a text. Its appearance depends on the terminal, which may lack colors.
enum class Style {
    normal,
    dim,
    bold,
    good,
    bad,
    warn,
    escaped,      // an escape that replaces unprintable bytes, in reverse video
    match,        // a match of a search
    bad_byte,     // the first bad byte of a reply
    selected,     // the selected message
    status,       // the status line, drawn as a bar
    status_good,  // parts of the status line
    status_bad,
    status_warn,
    status_sparkline,  // sparkline of recent round trips in the status line
    heat_1,            // cells of a heat map; each contains a character for its shade
    heat_2,
    heat_3,
    heat_4,
    hot_1,  // cells of an emphasized row
    hot_2,
    hot_3,
    hot_4,
};

struct Span {
    std::string text;
    Style style = Style::normal;

    bool operator==(const Span&) const = default;
};

using Row = std::vector<Span>;

// The size of a screen.
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
    bool cursor_shown = false;
};

// Appends visible text, to the last span if the style is the same, else as a new span.
void append(Row& row, std::string_view text, Style style = Style::normal);

// Appends any bytes as visible text. Escapes get Style::escaped instead of `style`.
void append_bytes(Row& row, std::string_view bytes, Style style = Style::normal);

// Returns the width of the row in columns.
int display_width(const Row& row);

// Removes trailing cells that do not fit into `width` columns.
void truncate(Row& row, int width);

// Appends blanks up to `width` columns.
void pad(Row& row, int width, Style style = Style::normal);

// Returns the text without its styles.
std::string plain_text(const Row& row);

}  // namespace ui
