// Makes bytes visible, and decodes UTF-8. Bytes from a peer, a certificate, a resolver or a
// command line must pass through this file before they are written to a terminal.
//
// Ordinary text stays unchanged. Anything that could control a terminal, reorder text or be
// invisible is replaced with an ASCII escape:
//
//     ^[  ^?            C0 controls and DEL
//     \x9b              C1 controls, raw or as UTF-8, and bytes that are not UTF-8
//     \u202e            invisible characters that control direction or format: bidirectional
//     \U000e0001        and zero-width characters, separators, selectors, tags; characters
//                       without a known width; combining marks without a base, or too many
//                       for one cell
//
// Widths are columns in the current locale, set with setlocale(). If its encoding is not
// UTF-8, every byte above ASCII is shown as an escape such as \x9b. Visible text does not
// change when it passes through again.
//
// Needs only the C library and POSIX, so that programs without a screen can use it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

// A grapheme (a base and its combining marks) or an escape, as it is drawn.
struct Cell {
    std::string text;         // visible text
    int width = 0;            // columns, at least 1
    bool is_escaped = false;  // the text is an escape
    std::size_t begin = 0;    // the source bytes: [begin, end)
    std::size_t end = 0;
};

// Splits bytes into cells on demand, so that a long message costs no more than its visible
// part. The bytes must outlive the object.
class Cells {
public:
    explicit Cells(std::string_view bytes, std::size_t from = 0);

    std::optional<Cell> next();  // none at the end of the bytes

private:
    std::string_view bytes_;
    std::size_t at_;
    bool is_utf8_;  // the locale's encoding is UTF-8
};

// If the locale's encoding is not UTF-8, draw in ASCII only.
bool is_utf8_locale();
// True if the descriptor is a terminal that belongs to another job. Writing to it or changing
// its settings may then stop the process by SIGTTOU. May be called in a signal handler.
bool is_in_background(int descriptor);

// Returns the bytes as visible text, for a line of a log or standard error.
std::string printable(std::string_view bytes);

// Returns the width of printable(bytes) in columns.
int display_width(std::string_view bytes);

// Returns the leading cells, as visible text, that fit into `width` columns.
std::string truncated(std::string_view bytes, int width);

// Return the end of the cell around or after `at`, and the beginning of the cell around or
// before `at`, to move a cursor. Both results are within [0, bytes.size()].
std::size_t next_cell(std::string_view bytes, std::size_t at);
std::size_t previous_cell(std::string_view bytes, std::size_t at);

inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// Returns the bytes in base64 (RFC 4648), with padding and without line breaks.
std::string base64(std::string_view bytes);

// Returns a row of a hex dump, of at most `count` bytes from `offset` on, such as
// "00000010  68 65  |he|". Missing bytes are blanks in the middle column. Bytes outside
// printable ASCII are dots in the right column.
std::string hex_row(std::string_view bytes, std::size_t offset, std::size_t count = 16);

// A row with space for bytes[begin, end). The last row of a dump may be partly empty.
struct HexRow {
    std::size_t begin;
    std::size_t end;
    std::string text;

    // Return where `text` shows a byte of the row in hex, and where as a character. `byte` may
    // be `end`.
    std::size_t hex_column(std::size_t byte) const { return 10 + 3 * (byte - begin); }
    std::size_t text_column(std::size_t byte) const {
        return hex_column(end) + 2 + (byte - begin);
    }
};

// Returns the rows of a hex dump of bytes[begin, end). Each has space for 16 bytes, or for 8,
// 4, 2 or 1 if 16 need more than `width` columns. An empty range has no rows.
std::vector<HexRow> hex_dump(std::string_view bytes, int width, std::size_t begin = 0,
                             std::size_t end = std::string_view::npos);

// --- UTF-8, whatever the locale's encoding.

struct CodePoint {
    char32_t value;
    std::size_t size;  // bytes of its encoding; 0 if it is not UTF-8
};

// Returns the size of a character that begins with this byte, or 0 if none does.
std::size_t encoded_size(char lead);

// Returns the character at `at`, which must be less than bytes.size(). Incomplete and
// over-long encodings, surrogates and values beyond Unicode are not UTF-8.
CodePoint decode(std::string_view bytes, std::size_t at);

// Appends the encoding of a character. Surrogates and values beyond Unicode are encoded in the
// same way, but the result is not valid UTF-8.
void append_utf8(std::string& to, char32_t value);

// Checks whether a text is UTF-8. The text may arrive in any pieces.
class Utf8Check {
public:
    // Returns false if the text so far cannot be the beginning of a UTF-8 text. Must not be
    // called again after that.
    bool add(std::string_view bytes);
    // True if the text does not end within a character.
    bool is_complete() const { return incomplete_size_ == 0; }

private:
    char lead_ = 0;                    // the first byte of an incomplete character
    std::size_t incomplete_size_ = 0;  // bytes of an incomplete character so far
};

bool is_utf8(std::string_view bytes);

}  // namespace ui
