#include "ui/text.hpp"

#include <langinfo.h>
#include <unistd.h>
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

// True for Unicode's invisible characters: format controls, line separators, fillers and
// selectors.
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

// Returns the columns of a character: 0 for a combining mark, and -1 for a character that must
// be shown as an escape.
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

Cell read_cell(std::string_view bytes, std::size_t at, bool is_locale_utf8) {
    const unsigned char byte = byte_at(bytes, at);
    if (!is_locale_utf8 && byte >= 0x80) return escaped_byte(byte, at);
    const CodePoint base = decode(bytes, at);
    if (base.size == 0) return escaped_byte(byte, at);
    const int width = width_of(base.value);
    if (width <= 0) {
        const std::string text = escape(base.value);
        return {text, static_cast<int>(text.size()), true, at, at + base.size};
    }
    const std::size_t end = is_locale_utf8 ? end_of_marks(bytes, at + base.size) : at + 1;
    return {std::string(bytes.substr(at, end - at)), width, false, at, end};
}

constexpr CodePoint not_utf8{0, 0};

// Returns the number of leading ASCII bytes, rounded down to whole blocks.
std::size_t ascii_prefix_size(std::string_view bytes) {
    std::uint64_t block[2];
    std::size_t at = 0;
    for (; bytes.size() - at >= sizeof block; at += sizeof block) {
        std::memcpy(block, bytes.data() + at, sizeof block);
        if (((block[0] | block[1]) & 0x8080808080808080) != 0) break;
    }
    return at;
}

// True if this byte may be at `index`, at least 1, of a character that begins with `lead`. The
// second byte excludes over-long encodings, surrogates and values beyond Unicode.
bool may_follow(unsigned char lead, std::size_t index, unsigned char byte) {
    if (index == 1 && lead == 0xe0) return byte >= 0xa0 && byte <= 0xbf;
    if (index == 1 && lead == 0xed) return byte >= 0x80 && byte <= 0x9f;
    if (index == 1 && lead == 0xf0) return byte >= 0x90 && byte <= 0xbf;
    if (index == 1 && lead == 0xf4) return byte >= 0x80 && byte <= 0x8f;
    return byte >= 0x80 && byte <= 0xbf;
}

}  // namespace

Cells::Cells(std::string_view bytes, std::size_t from)
    : bytes_(bytes), at_(from), is_utf8_(is_utf8_locale()) {}

std::optional<Cell> Cells::next() {
    if (at_ >= bytes_.size()) return std::nullopt;
    Cell cell = read_cell(bytes_, at_, is_utf8_);
    at_ = cell.end;
    return cell;
}

bool is_utf8_locale() { return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

bool is_in_background(int descriptor) {
    const pid_t foreground_group = ::tcgetpgrp(descriptor);
    return foreground_group > 0 && foreground_group != ::getpgrp();
}

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
    for (; cell && cell->width <= width; cell = cells.next()) {
        text += cell->text;
        width -= cell->width;
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
    constexpr int fixed_columns = 13;    // the offset, the bars and the blanks
    constexpr int columns_per_byte = 4;  // three as hex, one as text
    std::size_t count = 16;              // a power of two, for readable offsets
    while (count > 1 && fixed_columns + columns_per_byte * static_cast<int>(count) > width)
        count /= 2;
    bytes = bytes.substr(0, end);
    std::vector<HexRow> rows;
    for (std::size_t at = begin; at < bytes.size(); at += count)
        rows.push_back({at, at + count, hex_row(bytes, at, count)});
    return rows;
}

std::size_t encoded_size(char lead) {
    const auto byte = static_cast<unsigned char>(lead);
    if (byte < 0x80) return 1;
    if (byte < 0xc2 || byte > 0xf4) return 0;
    return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

CodePoint decode(std::string_view bytes, std::size_t at) {
    const unsigned char lead = byte_at(bytes, at);
    const std::size_t size = encoded_size(bytes[at]);
    if (size == 1) return {lead, 1};
    if (size == 0 || size > bytes.size() - at) return not_utf8;
    char32_t value = lead & (0xffu >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
        const unsigned char byte = byte_at(bytes, at + i);
        if (!may_follow(lead, i, byte)) return not_utf8;
        value = value << 6 | (byte & 0x3fu);
    }
    return {value, size};
}

void append_utf8(std::string& to, char32_t value) {
    if (value < 0x80) {
        to += static_cast<char>(value);
        return;
    }
    // Each byte after the first contains six bits.
    const unsigned continuation_count = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
    to += static_cast<char>((0xf00u >> (continuation_count + 1) & 0xf0u) |
                            value >> 6 * continuation_count);
    for (unsigned i = continuation_count; i > 0; --i)
        to += static_cast<char>(0x80 | (value >> 6 * (i - 1) & 0x3f));
}

bool Utf8Check::add(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        if (incomplete_size_ == 0) {
            at += ascii_prefix_size(bytes.substr(at));
            if (at == bytes.size()) break;
            lead_ = bytes[at];
        } else if (!may_follow(static_cast<unsigned char>(lead_), incomplete_size_,
                               byte_at(bytes, at))) {
            return false;
        }
        const std::size_t size = encoded_size(lead_);
        if (size == 0) return false;
        incomplete_size_ = (incomplete_size_ + 1) % size;
    }
    return true;
}

bool is_utf8(std::string_view bytes) {
    Utf8Check check;
    return check.add(bytes) && check.is_complete();
}

}  // namespace ui
