#include "app/protocol/framing.hpp"

#include "tests/support/catch.hpp"

using namespace yodel;
using namespace std::string_literals;
using Kind = Decoder::Decoded::Kind;

namespace {

constexpr std::size_t limit = 1000;  // limit of a message, in bytes

std::string encoded(const Framing& framing, const std::vector<std::string>& messages) {
    std::string bytes;
    for (const std::string& message : messages) encode(framing, message, bytes);
    return bytes;
}

// Decodes bytes that arrive in two parts. Marks stray bytes, which answer nothing, with a "!".
std::vector<std::string> decoded(const Framing& framing, const std::string& bytes,
                                 std::size_t cut) {
    Decoder decoder(framing, limit);
    std::vector<std::string> messages;
    std::string waiting;
    for (const std::string& part : {bytes.substr(0, cut), bytes.substr(cut)}) {
        waiting += part;
        for (;;) {
            const Decoder::Decoded next = decoder.next(waiting);
            REQUIRE((next.kind != Kind::error));
            if (next.kind == Kind::incomplete) break;
            const bool stray = next.kind == Kind::stray;
            messages.push_back((stray ? "!" : "") + std::string(next.payload));
            waiting.erase(0, next.used);
        }
    }
    CHECK(waiting.empty());
    return messages;
}

std::vector<std::string_view> pieces(const Framing& framing, std::string_view payload) {
    std::vector<std::string_view> list;
    for_each_piece(framing, payload, [&](std::string_view piece) { list.push_back(piece); });
    return list;
}

}  // namespace

TEST_CASE("encodes frames as their protocols define them") {
    const std::pair<const char*, std::string> rows[] = {
        {"line", "hi\n"},      {"crlf", "hi\r\n"},        {"nul", "hi\0"s},
        {"len1", "\2hi"},      {"len2", "\0\2hi"s},       {"len4", "\0\0\0\2hi"s},
        {"len2le", "\2\0hi"s}, {"len4le", "\2\0\0\0hi"s}, {"caret", "^hi$"},
        {"resp", "hi\r\n"},    {"smtp", "hi\r\n"},        {"raw", "hi"},
    };
    for (const auto& [name, frame] : rows) CHECK(encoded(*find_framing(name), {"hi"}) == frame);
}

TEST_CASE("finds messages however their bytes are cut") {
    const std::string name =
        GENERATE("line", "crlf", "nul", "len1", "len2", "len4", "len2le", "len4le", "caret");
    const Framing& framing = *find_framing(name);
    const std::vector<std::string> messages{"hello1", "",   "hello2",
                                            "a\rb",   "\r", std::string(200, 'x')};
    const std::string bytes = encoded(framing, messages);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(name, cut);
        CHECK(decoded(framing, bytes, cut) == messages);
    }
}

TEST_CASE("refuses a message over the limit with both numbers, as soon as it is known") {
    for (const char* const name :
         {"line", "crlf", "nul", "len2", "len4", "len2le", "len4le", "caret"}) {
        const Framing& framing = *find_framing(name);
        const std::string least = framing.prefix_size > 0 ? "" : " or more";
        const auto refused = [&](const std::string& bytes) {
            return Decoder(framing, limit).next(bytes).error ==
                   "a message of 1001 bytes" + least +
                       " exceeds the limit of 1000 (--max-frame)";
        };
        CAPTURE(name);
        Decoder decoder(framing, limit);
        const std::string longest = encoded(framing, {std::string(limit, 'x')});
        CHECK((decoder.next(longest.substr(0, longest.size() - 1)).kind == Kind::incomplete));
        CHECK((decoder.next(longest).kind == Kind::message));
        const std::string longer = encoded(framing, {std::string(limit + 1, 'x')});
        CHECK(refused(longer));
        const std::size_t known = framing.prefix_size > 0
                                      ? framing.prefix_size
                                      : longer.size() - framing.delimiter.size();
        CHECK(refused(longer.substr(0, known)));
        CHECK((Decoder(framing, limit).next(longer.substr(0, known - 1)).kind ==
               Kind::incomplete));
    }
}

