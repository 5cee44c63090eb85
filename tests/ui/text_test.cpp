#include "ui/text.hpp"

#include "tests/ui/attacks.hpp"
#include "tests/ui/locale.hpp"

namespace {

using namespace std::string_view_literals;
using test::Locale;

// Returns the cells of a text, separated by | and with <> around escapes.
std::string cells(std::string_view bytes) {
    std::string text;
    ui::Cells cells(bytes);
    while (const auto cell = cells.next()) {
        if (!text.empty()) text += '|';
        text += cell->is_escaped ? '<' + cell->text + '>' : cell->text;
    }
    return text;
}

bool is_safe(std::string_view text) {
    for (const char c : text)
        if ((c >= 0 && c < 0x20) || c == 0x7f) return false;
    return text.find("\xc2\x80") == std::string_view::npos &&
           text.find("\xc2\x9b") == std::string_view::npos;
}

}  // namespace

TEST_CASE("splits bytes into cells") {
    const Locale utf8("C.UTF-8");
    const struct {
        std::string_view bytes, seen;
    } cases[] = {
        {"", ""},
        {"ab", "a|b"},
        {"\x1b\x00\x7f\n"sv, "<^[>|<^@>|<^?>|<^J>"},
        {"é你😀", "é|你|😀"},
        {"e\u0301x", "e\u0301|x"},
        {"e\u0301\u0302\u0303\u0304\u0305x", "e\u0301\u0302\u0303\u0304|<\\u0305>|x"},
        {"\u0301", "<\\u0301>"},
        {"\x1b\u0301", "<^[>|<\\u0301>"},
        {"\xc2\x9b\x9b", "<\\x9b>|<\\x9b>"},
        {"\xff\xc3", "<\\xff>|<\\xc3>"},
        {"\xc0\x80", "<\\xc0>|<\\x80>"},  // over-long
        {"\xe4\xbdz", "<\\xe4>|<\\xbd>|z"},
        {"a\u202eb", "a|<\\u202e>|b"},
        {"\u0890\u0891", "<\\u0890>|<\\u0891>"},
        {"a\u200d\u200b\ufeff", "a|<\\u200d>|<\\u200b>|<\\ufeff>"},
        {"\u2028\u2029\ufff9", "<\\u2028>|<\\u2029>|<\\ufff9>"},
        {"\U000e0001\ufe0f", "<\\U000e0001>|<\\ufe0f>"},
        {"\xef\xbf\xbe", "<\\ufffe>"},
        {"\u00ad", "<\\u00ad>"},
        {"\u009f\u00a0\u00a1", "<\\x9f>|\u00a0|\u00a1"},
    };
    for (const auto& each : cases) {
        INFO(each.seen);
        REQUIRE(cells(each.bytes) == each.seen);
    }
}

TEST_CASE("a cell has the range and the width of its bytes") {
    const Locale utf8("C.UTF-8");
    ui::Cells cells("a你e\u0301\x1b");
    const struct {
        std::size_t begin, end;
        int width;
    } expected[] = {{0, 1, 1}, {1, 4, 2}, {4, 7, 1}, {7, 8, 2}};
    for (const auto& each : expected) {
        const auto cell = cells.next();
        REQUIRE(cell);
        REQUIRE(cell->begin == each.begin);
        REQUIRE(cell->end == each.end);
        REQUIRE(cell->width == each.width);
    }
    REQUIRE_FALSE(cells.next());
}

TEST_CASE("no control byte passes, and visible text passes unchanged") {
    for (const auto* name : {"C.UTF-8", "C"}) {
        const Locale locale(name);
        for (const auto attack : test::attacks)
            for (std::size_t size = 0; size <= attack.size(); ++size) {
                const auto text = ui::printable(attack.substr(0, size));
                REQUIRE(is_safe(text));
                REQUIRE(ui::printable(text) == text);
            }
        for (int byte = 0; byte < 256; ++byte)
            REQUIRE(is_safe(ui::printable(std::string(3, static_cast<char>(byte)))));
    }
}

