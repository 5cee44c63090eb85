#include "ui/line_editor.hpp"

#include "tests/support/catch.hpp"
#include "tests/ui/locale.hpp"
#include "ui/key_parser.hpp"
#include "ui/text.hpp"

#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;
using test::Locale;
using ui::LineEditor;

// Types as at a terminal. Returns true if the editor took the last key.
bool type(LineEditor& editor, std::string_view bytes) {
    ui::KeyParser parser;
    parser.feed(bytes);
    parser.expire();
    bool taken = false;
    while (const auto key = parser.next()) taken = editor.press(*key);
    return taken;
}

// Returns the text with a _ at the cursor.
std::string state(const LineEditor& editor) {
    return std::string(editor.text()).insert(editor.cursor(), "_");
}

std::string seen(LineEditor& editor, int width) {
    const auto view = editor.view(width);
    return ui::plain_text(view.row) + '@' + std::to_string(view.cursor);
}

// Keys and the resulting state().
constexpr struct {
    std::string_view typed;
    const char* state;
} edits[] = {
    {"hello", "hello_"},
    {"hello\x01", "_hello"},
    {"hello\x01\x05", "hello_"},
    {"hello\x1b[H>", ">_hello"},
    {"hello\x1b[H\x1b[F>", "hello>_"},
    {"hello\x02\x02-", "hel-_lo"},
    {"hello\x1b[D\x1b[D\x1b[C-", "hell-_o"},
    {"hello\x01\x06-", "h-_ello"},
    {"你好e\u0301\x7f", "你好_"},
    {"你好e\u0301\x02\x02\x7f", "_好e\u0301"},
    {"ab\x01\x1b[3~", "_b"},
    {"ab\x01\x04", "_b"},
    {"ab\x04", "ab_"},
    {"\x7f\x02\x1b[3~", "_"},
    {"one two-three\x1b"
     "b-",
     "one two--_three"},
    {"one two-three\x1b"
     "b\x1b"
     "b\x1b"
     "f_",
     "one two__-three"},
    {"one two-three  \x17", "one _"},
    {"one two-three  \x1b\x7f", "one two-_"},
    {"one two\x01\x1b"
     "d",
     "_ two"},
    {"one two\x1b"
     "b\x15",
     "_two"},
    {"one two\x1b"
     "b\x0b",
     "one _"},
    {"one two\x1b"
     "b\x0b\x19\x19",
     "one twotwo_"},
    {"one two three\x17\x17\x19", "one two three_"},
    {"one two three\x01\x1b"
     "d\x1b"
     "d\x05\x19",
     " threeone two_"},
    {"one two\x17x\x17\x19\x19", "one xx_"},
    {"one two\x17\x0b\x19", "one two_"},
    {"abc\x14", "acb_"},
    {"abc\x02\x02\x14", "ba_c"},
    {"a\x14", "a_"},
    {"abc\x01\x14", "_abc"},
    {"e\u0301你\x14", "你e\u0301_"},
    {"one\x1b\rtwo", "one\ntwo_"},
    {"one\x1b\ntwo", "one\ntwo_"},
    {"a\tb", "a\tb_"},
    {"a\x16\x1b", "a\x1b_"},
    {"a\x16\x03\x16\rb", "a\x03\rb_"},
    {"a\x1b[200~b\rc\x1b[201~d", "ab\ncd_"},
    {"e\x02\x1b[200~\u0301\x1b[201~", "\u0301_e"},
    {"xe\u0301\x01\x06\x1b[3~", "x_"},
    {"a \u0301b\x1b"
     "b\x1b"
     "b",
     "_a \u0301b"},
};

}  // namespace

TEST_CASE("the line is edited with readline's keys") {
    const Locale utf8("C.UTF-8");
    for (const auto& each : edits) {
        INFO(ui::printable(each.typed));
        LineEditor editor;
        type(editor, each.typed);
        REQUIRE(state(editor) == each.state);
    }
}

TEST_CASE("an edit that joins graphemes moves the cursor behind them") {
    const Locale utf8("C.UTF-8");
    LineEditor editor;
    editor.set("abe\u0301");
    type(editor, "\x02\x02\x02\x06\x06");
    REQUIRE(state(editor) == "ab_e\u0301");
    editor.set("e-\u0301");
    type(editor, "\x01\x06\x1b[3~");
    REQUIRE(editor.cursor() == editor.text().size());
}

