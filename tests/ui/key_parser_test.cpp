#include "ui/key_parser.hpp"

#include "tests/support/catch.hpp"
#include "tests/ui/key_names.hpp"
#include "ui/text.hpp"

namespace {

using ui::KeyParser;
using namespace std::string_view_literals;

// Appends the names of the keys, separated by blanks.
void drain(KeyParser& parser, std::string& keys) {
    while (const auto key = parser.next()) keys += (keys.empty() ? "" : " ") + test::name(*key);
}

std::string drained(KeyParser& parser) {
    std::string keys;
    drain(parser, keys);
    return keys;
}

// Returns the keys of `bytes` that arrive in two reads, the first of `cut` bytes.
std::string keys_of(std::string_view bytes, std::size_t cut) {
    KeyParser parser;
    parser.feed(bytes.substr(0, cut));
    std::string keys = drained(parser);
    parser.feed(bytes.substr(cut));
    drain(parser, keys);
    while (parser.needs_timeout()) {
        parser.expire();
        drain(parser, keys);
    }
    return keys;
}

struct Case {
    std::string bytes, keys;
};

// Cuts the bytes, and those of the key `next` after them, at each byte.
void check_split(const std::vector<Case>& cases, const std::string& next = "") {
    for (const auto& [begin, keys] : cases) {
        const std::string bytes = begin + next;
        for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
            INFO(ui::printable(bytes) << " cut at " << cut);
            REQUIRE(keys_of(bytes, cut) ==
                    keys + (keys.empty() || next.empty() ? "" : " ") + next);
        }
    }
}

}  // namespace

TEST_CASE("keys do not depend on how their bytes are split") {
    check_split({
        {"ab", "a b"},
        {"\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80", "é 你 😀"},
        {"\xe9x\xc3", "é:\xe9 x"},
        {"\x80", "\xc2\x80:\x80"},
        {std::string("\x01\x1a\x1c\x1f\0"sv), "ctrl-a ctrl-z ctrl-\\ ctrl-_ ctrl-@"},
        {"\r\n\t\b\x7f", "enter enter tab backspace backspace"},
        {"\x1b", "escape"},
        {"\x1b\x1b", "alt-escape"},
        {"\x1b\x1b\x1b", "alt-escape escape"},
        {"\x1b[", "alt-["},
        {"\x1bO", "alt-o:O"},
        {"\x1b/\x1b\r\x1b\x04", "alt-/ alt-enter alt-ctrl-d"},
        {"\x1b\xc3\xa9", "alt-é"},
        {"\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"},
        {"\x1bOA\x1bOH\x1bOF\x1bOP", "up home end f1"},
        {"\x1b[1~\x1b[7~\x1b[4~\x1b[8~\x1b[3~\x1b[5~\x1b[6~\x1b[11~\x1b[[A",
         "home home end end del page-up page-down f1 f1"},
        {"\x1b[1;2A\x1b[1;3A\x1b[1;5C\x1b[3;7~\x1b\x1b[B",
         "up alt-up ctrl-right alt-ctrl-del alt-down"},
        {"\x1bOM\x1b[<0;10;3M\x1b[<0;10;3m", "enter"},
        // Mouse reports, also of terminals without SGR reports.
        {"\x1b[<64;10;3M\x1b[<M\x1b[M`!!\x1b[M \xc8\xffk", "k"},
        {"\x1b[?1007;2$y\x1b[?2026;0$yk", "k"},
        {"\x1b[?1;2c\x1b[200;300;400x\x1b[24~\x1bOz\x1b[[Zk", "k"},
        {"\x1b[12\x03k", "ctrl-c k"},
        {"\x1b[200~a\rb\r\n\x1b[A\xe4\xbd\x1b[201\x1b[201~k",
         "paste:a\nb\n\x1b[A\xe4\xbd\x1b[201 k"},
        {"\x1b[200~x\ny\x1b[201~", "paste:x\ny"},
        {"\x1b[200~\x1b[201~", "paste"},
        // Without an end, and then a pause.
        {"\x1b[200~", "paste"},
        {"\x1b[200~a\x1b[201", "paste:a\x1b[201"},
        {"\x1b[201~k", "k"},
        {"\033OP\033OQ\033OR\033OS", "f1 f2 f3 f4"},
        {"\033[11~\033[12~\033[13~\033[14~\033[15~", "f1 f2 f3 f4 f5"},
        {"\033[17~\033[18~\033[19~\033[20~", "f6 f7 f8 f9"},
        {"\033[[A\033[[B\033[[C\033[[D\033[[E", "f1 f2 f3 f4 f5"},
        {"\033[P\033[Q\033[S", "f1 f2 f4"},
    });
}

