#include "ui/key_parser.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

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
    while (parser.waiting()) {
        parser.expire();
        add(keys, drain(parser));
    }
    return keys;
}

Key key(Chord chord, std::string text = "") { return {chord, std::move(text), false}; }

}  // namespace

TEST_CASE("keys do not depend on how their bytes are split") {
    const struct {
        std::string_view bytes;
        std::vector<Key> keys;
    } cases[] = {
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
        {"\x1bO", {key(alt('O'), "O")}},
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
        {"\x1b[?1;2c\x1b[200;300;400x\x1b[24~\x1bOz\x1b[[Bk", {key(plain('k'), "k")}},
        {"\x1b[12\x03k", {key(ctrl('c')), key(plain('k'), "k")}},
        {"\x1b[200~a\rb\r\n\x1b[A\xe4\xbd\x1b[201\x1b[201~k",
         {key(plain(KeyCode::paste), "a\nb\n\x1b[A\xe4\xbd\x1b[201"), key(plain('k'), "k")}},
        {"\x1b[200~\x1b[201~", {key(plain(KeyCode::paste))}},
        {"\x1b[201~k", {key(plain('k'), "k")}},
    };
    for (const auto& each : cases)
        for (std::size_t cut = 0; cut <= each.bytes.size(); ++cut) {
            INFO(each.bytes << " cut at " << cut);
            const auto keys = keys_of(each.bytes, cut);
            REQUIRE(keys.size() == each.keys.size());
            REQUIRE(keys == each.keys);
        }
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
        {"\xe4\xbd", false},   {"\x1b\x1b", true},
        {"\x1b\x1b[1", false},
    };
    for (const auto& each : cases) {
        KeyParser parser;
        parser.feed(each.bytes);
        drain(parser);
        REQUIRE(parser.waiting() == each.waits);
    }
}

TEST_CASE("truncates a paste at its limit, and marks it") {
    const auto keys = keys_of("\x1b[200~0123456789\x1b[201~k", 9, 4);
    REQUIRE(keys.size() == 2);
    REQUIRE(keys[0] == Key{plain(KeyCode::paste), "0123", true});
    REQUIRE(keys[1] == key(plain('k'), "k"));
}

TEST_CASE("does not store an endless sequence") {
    KeyParser parser;
    parser.feed("\x1b[" + std::string(1000, '1'));
    REQUIRE(drain(parser).empty());
    parser.feed(std::string(100, '\x1b'));
    REQUIRE(drain(parser).size() == 49);
}
