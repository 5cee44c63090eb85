#include "ui/line_editor.hpp"

#include "tests/ui/locale.hpp"
#include "tests/ui/plain_text.hpp"
#include "ui/key_parser.hpp"
#include "ui/text.hpp"

namespace {

using namespace std::string_view_literals;
using test::Locale;
using ui::LineEditor;

// Types as at a terminal. Returns true if the editor handled the last key.
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
    return test::plain_text(view.row) + '@' + std::to_string(view.cursor);
}

// Returns an editor with this text, whose cursor is at the _.
LineEditor editor_with(std::string text) {
    const std::size_t cursor = text.find('_');
    text.erase(cursor, 1);
    LineEditor editor;
    editor.set(text);
    type(editor, "\1");
    while (editor.cursor() < cursor) type(editor, "\6");
    return editor;
}

struct Row {
    std::string before, keys, after;
};

void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        INFO(row.before << " then " << row.keys);
        LineEditor editor = editor_with(row.before);
        type(editor, row.keys);
        CHECK(state(editor) == row.after);
    }
}

}  // namespace

TEST_CASE("the line is edited with readline's keys") {
    const Locale utf8("C.UTF-8");
    check({
        {"_", "hello", "hello_"},
        {"hello_", "\1", "_hello"},
        {"_hello", "\5", "hello_"},
        {"hello_", "\033[H>", ">_hello"},
        {"_hello", "\033[F>", "hello>_"},
        {"hello_", "\2\2-", "hel-_lo"},
        {"hello_", "\033[D\033[D\033[C-", "hell-_o"},
        {"_hello", "\6-", "h-_ello"},
        {"你好e\u0301_", "\177", "你好_"},
        {"你好e\u0301_", "\2\2\177", "_好e\u0301"},
        {"_ab", "\033[3~", "_b"},
        {"_ab", "\4", "_b"},
        {"ab_", "\4", "ab_"},
        {"_", "\177\2\033[3~", "_"},
        {"one two-three_", "\033b-", "one two--_three"},
        {"one two-three_", "\033b\033b\033f_", "one two__-three"},
        {"one two-three  _", "\27", "one _"},
        {"one two-three  _", "\033\177", "one two-_"},
        {"_one two", "\033d", "_ two"},
        {"one _two", "\25", "_two"},
        {"one _two", "\13", "one _"},
        {"one _two", "\13\31\31", "one twotwo_"},
        {"_one two three", "\033d\033d\5\31", " threeone two_"},
        {"one two_", "\27x\27\31\31", "one xx_"},
        {"one two_", "\27\13\31", "one two_"},
        {"e\u0301你_", "\24", "你e\u0301_"},
        {"one_", "\033\rtwo", "one\ntwo_"},
        {"one_", "\033\ntwo", "one\ntwo_"},
        {"a_", "\tb", "a\tb_"},
        {"a_", "\26\033", "a\033_"},
        {"a_", "\26\3\26\rb", "a\3\rb_"},
        {"a_", "\033[200~b\rc\033[201~d", "ab\ncd_"},
        {"_e", "\033[200~\u0301\033[201~", "\u0301_e"},
        {"xe\u0301_", "\1\6\033[3~", "x_"},
        {"a \u0301b_", "\033b\033b", "_a \u0301b"},
        {"abe\u0301_", "\2\2\2\6\6", "ab_e\u0301"},
        {"_\u0301", "e", "e\u0301_"},  // joins cells, and moves the cursor behind them
        // Alt with u, l and c changes the case from the cursor to the end of the word.
        {"_one two", "\033u", "ONE_ two"},
        {"o_ne two", "\033u", "oNE_ two"},
        {"one_ two", "\033u", "one TWO_"},
        {"one_ two", "\033u\033u", "one TWO_"},
        {"_ONE Two", "\033l\033l", "one two_"},
        {"_oNE tWO", "\033c\033c", "One Two_"},
        {"o_ne two", "\033c", "oNe_ two"},
        {"_  one", "\033c", "  One_"},
        {"_2nd", "\033c", "2nd_"},
        {"one  _", "\033u", "one  _"},
        {"_\u00e4\u00f6 x", "\033u", "\u00c4\u00d6_ x"},
        {"_a\xff\x62 c", "\033u",
         "A\xff"
         "B_ c"},
        {"_", "\033u\033l\033c", "_"},
        // With Alt, Shift and Caps Lock change no letter.
        {"one_", "\033B", "_one"},
        {"_one two", "\033F\033U", "one TWO_"},
        {"_one", "\033[85;4u", "ONE_"},     // kitty: Shift, Alt
        {"_one", "\033[117;67u", "ONE_"},   // kitty: Caps Lock, Alt
        {"_one", "\033[27;4;85~", "ONE_"},  // modifyOtherKeys: Shift, Alt
        // ^T swaps characters, and Alt with t swaps words.
        {"ab_", "\24", "ba_"},
        {"a_bc", "\24", "ba_c"},
        {"_ab", "\24", "_ab"},
        {"a_", "\24", "a_"},
        {"one two_", "\033t", "two one_"},
        {"one_ two", "\033t", "two one_"},
        {"one t_wo, six", "\033t", "two one_, six"},
        {"one two,  _", "\033t", "two one_,  "},
        {"one - two_", "\033t", "two - one_"},
        {"on_e two", "\033t", "on_e two"},
        {"one_", "\033t", "one_"},
        {"  _", "\033t", "  _"},
        // Arrows with Ctrl or Alt move by words.
        {"one two_", "\033[1;5D", "one _two"},
        {"one two_", "\033[1;3D\033[1;3D", "_one two"},
        {"_one two", "\033[1;5C", "one_ two"},
        {"_one two", "\033\033[C", "one_ two"},
        {"_one two", "\033[3;3~", "_ two"},
        // ^Y pastes the text cut last, and Alt with y replaces it by the text cut before.
        {"one two_", "\27\27\31", "one two_"},            // cut in sequence: one text
        {"one two three_", "\27\13\27\31", "one two _"},  // cut nothing between
        {"one two_", "\27\1\13\31", "one _"},             // a key between: two texts
        {"one two_", "\27\1\13\31\033y", "two_"},
        {"one two_", "\27\1\13\31\033y\033y", "one _"},
        {"one two_", "\27\31x\033y", "one twox_"},  // only after a paste
        {"one_", "\33y\31\33y", "one_"},            // nothing was cut
        {"a b_", "\27\5\31c\31\033y", "a bcb_"},    // one text only
        // ^_ undoes changes, typing word by word, and Alt with r undoes all.
        {"_", "one two\37", "one _"},
        {"_", "one two\37\37", "_"},
        {"_", "one two\37\37\37", "_"},
        {"_", "one\2x\37", "on_e"},
        {"one two_", "\27\37", "one two_"},
        {"one two_", "\1\13\37", "one two_"},
        {"ab_", "\177\37", "ab_"},
        {"ab_", "\33[200~c d\33[201~\37", "ab_"},
        {"one_", "\033b\033u\37", "one_"},
        {"_", "ONE\033b\033u\37", "_"},  // upper case already, so no change
        {"ab_c", "\4\37", "abc_"},
        {"one _two three", "\033d\37", "one two_ three"},
        {"one two_", "\033b\033t\37", "one two_"},
        {"one_", "\27\31\31\37", "one_"},
        {"one_", "x y\27\1\13\033r", "one_"},
        {"one_", "\033r", "one_"},
    });
}