TEST_CASE("answers of the terminal are skipped, however they are split") {
    check_split({
        // OSC, DCS, APC, PM and SOS, ended by ST or BEL.
        {"\x1b]11;rgb:1c1c/1e1e/2626\x1b\\k", "k"},
        {"\x1b]11;rgb:1c1c/1e1e/2626\ak", "k"},
        {"\x1bP>|XTerm(379)\x1b\\\x1bP1$r0m\x1b\\k", "k"},
        {"\x1b_Gi=1;OK\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\k", "k"},
        {"\x1b]lé你\x1b\\k", "k"},
        {"a\x1b]4;1;rgb:00/00/00\ab", "a b"},
        // CSI: attributes, positions, modes, sizes, focus.
        {"\x1b[?64;1;2;6;9;15;16;17;18;21;22;28;29;42;52c\x1b[>41;379;0ck", "k"},
        {"\x1b[12;40R\x1b[0n\x1b[?2026;2$y\x1b[8;24;80t\x1b[I\x1b[O\x1b[?1uk", "k"},
        // Without an end: a control character, and each other sequence, ends an answer.
        {"\x1b]11;rgb\x03k", "ctrl-c k"},
        {"\x1b]11;rgb\rk", "enter k"},
        {"\x1bPx\x1b[Ak", "up k"},
        {"\x1b]11;\x1b]12;\ak", "k"},
        // Nothing that an answer could contain follows: keys with Alt.
        {"\x1b]", "alt-]"},
        {"\x1bP\rk", "alt-p:P enter k"},
        {"\x1b_\x1b^\x1bX\x03", "alt-_ alt-^ alt-x:X ctrl-c"},
        {"\x1b[\x03\x1bO\x7f", "alt-[ ctrl-c alt-o:O backspace"},
    });
}

TEST_CASE("keys of kitty's protocol and of modifyOtherKeys are the usual keys") {
    check_split({
        {"\x1b[99;5u", "ctrl-c"},
        {"\x1b[27;5;99~", "ctrl-c"},
        {"\x1b[27;6;67~", "ctrl-c"},
        // Caps Lock adds 64, Num Lock 128.
        {"\x1b[99;69u\x1b[99;133u\x1b[99;197u", "ctrl-c ctrl-c ctrl-c"},
        {"\x1b[99:67:99;5:1u\x1b[99;5:2u\x1b[99;5:3u", "ctrl-c ctrl-c"},
        {"\x1b[100;5u\x1b[32;5u\x1b[64;5u\x1b[47;5u\x1b[95;5u",
         "ctrl-d ctrl-@ ctrl-@ ctrl-_ ctrl-_"},
        {"\x1b[105;5u\x1b[109;5u\x1b[91;5u\x1b[63;5u", "tab enter escape backspace"},
        {"\x1b[13u\x1b[27u\x1b[9u\x1b[127u\x1b[13;2u\x1b[27;5;13~\x1b[13;3u",
         "enter escape tab backspace enter enter alt-enter"},
        {"\x1b[104;3u\x1b[27;3;104~\x1b[100;7u\x1b[60:62;4u", "alt-h alt-h alt-ctrl-d alt->"},
        {"\x1b[97u\x1b[97;2u\x1b[97;65u\x1b[97;66u\x1b[49:33;2u\x1b[233u", "a A A a ! é"},
        {"\x1b[97;;229u\x1b[50;2;34u", "å \""},
        // Keys of the keypad; modifiers alone, keys with Super, and codes without a meaning.
        {"\x1b[57401u\x1b[57413;129u\x1b[57414u\x1b[57419u\x1b[57426u", "2 + enter up del"},
        {"\x1b[57441;2u\x1b[57358u\x1b[97;9u\x1b[49;5u\x1b[u\x1b[0u\x1b[55296u"
         "\x1b[99999999999u\x1b[27;5~\x1b[27~k",
         "k"},
        // The other keys have the same modifiers and events.
        {"\x1b[1;1:1A\x1b[1;1:3A\x1b[1;129B\x1b[1;67:2C\x1b[3;5:3~\x1b[3;69~\x1b[P",
         "up down alt-right ctrl-del f1"},
    });
}

