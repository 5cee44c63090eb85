// Bytes made visible: the one way from bytes that a peer, a certificate, a resolver or a
// command line chose to what a terminal may be given.
//
// Ordinary text stays as it is. Whatever could command a terminal, change the order of what is
// read, or pass unseen is replaced by an escape of plain ASCII:
//
//     ^[  ^?            C0 controls and DEL
//     \x9b              C1 controls, raw or as UTF-8, and bytes that are not UTF-8
//     \u202e            characters that direct or format and have no shape of their own:
//     \U000e0001        bidirectional and zero-width ones, separators, selectors, tags; those
//                       without a known width; combining marks that lean on nothing, or are
//                       more than a cell can hold
//
// Widths are those of the current locale, which the program has set with setlocale(). Where its
// encoding is not UTF-8, every byte above ASCII is shown as \x9b is. What this file returns as
// visible text is unchanged by passing through it again.
//
// Needs nothing but the C library, so that programs without a screen can use it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

// One grapheme, a base and its combining marks, as it is drawn.
struct Cell {
    std::string text;       // visible text
    int width = 0;          // columns, at least 1
    bool escaped = false;   // an escape, shown in reverse video where there is any
    std::size_t begin = 0;  // the bytes it stands for: [begin, end) of the source
    std::size_t end = 0;
};

// Reads cells off a string, one at a time, so that a screenful of a long message costs a
// screenful. The bytes must outlive it.
class Cells {
public:
    explicit Cells(std::string_view bytes, std::size_t from = 0);

    std::optional<Cell> next();  // none at the end of the bytes

private:
    std::string_view bytes_;
    std::size_t at_;
    bool utf8_;  // the locale's encoding
};

// Whether the locale's encoding is UTF-8: else drawing keeps to ASCII.
bool utf8_locale();

// All of `bytes` as plain visible text, for a line of a log or of standard error.
std::string printable(std::string_view bytes);

// The columns that printable(bytes) takes.
int display_width(std::string_view bytes);

// The longest head of printable(bytes) that takes no more than `width` columns.
std::string truncated(std::string_view bytes, int width);

// Where the cell around or after `at` ends, and where the one before `at` begins: the steps of
// a cursor. Both stay within [0, bytes.size()].
std::size_t next_cell(std::string_view bytes, std::size_t at);
std::size_t previous_cell(std::string_view bytes, std::size_t at);

// One row of a hex dump, from bytes[offset] on: "00000010  68 65 6c 6c 6f   |hello|", always
// with room for `count` bytes. Bytes outside printable ASCII are dots in its right column.
std::string hex_row(std::string_view bytes, std::size_t offset, std::size_t count = 16);

struct HexRow {
    std::size_t begin;  // the bytes that it has room for: [begin, end); the last row
    std::size_t end;    // may have more room than there are bytes
    std::string text;
};

// The rows of a hex dump of bytes[begin, end). Each has room for 16 bytes, or for 8, 4, 2 or 1
// if 16 need more than `width` columns. No bytes have no rows.
std::vector<HexRow> hex_dump(std::string_view bytes, int width, std::size_t begin = 0,
                             std::size_t end = std::string_view::npos);

}  // namespace ui
