#include "ui/key_parser.hpp"

#include "tests/support/catch.hpp"
#include "ui/text.hpp"

#include <span>

namespace {

using ui::alt;
using ui::Chord;
using ui::ctrl;
using ui::Key;
using ui::KeyCode;
using ui::KeyParser;
using ui::plain;
using namespace std::string_view_literals;

std::vector<Key> drain(KeyParser& parser) {
    std::vector<Key> keys;
    while (auto key = parser.next()) keys.push_back(*key);
    return keys;
}

void add(std::vector<Key>& keys, const std::vector<Key>& more) {
    keys.insert(keys.end(), more.begin(), more.end());
}

// Returns the keys of `bytes` that arrive in two reads, the first of `cut` bytes.
std::vector<Key> keys_of(std::string_view bytes, std::size_t cut, std::size_t limit = 100) {
    KeyParser parser(limit);
    parser.feed(bytes.substr(0, cut));
    auto keys = drain(parser);
    parser.feed(bytes.substr(cut));
    add(keys, drain(parser));
    while (parser.key_incomplete()) {
        parser.expire();
        add(keys, drain(parser));
    }
    return keys;
}

Key key(Chord chord, std::string text = "") { return {chord, std::move(text), false}; }

struct Case {
    std::string_view bytes;
    std::vector<Key> keys;
};

void check_split(std::span<const Case> cases) {
    for (const Case& each : cases)
        for (std::size_t cut = 0; cut <= each.bytes.size(); ++cut) {
            INFO(ui::printable(each.bytes) << " cut at " << cut);
            const auto keys = keys_of(each.bytes, cut);
            CHECK(keys.size() == each.keys.size());
            REQUIRE(keys == each.keys);
        }
}

}  // namespace

TEST_CASE("keys do not depend on how their bytes are split") {
    const Case cases[] = {
        {"ab", {key(plain('a'), "a"), key(plain('b'), "b")}},
        {"\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80",
         {key(plain(U'é'), "é"), key(plain(U'你'), "你"), key(plain(U'😀'), "😀")}},
        {"\xe9x\xc3", {key(plain(char32_t{0xe9}), "\xe9"), key(plain('x'), "x")}},
        {"\x80", {key(plain(char32_t{0x80}), "\x80")}},
        {"\x01\x1a\x1c\x1f\0"sv,
         {key(ctrl('a')), key(ctrl('z')), key(ctrl('\\')), key(ctrl('_')), key(ctrl('@'))}},
        {"\r\n\t\b\x7f",
         {key(plain(KeyCode::enter)), key(plain(KeyCode::newline)), key(plain(KeyCode::tab)),
          key(plain(KeyCode::backspace)), key(plain(KeyCode::backspace))}},
        {"\x1b", {key(plain(KeyCode::escape))}},
        {"\x1b\x1b", {key(alt(KeyCode::escape))}},
        {"\x1b\x1b\x1b", {key(alt(KeyCode::escape)), key(plain(KeyCode::escape))}},
        {"\x1b[", {key(alt('['), "[")}},
        {"\x1bO", {key(alt('o'), "O")}},
        {"\x1b/\x1b\r\x1b\x04",
         {key(alt('/'), "/"), key(alt(KeyCode::enter)),
          key({KeyCode::character, 'd', true, true})}},
        {"\x1b\xc3\xa9", {key(alt(U'é'), "é")}},
        {"\x1b[A\x1b[B\x1b[C\x1b[D",
         {key(plain(KeyCode::up)), key(plain(KeyCode::down)), key(plain(KeyCode::right)),
          key(plain(KeyCode::left))}},
        {"\x1bOA\x1bOH\x1bOF\x1bOP",
         {key(plain(KeyCode::up)), key(plain(KeyCode::home)), key(plain(KeyCode::end)),
          key(plain(KeyCode::f1))}},
        {"\x1b[1~\x1b[7~\x1b[4~\x1b[8~\x1b[3~\x1b[5~\x1b[6~\x1b[11~\x1b[[A",
         {key(plain(KeyCode::home)), key(plain(KeyCode::home)), key(plain(KeyCode::end)),
          key(plain(KeyCode::end)), key(plain(KeyCode::del)), key(plain(KeyCode::page_up)),
          key(plain(KeyCode::page_down)), key(plain(KeyCode::f1)), key(plain(KeyCode::f1))}},
        {"\x1b[1;2A\x1b[1;3A\x1b[1;5C\x1b[3;7~\x1b\x1b[B",
         {key(plain(KeyCode::up)), key(alt(KeyCode::up)), key(ctrl(KeyCode::right)),
          key({KeyCode::del, 0, true, true}), key(alt(KeyCode::down))}},
        {"\x1bOM\x1b[<0;10;3M\x1b[<0;10;3m", {key(plain(KeyCode::enter))}},
        // Mouse reports, also of terminals without SGR reports.
        {"\x1b[<64;10;3M\x1b[<M\x1b[M`!!\x1b[M \xc8\xffk", {key(plain('k'), "k")}},
        {"\x1b[?1007;2$y\x1b[?2026;0$yk", {key(plain('k'), "k")}},
        {"\x1b[?1;2c\x1b[200;300;400x\x1b[24~\x1bOz\x1b[[Zk", {key(plain('k'), "k")}},
        {"\x1b[12\x03k", {key(ctrl('c')), key(plain('k'), "k")}},
        {"\x1b[200~a\rb\r\n\x1b[A\xe4\xbd\x1b[201\x1b[201~k",
         {key(plain(KeyCode::paste), "a\nb\n\x1b[A\xe4\xbd\x1b[201"), key(plain('k'), "k")}},
        {"\x1b[200~\x1b[201~", {key(plain(KeyCode::paste))}},
        {"\x1b[201~k", {key(plain('k'), "k")}},
    };
    check_split(cases);
}