// Sequences of xterm, rxvt, st, Konsole, kitty, PuTTY, the Linux console and Windows Terminal.
TEST_CASE("a sequence of a terminal is one key, cut at any byte") {
    std::vector<Case> rows = {
        // rxvt
        {"\x1b[3$\x1b[3^\x1b[3@\x1b[7$", "del ctrl-del ctrl-del home"},
        {"\x1b[a\x1b[d\x1bOa\x1bOd\x1b\x1bOc", "up left ctrl-up ctrl-left alt-ctrl-right"},
        {"\x1b[11^\x1b[2$\x1b[25$\x1b[33@", "ctrl-f1"},
        // Konsole and old xterm
        {"\x1bO5R\x1bO2P\x1bO1;5S\x1bO3H", "ctrl-f3 f1 ctrl-f4 alt-home"},
        {"\x1bO5w\x1b[E\x1bOE\x1b[Z", ""},
        // the keypad in application mode
        {"\x1bOj\x1bOk\x1bOm\x1bOo\x1bOp\x1bOy\x1bOn\x1bOX\x1bOM\x1bOI",
         "* + - / 0 9 . = enter tab"},
        // win32-input-mode
        {"\x1b[67;46;3;1;8;1_\x1b[67;46;3;0;8;1_", "ctrl-c"},
        {"\x1b[65;30;97;1;0;1_\x1b[65;30;65;1;16;1_\x1b[72;35;104;1;2;1_", "a A alt-h"},
        {"\x1b[81;16;64;1;9;1_\x1b[13;28;13;1;0;1_\x1b[8;14;8;1;0;1_", "@ enter backspace"},
        {"\x1b[38;72;0;1;256;1_\x1b[37;75;0;1;264;1_\x1b[112;59;0;1;2;1_",
         "up ctrl-left alt-f1"},
        {"\x1b[17;29;0;1;8;1_\x1b[16;42;0;1;16;1_\x1b[;;55357;1_", ""},
        // kitty: the keypad with Ctrl, and text of several characters
        {"\x1b[57417;5u\x1b[57424;7u\x1b[97;2;65:66u\x1b[97;1;105:775u",
         "ctrl-left alt-ctrl-end A:AB i:i\u0307"},
        // Escape before an answer, and an old mouse report that is cut off
        {"\x1b\x1b[?1;2c", "escape"},
        {"\x1b\x1b]11;x\a\x1b[A", "escape up"},
        {"\x1b[M\x03", "ctrl-c"},
    };
    const struct {
        const char *begin, *end, *key;
    } keys[] = {{"1", "A", "up"},      {"1", "C", "right"},   {"1", "H", "home"},
                {"1", "F", "end"},     {"1", "P", "f1"},      {"1", "S", "f4"},
                {"3", "~", "del"},     {"5", "~", "page-up"}, {"15", "~", "f5"},
                {"20", "~", "f9"},     {"2", "~", ""},        {"24", "~", ""},
                {"57420", "u", "down"}};
    for (const auto& each : keys)
        for (int bits = 0; bits < 256; ++bits) {
            const std::string modifiers =
                (bits & 2 ? std::string("alt-") : "") + (bits & 4 ? "ctrl-" : "");
            rows.push_back(
                {std::string("\x1b[") + each.begin + ";" + std::to_string(bits + 1) + each.end,
                 *each.key ? modifiers + each.key : ""});
        }
    check_split(rows, "k");
}

TEST_CASE("no sequence swallows the interrupt that follows it") {
    for (const std::string begin : {"\x1b[", "\x1bO"})
        for (int first = 0x20; first < 0x7f; ++first)
            for (int second = 0x20; second < 0x7f; ++second) {
                std::string bytes = begin;
                bytes.push_back(static_cast<char>(first));
                bytes.push_back(static_cast<char>(second));
                INFO(ui::printable(bytes));
                const std::string keys = keys_of(bytes + "\x03", 2);
                REQUIRE(keys.ends_with("ctrl-c"));
            }
}

TEST_CASE("the parser waits only in a paste, and for bytes that could be a key by themselves") {
    const struct {
        std::string_view bytes;
        bool waits;
    } cases[] = {
        {"", false},         {"a", false},       {"\x1b", true},        {"\x1b[", true},
        {"\x1bO", true},     {"\x1b[1;", false}, {"\x1b[200~a", true},  {"\x1b[200~\x1b", true},
        {"\x1b]", true},     {"\x1bP", true},    {"\x1b]1", false},     {"\x1b]1\x1b", false},
        {"\xe4\xbd", false}, {"\x1b\x1b", true}, {"\x1b\x1b[1", false},
    };
    for (const auto& each : cases) {
        KeyParser parser;
        parser.feed(each.bytes);
        drained(parser);
        REQUIRE(parser.needs_timeout() == each.waits);
    }
}

TEST_CASE("truncates a paste at its limit, and marks it") {
    for (const std::size_t more : {0U, 1U, 10U}) {
        const std::string text(KeyParser::max_paste, 'a');
        const std::string sent = "\x1b[200~" + text + std::string(more, 'b') + "\x1b[201~k";
        CHECK(keys_of(sent, 9) == "paste:" + text + (more > 0 ? " truncated k" : " k"));
    }
}

TEST_CASE("a sequence without an end neither grows for ever nor locks the keyboard") {
    const std::string begin = GENERATE("\x1b[", "\x1b]", "\x1bP");
    const std::string piece(1000, '1');
    KeyParser parser;
    parser.feed(begin);
    std::size_t fed = 0;
    while (drained(parser).empty() && fed < 1'000'000) {
        parser.feed(piece);
        fed += piece.size();
    }
    CHECK(fed > 100'000);  // as long as the longest answers
    CHECK(fed < 200'000);
    parser.feed("\x03");
    CHECK(drained(parser) == "ctrl-c");
}

TEST_CASE("many escapes without a sequence are keys") {
    KeyParser parser;
    parser.feed(std::string(100, '\x1b'));
    std::string keys;
    for (int i = 0; i < 49; ++i) keys += i == 0 ? "alt-escape" : " alt-escape";
    CHECK(drained(parser) == keys);
}
