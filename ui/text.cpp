#include "ui/text.hpp"

#include "ui/utf8.hpp"

#include <langinfo.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace ui {

namespace {

// Maximum combining marks in a cell. Curses stores no more (CCHARW_MAX minus the base).
constexpr int max_marks = 4;

unsigned char byte_at(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

// True for invisible characters that change how other text is shown: Unicode's format
// controls, line separators, fillers and selectors.
bool is_format_character(char32_t c) {
    static constexpr struct {
        char32_t first, last;
    } ranges[] = {
        {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x0600, 0x0605},   {0x061c, 0x061c},
        {0x06dd, 0x06dd},   {0x070f, 0x070f},   {0x0890, 0x0891},   {0x08e2, 0x08e2},
        {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
        {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x110bd, 0x110cd},
        {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [c](auto range) { return c >= range.first && c <= range.last; });
}

// Returns the columns of a character; 0: a combining mark; negative: must be shown as an
// escape.
int width_of(char32_t c) {
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || is_format_character(c)) return -1;
    if (c < 0x7f) return 1;
    return wcwidth(static_cast<wchar_t>(c));
}

std::string escape(char32_t c) {
    if (c < 0x20 || c == 0x7f) return {'^', static_cast<char>(c ^ 0x40)};
    const char* const pattern = c < 0xa0 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
    char text[16];
    std::snprintf(text, sizeof text, pattern, static_cast<unsigned>(c));
    return text;
}

Cell escaped_byte(unsigned char byte, std::size_t begin) {
    char text[8];
    std::snprintf(text, sizeof text, "\\x%02x", byte);
    return {text, 4, true, begin, begin + 1};
}

// Returns the end of the combining marks at `at`, up to the maximum of one cell.
std::size_t end_of_marks(std::string_view bytes, std::size_t at) {
    for (int count = 0; count < max_marks && at < bytes.size(); ++count) {
        if (byte_at(bytes, at) < 0x80) break;
        const CodePoint mark = decode(bytes, at);
        if (mark.size == 0 || width_of(mark.value) != 0) break;
        at += mark.size;
    }
    return at;
}

// Returns true if a cell begins at `at` whatever bytes precede it.
bool surely_begins_cell(std::string_view bytes, std::size_t at) {
    const unsigned char byte = byte_at(bytes, at);
    if ((byte & 0xc0) == 0x80) return false;
    const CodePoint base = decode(bytes, at);
    return base.size == 0 || width_of(base.value) != 0;
}

Cell read_cell(std::string_view bytes, std::size_t at, bool utf8) {
    const unsigned char byte = byte_at(bytes, at);
    if (!utf8 && byte >= 0x80) return escaped_byte(byte, at);
    const CodePoint base = decode(bytes, at);
    if (base.size == 0) return escaped_byte(byte, at);
    const int width = width_of(base.value);
    if (width <= 0) {
        const std::string text = escape(base.value);
        return {text, static_cast<int>(text.size()), true, at, at + base.size};
    }
    const std::size_t end = utf8 ? end_of_marks(bytes, at + base.size) : at + 1;
    return {std::string(bytes.substr(at, end - at)), width, false, at, end};
}

// Returns the number of bytes in a row of a hex dump: a power of two, for readable offsets.
std::size_t hex_row_bytes(int width) {
    constexpr int fixed_columns = 13;    // the offset, the bars and the blanks
    constexpr int columns_per_byte = 4;  // three as hex, one as text
    int count = 16;
    while (count > 1 && fixed_columns + columns_per_byte * count > width) count /= 2;
    return static_cast<std::size_t>(count);
}

}  // namespace

Cells::Cells(std::string_view bytes, std::size_t from)
    : bytes_(bytes), at_(from), utf8_(utf8_locale()) {}

std::optional<Cell> Cells::next() {
    if (at_ >= bytes_.size()) return std::nullopt;
    Cell cell = read_cell(bytes_, at_, utf8_);
    at_ = cell.end;
    return cell;
}

bool utf8_locale() { return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

std::string printable(std::string_view bytes) {
    std::string text;
    Cells cells(bytes);
    while (const std::optional<Cell> cell = cells.next()) text += cell->text;
    return text;
}

int display_width(std::string_view bytes) {
    int sum = 0;
    Cells cells(bytes);
    while (const std::optional<Cell> cell = cells.next()) sum += cell->width;
    return sum;
}

std::string truncated(std::string_view bytes, int width) {
    std::string text;
    Cells cells(bytes);
    std::optional<Cell> cell = cells.next();
    while (cell && cell->width <= width) {
        text += cell->text;
        width -= cell->width;
        cell = cells.next();
    }
    return text;
}

std::size_t next_cell(std::string_view bytes, std::size_t at) {
    Cells cells(bytes, previous_cell(bytes, at));
    std::optional<Cell> cell = cells.next();
    while (cell && cell->end <= at) cell = cells.next();
    return cell ? cell->end : bytes.size();
}

std::size_t previous_cell(std::string_view bytes, std::size_t at) {
    at = std::min(at, bytes.size());
    if (at == 0) return 0;
    std::size_t begin = at - 1;
    while (begin > 0 && !surely_begins_cell(bytes, begin)) --begin;
    Cells cells(bytes, begin);
    while (const std::optional<Cell> cell = cells.next()) {
        if (cell->end >= at) break;
        begin = cell->end;
    }
    return begin;
}

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 3))) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < bytes.size() ? byte_at(bytes, i) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i > bytes.size() ? '=' : base64_digits[bits >> (18 - 6 * i) & 0x3f];
    }
    return text;
}

std::string hex_row(std::string_view bytes, std::size_t offset, std::size_t count) {
    char number[24];
    std::snprintf(number, sizeof number, "%08zx ", offset);
    std::string row = number;
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = offset + i;
        if (at < bytes.size()) {
            const unsigned char byte = byte_at(bytes, at);
            std::snprintf(number, sizeof number, " %02x", byte);
            text += byte >= 0x20 && byte < 0x7f ? bytes[at] : '.';
        }
        row += at < bytes.size() ? number : "   ";
    }
    return row + "  |" + text + '|';
}

std::vector<HexRow> hex_dump(std::string_view bytes, int width, std::size_t begin,
                             std::size_t end) {
    bytes = bytes.substr(0, end);
    const std::size_t count = hex_row_bytes(width);
    std::vector<HexRow> rows;
    for (std::size_t at = begin; at < bytes.size(); at += count)
        rows.push_back({at, at + count, hex_row(bytes, at, count)});
    return rows;
}

}  // namespace ui