TEST_CASE("answers of the terminal are skipped, however they are split") {
    const Case cases[] = {
        // OSC, DCS, APC, PM and SOS, ended by ST or BEL.
        {"\x1b]11;rgb:1c1c/1e1e/2626\x1b\\k", {key(plain('k'), "k")}},
        {"\x1b]11;rgb:1c1c/1e1e/2626\ak", {key(plain('k'), "k")}},
        {"\x1bP>|XTerm(379)\x1b\\\x1bP1$r0m\x1b\\k", {key(plain('k'), "k")}},
        {"\x1b_Gi=1;OK\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\k", {key(plain('k'), "k")}},
        {"\x1b]lé你\x1b\\k", {key(plain('k'), "k")}},
        {"a\x1b]4;1;rgb:00/00/00\ab", {key(plain('a'), "a"), key(plain('b'), "b")}},
        // CSI: attributes, positions, modes, sizes, focus.
        {"\x1b[?64;1;2;6;9;15;16;17;18;21;22;28;29;42;52c\x1b[>41;379;0ck",
         {key(plain('k'), "k")}},
        {"\x1b[12;40R\x1b[0n\x1b[?2026;2$y\x1b[8;24;80t\x1b[I\x1b[O\x1b[?1uk",
         {key(plain('k'), "k")}},
        // Without an end: a control character, and each other sequence, ends an answer.
        {"\x1b]11;rgb\x03k", {key(ctrl('c')), key(plain('k'), "k")}},
        {"\x1b]11;rgb\rk", {key(plain(KeyCode::enter)), key(plain('k'), "k")}},
        {"\x1bPx\x1b[Ak", {key(plain(KeyCode::up)), key(plain('k'), "k")}},
        {"\x1b]11;\x1b]12;\ak", {key(plain('k'), "k")}},
        // Nothing that an answer could contain follows: keys with Alt.
        {"\x1b]", {key(alt(']'), "]")}},
        {"\x1bP\rk", {key(alt('p'), "P"), key(plain(KeyCode::enter)), key(plain('k'), "k")}},
        {"\x1b_\x1b^\x1bX\x03",
         {key(alt('_'), "_"), key(alt('^'), "^"), key(alt('x'), "X"), key(ctrl('c'))}},
        {"\x1b[\x03\x1bO\x7f",
         {key(alt('['), "["), key(ctrl('c')), key(alt('o'), "O"),
          key(plain(KeyCode::backspace))}},
    };
    check_split(cases);
}