TEST_CASE("leaves keys without a binding to the caller") {
    const struct {
        std::string_view typed;
        bool taken;
    } cases[] = {
        {"\r", false},      {"\x03", false},   {"\x04", false}, {"a\x04", true},
        {"\x1b[A", false},  {"\x10", false},   {"\x12", false}, {"\x1b", false},
        {"\x1bh", false},   {"\x1bOP", false}, {"\x0c", false}, {"\x1b[5~", false},
        {"\x16\x04", true}, {"\x16\r", true},  {"\n", false},   {"\x16\x1b[A", false},
    };
    for (const auto& each : cases) {
        INFO(ui::printable(each.typed));
        LineEditor editor;
        REQUIRE(type(editor, each.typed) == each.taken);
    }
}

TEST_CASE("the key help names every letter that edits, and no other") {
    std::string named;
    for (const auto& each : LineEditor::bindings)
        if (each.help) named += std::string(each.key_names) + ' ';
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

TEST_CASE("the view scrolls by half a row, and hides no text while it has blank columns") {
    struct View {
        const char* keys;
        int width;
        const char* seen;
    };
    for (const std::vector<View>& views :
         {std::vector<View>{{"0123456", 8, "0123456@7"},
                            {"7", 8, "4567@4"},
                            {"\2\2\2", 8, "4567@1"},
                            {"\2", 8, "01234567@4"},
                            {"\5\25", 8, "@0"}},
          {{"0123456789", 4, "89@2"}, {"", 11, "0123456789@10"}},
          {{"0123456789", 10, "56789@5"},
           {"\177\177\177\177", 10, "5@1"},
           {"\177", 10, "01234@5"}}}) {
        LineEditor editor;
        for (const View& view : views) {
            type(editor, view.keys);
            CHECK(seen(editor, view.width) == view.seen);
        }
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

TEST_CASE("the last ten texts that were cut can be pasted") {
    LineEditor editor;
    for (int i = 0; i < 12; ++i) {
        type(editor, "cut" + std::to_string(i));
        type(editor, "\25");
        editor.clear();
    }
    type(editor, "\31");
    for (int i = 11; i >= 2; --i) {
        CHECK(editor.text() == "cut" + std::to_string(i));
        type(editor, "\033y");
    }
    CHECK(editor.text() == "cut11");
}

TEST_CASE("a line that was set has nothing to undo") {
    LineEditor editor = editor_with("a_");
    type(editor, "b");
    editor.set("c");
    type(editor, "\37");
    CHECK(state(editor) == "c_");
}

TEST_CASE("the last 1000 changes can be undone, or all together") {
    LineEditor editor;
    editor.set(std::string(1001, 'a'));
    for (int i = 0; i < 1001; ++i) type(editor, "\177");
    for (int i = 0; i < 1001; ++i) type(editor, "\037");
    CHECK(editor.text().size() == 1000);
    type(editor, "\033r");
    CHECK(editor.text().size() == 1001);
}