TEST_CASE("describes fragments, delimiters and messages") {
    const struct {
        const char* framing;
        std::string fragment;
        const char* text;
    } rows[] = {
        {"line", "hel", "after 3 bytes"},
        {"caret", "hel", "after 3 bytes"},
        {"len2", "\0"s, "after 1 byte of its length prefix"},
        {"len2", "\0\5"s, "after 0 of 5 bytes"},
        {"len2", "\0\5hel"s, "after 3 of 5 bytes"},
        {"websocket", "\0\0"s, "after 0 bytes"},
        {"websocket", "\0\0\0\0\5hel"s, "after 3 of 5 bytes"},
    };
    for (const auto& [framing, fragment, text] : rows)
        CHECK(find_framing(framing)->fragment_text(fragment) == text);
    CHECK(find_framing("line")->delimiter_name() == "a newline");
    CHECK(find_framing("crlf")->delimiter_name() == "CRLF");
    CHECK(find_framing("nul")->delimiter_name() == "NUL");
    CHECK(find_framing("caret")->delimiter_name() == "$");
    CHECK(find_framing("len1")->misfit_text(256, 1000) ==
          "a message of 256 bytes does not fit into -f len1");
    CHECK(datagram_framing()->label() == "a datagram");
    CHECK(websocket_framing()->label() == "a WebSocket message");
    CHECK(framing_list(true) == std::vector<std::string>{"line", "crlf", "nul", "len1", "len2",
                                                         "len4", "len2le", "len4le", "caret",
                                                         "raw"});
    CHECK(framing_list(false).size() == 12);
}

TEST_CASE("a WebSocket message is text if it is UTF-8") {
    const Framing& framing = *websocket_framing();
    CHECK(encoded(framing, {"hi"}) == "\0\0\0\0\2hi"s);
    const std::string binary = encoded(framing, {"\xff"});
    CHECK(binary == "\1\0\0\0\1\xff"s);
    std::string changed = "\0\0\0\0\1\xff"s;
    framing.update_type(changed);
    CHECK(changed == binary);
}

// Searching all bytes each time would take minutes, until the watchdog of the tests ends it.
TEST_CASE("searches a long line that arrives byte by byte only once") {
    const std::string line(3'000'000, 'x');
    Decoder decoder(*find_framing("line"), line.size());
    std::size_t size = 0;
    while (size < line.size() &&
           decoder.next(std::string_view(line).substr(0, size)).kind == Kind::incomplete)
        ++size;
    CHECK(size == line.size());
    CHECK(decoder.next(line + '\n').payload == line);
}

// Replies with another framing than messages. replies() ends each with CRLF.
namespace {

std::string replies(const std::vector<std::string>& list) {
    std::string bytes;
    for (const std::string& reply : list) bytes += reply + "\r\n";
    return bytes;
}

std::string decoding_error(const char* framing, const std::string& bytes) {
    return Decoder(*find_framing(framing), limit).next(bytes).error;
}

// Returns true if a reply that arrives in pieces is complete only at its end.
bool decodes_in_pieces(const char* framing, const std::string& reply, std::size_t piece) {
    Decoder decoder(*find_framing(framing), reply.size());
    std::size_t size = 0;
    while (size + piece < reply.size()) {
        size += piece;
        if (decoder.next(std::string_view(reply).substr(0, size)).kind != Kind::incomplete)
            return false;
    }
    return decoder.next(reply).used == reply.size();
}

}  // namespace