TEST_CASE("measures and truncates text by columns of the locale") {
    REQUIRE_FALSE(ui::is_utf8_locale());  // C
    REQUIRE(ui::printable("a é \x1b") == "a \\xc3\\xa9 ^[");
    REQUIRE(ui::display_width("é") == 8);
    REQUIRE(ui::previous_cell("é", 2) == 1);
    const Locale utf8("C.UTF-8");
    REQUIRE(ui::display_width("a你\x1b") == 5);
    const struct {
        int width;
        const char* text;
    } cuts[] = {{-1, ""},   {0, ""},    {1, "a"},     {2, "a"},
                {3, "a你"}, {4, "a你"}, {5, "a你^["}, {9, "a你^["}};
    for (const auto& cut : cuts) REQUIRE(ui::truncated("a你\x1b", cut.width) == cut.text);
}

TEST_CASE("a cursor steps from cell to cell") {
    const Locale utf8("C.UTF-8");
    const std::string text =
        "a\u0301\u0302你\x1b\xff\xff e\u0301\u0301\u0301\u0301\u0301\u0301";
    std::vector<std::size_t> begins;
    ui::Cells cells(text);
    while (const auto cell = cells.next()) begins.push_back(cell->begin);
    begins.push_back(text.size());
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
        REQUIRE(ui::next_cell(text, begins[i]) == begins[i + 1]);
        REQUIRE(ui::previous_cell(text, begins[i + 1]) == begins[i]);
        for (auto inside = begins[i] + 1; inside < begins[i + 1]; ++inside) {
            REQUIRE(ui::next_cell(text, inside) == begins[i + 1]);
            REQUIRE(ui::previous_cell(text, inside) == begins[i]);
        }
    }
    REQUIRE(ui::next_cell(text, text.size() + 5) == text.size());
    REQUIRE(ui::previous_cell(text, 0) == 0);
    REQUIRE(ui::next_cell("", 0) == 0);
}

TEST_CASE("reads only the visible part of a long message") {
    const Locale utf8("C.UTF-8");
    const std::string message(1 << 20, '\xff');
    ui::Cells cells(message, message.size() - 2);
    REQUIRE(cells.next()->begin == message.size() - 2);
    REQUIRE(ui::truncated(message, 8) == "\\xff\\xff");
}

TEST_CASE("a row of a hex dump shows the offset, the bytes and the text") {
    const std::string_view bytes = "hello, \x1b\xff world, and more"sv;
    REQUIRE(ui::hex_row(bytes, 0) ==
            "00000000  68 65 6c 6c 6f 2c 20 1b ff 20 77 6f 72 6c 64 2c  |hello, .. world,|");
    REQUIRE(ui::hex_row(bytes, 23, 4) == "00000017  72 65        |re|");
    REQUIRE(ui::hex_row(bytes, 100, 1) == "00000064      ||");
}

TEST_CASE("a hex dump has rows as long as the width allows, of a part of the bytes") {
    const std::string bytes(40, 'x');
    const struct {
        int width;
        std::size_t begin, end, count;
    } cases[] = {{200, 0, 40, 16}, {77, 0, 40, 16}, {76, 0, 40, 8},  {45, 0, 40, 8},
                 {44, 0, 40, 4},   {29, 0, 40, 4},  {28, 0, 40, 2},  {20, 0, 40, 1},
                 {1, 0, 40, 1},    {28, 4, 7, 2},   {80, 40, 40, 16}};
    for (const auto& [width, begin, end, count] : cases) {
        INFO(width);
        const std::vector<ui::HexRow> rows = ui::hex_dump(bytes, width, begin, end);
        REQUIRE(rows.size() == (end - begin + count - 1) / count);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            CHECK(rows[i].begin == begin + i * count);
            CHECK(rows[i].end == rows[i].begin + count);
            CHECK(rows[i].text == ui::hex_row(std::string(end, 'x'), rows[i].begin, count));
        }
    }
}