TEST_CASE("keys of kitty's protocol and of modifyOtherKeys are the usual keys") {
    const Case cases[] = {
        {"\x1b[99;5u", {key(ctrl('c'))}},
        {"\x1b[27;5;99~", {key(ctrl('c'))}},
        {"\x1b[27;6;67~", {key(ctrl('c'))}},
        // Caps Lock adds 64, Num Lock 128.
        {"\x1b[99;69u\x1b[99;133u\x1b[99;197u",
         {key(ctrl('c')), key(ctrl('c')), key(ctrl('c'))}},
        {"\x1b[99:67:99;5:1u\x1b[99;5:2u\x1b[99;5:3u", {key(ctrl('c')), key(ctrl('c'))}},
        {"\x1b[100;5u\x1b[32;5u\x1b[64;5u\x1b[47;5u\x1b[95;5u",
         {key(ctrl('d')), key(ctrl('@')), key(ctrl('@')), key(ctrl('_')), key(ctrl('_'))}},
        {"\x1b[105;5u\x1b[109;5u\x1b[91;5u\x1b[63;5u",
         {key(plain(KeyCode::tab)), key(plain(KeyCode::enter)), key(plain(KeyCode::escape)),
          key(plain(KeyCode::backspace))}},
        {"\x1b[13u\x1b[27u\x1b[9u\x1b[127u\x1b[13;2u\x1b[27;5;13~\x1b[13;3u",
         {key(plain(KeyCode::enter)), key(plain(KeyCode::escape)), key(plain(KeyCode::tab)),
          key(plain(KeyCode::backspace)), key(plain(KeyCode::enter)),
          key(plain(KeyCode::enter)), key(alt(KeyCode::enter))}},
        {"\x1b[104;3u\x1b[27;3;104~\x1b[100;7u\x1b[60:62;4u",
         {key(alt('h'), "h"), key(alt('h'), "h"), key({KeyCode::character, 'd', true, true}),
          key(alt('>'), ">")}},
        {"\x1b[97u\x1b[97;2u\x1b[97;65u\x1b[97;66u\x1b[49:33;2u\x1b[233u",
         {key(plain('a'), "a"), key(plain('A'), "A"), key(plain('A'), "A"),
          key(plain('a'), "a"), key(plain('!'), "!"), key(plain(U'é'), "é")}},
        {"\x1b[97;;229u\x1b[50;2;34u", {key(plain(U'å'), "å"), key(plain('"'), "\"")}},
        // Keys of the keypad; modifiers alone, keys with Super, and codes without a meaning.
        {"\x1b[57401u\x1b[57413;129u\x1b[57414u\x1b[57419u\x1b[57426u",
         {key(plain('2'), "2"), key(plain('+'), "+"), key(plain(KeyCode::enter)),
          key(plain(KeyCode::up)), key(plain(KeyCode::del))}},
        {"\x1b[57441;2u\x1b[57358u\x1b[97;9u\x1b[49;5u\x1b[u\x1b[0u\x1b[55296u"
         "\x1b[99999999999u\x1b[27;5~\x1b[27~k",
         {key(plain('k'), "k")}},
        // The other keys have the same modifiers and events.
        {"\x1b[1;1:1A\x1b[1;1:3A\x1b[1;129B\x1b[1;67:2C\x1b[3;5:3~\x1b[3;69~\x1b[P",
         {key(plain(KeyCode::up)), key(plain(KeyCode::down)), key(alt(KeyCode::right)),
          key(ctrl(KeyCode::del)), key(plain(KeyCode::f1))}},
    };
    check_split(cases);
}

