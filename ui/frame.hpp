// What is drawn: rows of styled text, as a value. Whoever composes a frame needs no terminal.
//
// All text in a frame is visible text: literals, or what ui/text.hpp returned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ui {

// What text means, never how it looks: that depends on the terminal, which may have no colors.
enum class Style {
    normal,
    dim,
    bold,
    good,
    bad,
    warn,
    escaped,      // an escape for bytes that must not reach the terminal: reverse video
    match,        // found by a search
    selected,     // the selected message
    status,       // the status line: a bar
    status_good,  // within that bar
    status_bad,
    status_warn,
};

struct Span {
    std::string text;
    Style style = Style::normal;

    bool operator==(const Span&) const = default;
};

using Row = std::vector<Span>;

// Of a screen.
struct Size {
    int rows = 24;
    int columns = 80;

    bool operator==(const Size&) const = default;
};

struct Frame {
    // From the top. Missing rows are blank, rows below the screen are not drawn.
    std::vector<Row> rows;
    int cursor_row = 0;
    int cursor_column = 0;
    bool cursor_shown = false;
};

// Adds visible text, to the last span if that has the same style.
void append(Row& row, std::string_view text, Style style = Style::normal);

// Adds any bytes: made visible, their escapes marked.
void append_bytes(Row& row, std::string_view bytes, Style style = Style::normal);

int display_width(const Row& row);

// Keeps the cells that fit into `width` columns.
void truncate(Row& row, int width);

// Adds blanks up to `width` columns.
void pad(Row& row, int width, Style style = Style::normal);

// Its text alone.
std::string plain_text(const Row& row);

}  // namespace ui