TEST_CASE("leaves keys without a binding to the caller") {
    const struct {
        std::string_view typed;
        bool taken;
    } cases[] = {
        {"\r", false},      {"\x03", false},   {"\x04", false}, {"a\x04", true},
        {"\x1b[A", false},  {"\x10", false},   {"\x12", false}, {"\x1b", false},
        {"\x1bh", false},   {"\x1bOP", false}, {"\x0c", false}, {"\x1b[5~", false},
        {"\x16\x04", true}, {"\x16\r", true},  {"\n", false},   {"\x16\x1b[A", true},
    };
    for (const auto& each : cases) {
        INFO(ui::printable(each.typed));
        LineEditor editor;
        REQUIRE(type(editor, each.typed) == each.taken);
    }
}

TEST_CASE("the key help names every letter that edits, and no other") {
    std::string named;
    for (const ui::KeyHelp& row : LineEditor::key_help()) named += std::string(row.keys) + ' ';
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        const char upper = static_cast<char>(letter - 'a' + 'A');
        const auto symbol = static_cast<char32_t>(letter);
        CAPTURE(letter);
        // The client documents ^D, which ends the input on an empty line.
        if (letter != 'd')
            CHECK(LineEditor().press({ui::ctrl(symbol), "", false}) ==
                  (named.find(std::string("^") + upper + ' ') != std::string::npos));
        CHECK(LineEditor().press({ui::alt(symbol), "", false}) ==
              (named.find(std::string("M-") + letter + ' ') != std::string::npos));
    }
}

TEST_CASE("the view shows the cursor, whatever the width") {
    const Locale utf8("C.UTF-8");
    LineEditor editor;
    editor.set("a\x1b你好 world, and so on, and so on");
    const auto size = editor.text().size();
    for (int width = 1; width < 50; ++width)
        for (std::size_t back = 0; back <= size; ++back) {
            const auto view = editor.view(width);
            REQUIRE(view.cursor >= 0);
            REQUIRE(view.cursor < width);
            REQUIRE(ui::display_width(view.row) <= width);
            type(editor, back == size ? "\x05" : "\x02");
        }
    REQUIRE(editor.view(0).row.empty());
}

TEST_CASE("the view scrolls by half a row") {
    LineEditor editor;
    type(editor, "0123456");
    REQUIRE(seen(editor, 8) == "0123456@7");
    type(editor, "7");
    REQUIRE(seen(editor, 8) == "4567@4");
    type(editor, "\x02\x02\x02");
    REQUIRE(seen(editor, 8) == "4567@1");
    type(editor, "\x02");
    REQUIRE(seen(editor, 8) == "01234567@4");
    editor.clear();
    REQUIRE(seen(editor, 8) == "@0");
}

TEST_CASE("the view never hides text while it has blank columns") {
    LineEditor editor;
    type(editor, "0123456789");
    SECTION("when its row gets wider") {
        REQUIRE(seen(editor, 4) == "89@2");
        REQUIRE(seen(editor, 11) == "0123456789@10");
    }
    SECTION("when the text before the cursor is deleted") {
        REQUIRE(seen(editor, 10) == "56789@5");
        type(editor, "\x7f\x7f\x7f\x7f");
        REQUIRE(seen(editor, 10) == "5@1");
        type(editor, "\x7f");
        REQUIRE(seen(editor, 10) == "01234@5");
    }
}

TEST_CASE("the view shows escapes in a style of their own") {
    LineEditor editor;
    editor.insert("a\x1b");
    REQUIRE(editor.view(9).row ==
            ui::Row{{"a", ui::Style::normal}, {"^[", ui::Style::escaped}});
}

TEST_CASE("a long paste is edited like a short one") {
    const Locale utf8("C.UTF-8");
    std::string text;
    while (text.size() < 1 << 20) text += "你好 line\n";
    LineEditor editor;
    editor.insert(text);
    for (int i = 0; i < 1000; ++i) {
        type(editor, "\x02");
        editor.view(80);
    }
    type(editor, "\x0b\x15");
    REQUIRE(editor.empty());
}