TEST_CASE("finds the values of RESP however their bytes are cut") {
    const std::vector<std::string> values{"+OK",
                                          "-ERR no",
                                          ":-5",
                                          "$-1",
                                          "*-1",
                                          "$0\r\n",
                                          "$5\r\nhello",
                                          "$4\r\n\r\n\r\n",
                                          "*0",
                                          "*2\r\n:1\r\n$2\r\nab",
                                          "*2\r\n*2\r\n*-1\r\n*1\r\n+a\r\n*0",
                                          "_",
                                          "#t",
                                          ",1.5",
                                          "(12345678901234567890",
                                          "!5\r\nERR x",
                                          "=7\r\ntxt:a\r\n",
                                          "%0",
                                          "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2",
                                          "~1\r\n#f",
                                          "|1\r\n+ttl\r\n:3600\r\n*1\r\n$1\r\nx",
                                          "+"};
    std::string bytes = replies(values) + ">2\r\n+invalidate\r\n*1\r\n+key\r\n:7\r\n";
    std::vector<std::string> wanted = values;
    wanted.insert(wanted.end(), {"!>2\r\n+invalidate\r\n*1\r\n+key", ":7"});
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(cut);
        CHECK(decoded(*find_framing("resp"), bytes, cut) == wanted);
    }
}

TEST_CASE("finds replies with codes however their bytes are cut, after the greeting") {
    const std::string features =
        "211-Features:\r\n SIZE\r\n2110 x\r\n\r\n200 y\r\n211-\r\n211 End";
    const std::vector<std::string> list{"220-a\r\n220 b", "250 OK", "250", "250-a\r\n250",
                                        features};
    std::vector<std::string> wanted = list;
    wanted[0].insert(0, "!");
    const std::string bytes = replies(list);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(cut);
        CHECK(decoded(*find_framing("smtp"), bytes, cut) == wanted);
    }
}

TEST_CASE("only the framing smtp awaits a greeting") {
    CHECK(Decoder(*find_framing("resp"), limit).may_send(""));
    Decoder decoder(*find_framing("smtp"), limit);
    const std::string greeting = "220-a\r\n220 b\r\n";
    for (std::size_t size = 0; size < greeting.size(); ++size)
        CHECK_FALSE(decoder.may_send(greeting.substr(0, size)));
    CHECK(decoder.may_send(greeting));
    CHECK(decoder.may_send(greeting + "250 x"));
    CHECK(decoder.next(greeting + "250 x").used == greeting.size());
    CHECK(decoder.may_send(""));
    CHECK(Decoder(*find_framing("smtp"), limit).may_send("SSH-2.0-x\r\n"));
}

TEST_CASE("refuses bytes that are no reply, and quotes them") {
    const std::string forty(40, 'x');
    const struct {
        const char* framing;
        std::string line;
        std::string quoted;
    } rows[] = {
        {"resp", "", "\"\""},
        {"resp", "PING", "\"PING\""},
        {"resp", "*2\r\n:1\r\nx", "\"x\""},
        {"resp", forty, '"' + forty + '"'},
        {"resp", forty + "x", '"' + forty + "\"..."},
        {"smtp", "hello", "\"hello\""},
        {"smtp", "22", "\"22\""},
        {"smtp", "2200", "\"2200\""},
        {"smtp", "22a x", "\"22a x\""},
    };
    for (const auto& [framing, line, quoted] : rows)
        CHECK(decoding_error(framing, line + "\r\n") ==
              "the server sent " + quoted + ", which is not valid for -f " + framing);
}

TEST_CASE("refuses malformed values of RESP, each with its fault") {
    const auto [fault, values] = GENERATE(table<const char*, std::vector<std::string>>({
        {"which contains no valid length",
         {"$", "$-2", "%-1", "$+1", "$1 ", "*0x1", "*99999999999999999999",
          "$18446744073709551615"}},
        {"which is not a valid integer",
         {":", ":1a", ": 1", ":+", ":+-1", ":1.0", ":9223372036854775808"}},
        {"which is not a valid big number", {"(", "(12x", "(-", "(1.5"}},
        {"which is not a valid double",
         {",", ",1.2.3", ",.5", ",1e", ",1e1.5", ",infinity", ",-", ",1,5", ",1.-5"}},
        {"which is not a valid boolean", {"#", "#x", "#true"}},
        {"which is not a valid null", {"_nil", "_ "}},
    }));
    for (const std::string& value : values)
        CHECK(decoding_error("resp", value + "\r\n") ==
              "the server sent \"" + value + "\", " + fault);
    for (const char* const bytes : {"$3\r\nfooXX", "$3\r\nfoo\rX"})
        CHECK(decoding_error("resp", bytes) ==
              "the server sent \"$3\", but the 3 bytes after it do not end with CRLF");
    for (const char* const value :
         {":-9223372036854775808", ":+1", "(-123456789012345678901234567890", ",1", ",-1.5",
          ",1.", ",1.5e-3", ",1E+3", ",inf", ",-inf", ",+inf", ",nan", ",-nan", "#t", "#f", "_",
          "+", "-", "+a b"})
        CHECK(decoding_error("resp", value + std::string("\r\n")).empty());
}