TEST_CASE("the parser waits only for bytes that could be a key by themselves") {
    const struct {
        std::string_view bytes;
        bool waits;
    } cases[] = {
        {"", false},           {"a", false},
        {"\x1b", true},        {"\x1b[", true},
        {"\x1bO", true},       {"\x1b[1;", false},
        {"\x1b[200~a", false}, {"\x1b[200~\x1b", false},
        {"\x1b]", true},       {"\x1bP", true},
        {"\x1b]1", false},     {"\x1b]1\x1b", false},
        {"\xe4\xbd", false},   {"\x1b\x1b", true},
        {"\x1b\x1b[1", false},
    };
    for (const auto& each : cases) {
        KeyParser parser;
        parser.feed(each.bytes);
        drain(parser);
        REQUIRE(parser.key_incomplete() == each.waits);
    }
}

TEST_CASE("truncates a paste at its limit, and marks it") {
    const auto keys = keys_of("\x1b[200~0123456789\x1b[201~k", 9, 4);
    REQUIRE(keys.size() == 2);
    REQUIRE(keys[0] == Key{plain(KeyCode::paste), "0123", true});
    REQUIRE(keys[1] == key(plain('k'), "k"));
}

TEST_CASE("a sequence without an end neither grows for ever nor locks the keyboard") {
    const std::string begin = GENERATE("\x1b[", "\x1b]", "\x1bP");
    const std::string piece(1000, '1');
    KeyParser parser;
    parser.feed(begin);
    std::size_t fed = 0;
    while (drain(parser).empty() && fed < 1'000'000) {
        parser.feed(piece);
        fed += piece.size();
    }
    CHECK(fed > 100'000);  // as long as the longest answers
    CHECK(fed < 200'000);
    parser.feed("\x03");
    CHECK(drain(parser) == std::vector{key(ctrl('c'))});
}

TEST_CASE("many escapes without a sequence are keys") {
    KeyParser parser;
    parser.feed(std::string(100, '\x1b'));
    CHECK(drain(parser).size() == 49);
}

TEST_CASE("function keys are read as terminals send them") {
    using ui::KeyCode;
    const std::vector<std::pair<const char*, KeyCode>> rows = {
        {"\033OP", KeyCode::f1},   {"\033OQ", KeyCode::f2},   {"\033OR", KeyCode::f3},
        {"\033OS", KeyCode::f4},   {"\033[11~", KeyCode::f1}, {"\033[12~", KeyCode::f2},
        {"\033[13~", KeyCode::f3}, {"\033[14~", KeyCode::f4}, {"\033[15~", KeyCode::f5},
        {"\033[17~", KeyCode::f6}, {"\033[18~", KeyCode::f7}, {"\033[19~", KeyCode::f8},
        {"\033[20~", KeyCode::f9}, {"\033[[A", KeyCode::f1},  {"\033[[B", KeyCode::f2},
        {"\033[[C", KeyCode::f3},  {"\033[[D", KeyCode::f4},  {"\033[[E", KeyCode::f5},
        {"\033[P", KeyCode::f1},   {"\033[Q", KeyCode::f2},   {"\033[S", KeyCode::f4},
    };
    for (const auto& [bytes, code] : rows) {
        INFO(bytes + 1);
        ui::KeyParser parser;
        for (const char* byte = bytes; *byte != 0; ++byte) {
            CHECK_FALSE(parser.next());
            parser.feed({byte, 1});
        }
        const auto key = parser.next();
        REQUIRE(key);
        CHECK(key->chord == ui::plain(code));
        CHECK_FALSE(parser.next());
    }
}

TEST_CASE("the position of the cursor, which a terminal was asked for, is no key") {
    ui::KeyParser parser;
    parser.feed("\033[5;20Rx");
    CHECK(parser.next()->chord == ui::plain(U'x'));
}