TEST_CASE("encodes bytes in base64") {
    const auto [bytes, text] = GENERATE(table<std::string, std::string>({
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\xfd", "//79"},
        {std::string("\0\0", 2), "AAA="},
    }));
    CHECK(ui::base64(bytes) == text);
}

// --- UTF-8.

TEST_CASE("decodes characters, and returns size 0 for everything else") {
    const struct {
        std::string_view bytes;
        char32_t value;
        std::size_t size;
    } cases[] = {
        {"a", U'a', 1},
        {"\x7f", 0x7f, 1},
        {"\xc2\x80", 0x80, 2},
        {"\xdf\xbf", 0x7ff, 2},
        {"\xe0\xa0\x80", 0x800, 3},
        {"\xef\xbf\xbf", 0xffff, 3},
        {"\xf0\x90\x80\x80", 0x10000, 4},
        {"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
        {"\x80", 0, 0},              // the beginning is missing
        {"\xc3", 0, 0},              // the end is missing
        {"\xe4\xbdz", 0, 0},         // the end is missing
        {"\xc1\xbf", 0, 0},          // over-long
        {"\xe0\x9f\xbf", 0, 0},      // over-long
        {"\xf0\x8f\xbf\xbf", 0, 0},  // over-long
        {"\xed\xa0\x80", 0, 0},      // a surrogate
        {"\xf4\x90\x80\x80", 0, 0},  // beyond Unicode
        {"\xff", 0, 0},
    };
    for (const auto& each : cases) {
        CAPTURE(static_cast<unsigned>(each.value), each.bytes.size());
        const ui::CodePoint point = ui::decode(each.bytes, 0);
        CHECK(point.size == each.size);
        if (each.size > 0) CHECK(point.value == each.value);
        if (each.size > 0) CHECK(ui::encoded_size(each.bytes[0]) == each.size);
    }
}

namespace {

enum class Validity { utf8, cut, invalid };

// Checks a text that arrives in two pieces, with an empty piece between them.
Validity checked(std::string_view text, std::size_t cut) {
    ui::Utf8Check check;
    for (const std::string_view piece :
         {text.substr(0, cut), text.substr(cut, 0), text.substr(cut)})
        if (!check.add(piece)) return Validity::invalid;
    return check.is_complete() ? Validity::utf8 : Validity::cut;
}

}  // namespace

TEST_CASE("a text that arrives in pieces is judged as a whole") {
    const struct {
        std::string text;
        Validity validity;
    } cases[] = {
        {"", Validity::utf8},
        {"plain text of more than a word", Validity::utf8},
        {"\xce\xba\xe1\xbd\xb9\xcf\x83\xf0\x9f\x98\x80\xce\xb5", Validity::utf8},
        {"in words: \xf0\x9f\x98\x80 and then ASCII again, for many bytes", Validity::utf8},
        {"\xf4\x8f\xbf\xbf\xef\xbf\xbf\xdf\xbf\x7f", Validity::utf8},
        {"ends in a character \xe1\xbd", Validity::cut},
        {"\xf0\x9f\x98", Validity::cut},
        {"\xc3", Validity::cut},
        {"\xc3z", Validity::invalid},
        {"plain text of more than a word\x80", Validity::invalid},
        {"1234567\xff", Validity::invalid},
        {"12345678\xe4\xbdz", Validity::invalid},
        {"\xe4\xbd\xa0\xa0", Validity::invalid},
        {"\xe0\x9f", Validity::invalid},
        {"\xed\xa0", Validity::invalid},
        {"\xf0\x8f", Validity::invalid},
        {"\xf4\x90", Validity::invalid},
        {"\xf0\x9fz", Validity::invalid},
    };
    for (const auto& each : cases) {
        CHECK(ui::is_utf8(each.text) == (each.validity == Validity::utf8));
        for (std::size_t cut = 0; cut <= each.text.size(); ++cut) {
            CAPTURE(each.text, cut);
            CHECK(checked(each.text, cut) == each.validity);
        }
    }
}