TEST_CASE("refuses a reply over the limit as soon as it is announced") {
    const std::string rest = " bytes or more exceeds the limit of 1000 (--max-frame)";
    const std::string begin = "a message of ";
    CHECK(decoding_error("resp", "$994\r\n").empty());
    CHECK(decoding_error("resp", "$995\r\n") == begin + "1001" + rest);
    CHECK(decoding_error("resp", "$999999999999999999\r\n").ends_with(rest));
    CHECK(decoding_error("resp", "*999999999999999999\r\n").ends_with(rest));
    CHECK(decoding_error("resp", "%999999999999999999\r\n").ends_with(rest));
    CHECK(decoding_error("resp", "%600\r\n") == begin + "1204" + rest);
    CHECK(decoding_error("resp", "*500\r\n*500\r\n") == begin + "1009" + rest);
    CHECK(decoding_error("resp", "+" + std::string(1002, 'x')) == begin + "1003" + rest);
    std::string lines;
    while (lines.size() < 1002) lines += "250-x\r\n";
    CHECK(decoding_error("smtp", lines).ends_with(rest));
}

// Looking at all bytes each time would take minutes, until the watchdog of the tests ends it.
TEST_CASE("looks at the bytes of a long reply once, in pieces of any size") {
    std::string values = "*300000\r\n";
    for (int i = 0; i < 300'000; ++i) values += i % 2 == 0 ? ":1\r\n" : "$1\r\nx\r\n";
    CHECK(decodes_in_pieces("resp", values, 1));
    CHECK(decodes_in_pieces("resp", "+" + std::string(1'000'000, 'x') + "\r\n", 1));
    CHECK(decodes_in_pieces("resp", "$1000000\r\n" + std::string(1'000'000, '\r') + "\r\n", 1));
    CHECK(decodes_in_pieces("resp", "$9000000\r\n" + std::string(9'000'000, 'x') + "\r\n",
                            65536));
    std::string lines;
    for (int i = 0; i < 150'000; ++i) lines += "250-x\r\n";
    CHECK(decodes_in_pieces("smtp", lines + "250 x\r\n", 1));
    Decoder greeting(*find_framing("smtp"), lines.size());
    for (std::size_t size = 0; size < lines.size(); ++size)
        if (greeting.may_send(std::string_view(lines).substr(0, size))) FAIL("may send");
}

TEST_CASE("nested values take no memory, however deep they are") {
    std::string value;
    for (int i = 0; i < 1'000'000; ++i) value += "*1\r\n";
    value += "*0\r\n";
    CHECK(decodes_in_pieces("resp", value, 65536));
}

TEST_CASE("a message with CRLF to a service that does not echo is one message") {
    for (const char* const name : {"resp", "smtp"}) {
        const Framing& framing = *find_framing(name);
        CHECK(pieces(framing, "a\r\nb") == std::vector<std::string_view>{"a\r\nb"});
        CHECK(count_pieces(framing, "a\r\nb") == 1);
        CHECK(is_sendable(framing, limit, "a\r\nb"));
        CHECK_FALSE(is_sendable(framing, limit, ""));
        CHECK_FALSE(framing.joins_pieces());
    }
}

TEST_CASE("cuts a payload that contains delimiters into pieces") {
    CHECK(pieces(*find_framing("line"), "a\nb") == std::vector<std::string_view>{"a", "b"});
    CHECK(pieces(*find_framing("crlf"), "a\nb") == std::vector<std::string_view>{"a\nb"});
    CHECK(pieces(*find_framing("len4"), "a\nb") == std::vector<std::string_view>{"a\nb"});
    CHECK(pieces(*find_framing("caret"), "a$b") == std::vector<std::string_view>{"a", "b"});
    CHECK(pieces(*find_framing("line"), "") == std::vector<std::string_view>{""});
}

TEST_CASE("counts the same number of pieces as it cuts") {
    const Framing& framing =
        *find_framing(GENERATE("line", "crlf", "nul", "len4", "caret", "raw"));
    std::string payload;
    for (std::size_t size = 0; size < 1000; ++size) {
        CHECK(count_pieces(framing, payload) == pieces(framing, payload).size());
        payload.insert(size / 2, 1, "\n\0$\r\n"[size % 5]);
        if (size == 600) payload.assign(size + 1, '\n');
    }
}

TEST_CASE("the longest payload is the largest length that fits into the prefix") {
    CHECK(find_framing("len1")->max_payload() == 255);
    CHECK(find_framing("len2le")->max_payload() == 65535);
    CHECK(find_framing("len4")->max_payload() == 4294967295u);
    CHECK(datagram_framing()->max_payload() == 65507);
    CHECK(find_framing("line")->max_payload() == std::string::npos);
    const std::string pieces = std::string(10, 'x') + "\n" + std::string(10, 'x');
    CHECK(is_sendable(*find_framing("line"), 21, pieces));
    CHECK(is_sendable(*find_framing("line"), 10, pieces));
    CHECK_FALSE(is_sendable(*find_framing("line"), 9, pieces));
    CHECK_FALSE(is_sendable(*find_framing("line"), 10, pieces + "x"));
    CHECK_FALSE(is_sendable(*find_framing("line"), 10, "x" + pieces));
}

TEST_CASE("the reply of caret is every byte plus one") {
    const Framing& caret = *find_framing("caret");
    CHECK(caret.reply("abc") == "bcd");
    CHECK(caret.reply("\xff^") == std::string("\0_", 2));
}

TEST_CASE("finds no framing of an unknown name") { CHECK_FALSE(find_framing("morse")); }

TEST_CASE("cuts off bytes before a head as stray bytes") {
    const Framing& caret = *find_framing("caret");
    Decoder decoder(caret, limit);
    const Decoder::Decoded stray = decoder.next("xy^hi");
    CHECK((stray.kind == Kind::stray));
    CHECK(stray.payload == "xy");
    CHECK(stray.used == 2);
    CHECK((decoder.next("^hi").kind == Kind::incomplete));
    const Decoder::Decoded message = decoder.next("^hi$z");
    CHECK((message.kind == Kind::message));
    CHECK(message.payload == "hi");
    CHECK(message.used == 4);
}

TEST_CASE("explains a misread length, unless the framing has worked before") {
    const auto misread = [](const char* framing, const std::string& bytes) {
        return length_hint(*find_framing(framing), bytes, limit);
    };
    CHECK(misread("len2", "\5\0hello"s) ==
          "the length prefix reads 1280; as little-endian it reads 5: use -f len2le");
    CHECK(misread("len2le", "\0\5hello\0\1x"s) ==
          "the length prefix reads 1280; as big-endian it reads 5: use -f len2");
    CHECK(misread("len4", "hello") == "the length prefix is the text \"hell\"");
    CHECK(misread("len4", "\0\0\0\0"s).empty());
    for (const char* framing : {"len1", "len2", "len4", "line", "raw"}) {
        CHECK(misread(framing, "").empty());
        CHECK(misread(framing, "\0\0\2\1hello"s).empty());
    }
    const std::string reversed = "\5\0\0\0"s;
    Decoder decoder(*find_framing("len4"), limit);
    CHECK(decoder.next(reversed).error ==
          "the length prefix reads 83886080; as little-endian it reads 5: use -f len4le");
    Decoder begun(*find_framing("len4"), limit);
    CHECK(begun.next("\0\0\0\1x"s).payload == "x");
    CHECK(begun.next(reversed).error.find("exceeds the limit") != std::string::npos);
}
