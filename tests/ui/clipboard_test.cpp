#include "ui/clipboard.hpp"

#include "tests/support/catch.hpp"
#include "tests/ui/attacks.hpp"
#include "tests/ui/locale.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <string>

using test::Locale;
using ui::base64;
using ui::clipboard_sequence;

TEST_CASE("bytes become base64") {
    const auto [bytes, text] = GENERATE(table<std::string, std::string>({
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\xfd", "//79"},
        {std::string("\0\0", 2), "AAA="},
    }));
    CHECK(base64(bytes) == text);
}

TEST_CASE("what goes to the clipboard is what is shown") {
    const Locale utf8("C.UTF-8");
    const auto sequence = [](const std::string& shown) {
        return "\x1b]52;c;" + base64(shown) + "\x1b\\";
    };
    CHECK(clipboard_sequence("hello") == "\x1b]52;c;aGVsbG8=\x1b\\");
    CHECK(clipboard_sequence("") == sequence(""));
    CHECK(clipboard_sequence("你好") == sequence("你好"));
    CHECK(clipboard_sequence("rm -rf /\r\n") == sequence("rm -rf /^M^J"));
    CHECK(clipboard_sequence("\x1b[201~\x03\x9b") == sequence("^[[201~^C\\x9b"));
    CHECK(clipboard_sequence("a\u202e\u200b") == sequence("a\\u202e\\u200b"));
    CHECK(clipboard_sequence("\xc2\x85\xc2\x9b") == sequence("\\x85\\x9b"));
}

TEST_CASE("no attack gets into the clipboard as a control character") {
    const Locale locale(GENERATE("C.UTF-8", "C"));
    for (const auto attack : test::attacks) {
        const std::string sequence = clipboard_sequence(attack);
        const auto is_control = [](char c) {
            return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
        };
        CHECK(std::count_if(sequence.begin(), sequence.end(), is_control) == 2);  // OSC and ST
        CHECK(sequence == "\x1b]52;c;" + base64(ui::printable(attack)) + "\x1b\\");
    }
}

TEST_CASE("a text above the limit of terminals has no sequence") {
    const std::string longest(ui::longest_copy, 'x');
    CHECK(clipboard_sequence(longest).size() <= 100'000);
    CHECK(clipboard_sequence(longest + 'x').empty());
    CHECK(clipboard_sequence(std::string(ui::longest_copy / 2 + 1, '\x01')).empty());
}
