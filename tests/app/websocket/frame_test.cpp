// Tests frames, cut at every byte and read into every size of space.
#include "app/websocket/frame.hpp"

#include "tests/app/websocket/frames.hpp"
#include "tests/support/catch.hpp"

#include <cstring>
#include <utility>

using namespace test;
using namespace yodel::websocket;

namespace {

constexpr std::size_t limit = 100;  // bytes of a message
constexpr std::size_t roomy = 4096;

Key key_of(std::string_view bytes) {
    Key key = 0;
    std::memcpy(&key, bytes.data(), sizeof key);
    return key;
}

// The outcome of reading a wire.
struct Heard {
    std::string messages = {};             // as written to the space
    std::vector<std::string> events = {};  // messages and control frames in their order
    std::string text() const {
        std::string text;
        for (const std::string& event : events) text += (text.empty() ? "" : ", ") + event;
        return text;
    }
};

// Moves the whole messages to the events.
void note_messages(std::string& bytes, Heard& heard) {
    while (bytes.size() >= message_head) {
        std::size_t size = 0;
        for (std::size_t i = 1; i < message_head; ++i)
            size = size << 8 | static_cast<unsigned char>(bytes[i]);
        if (bytes.size() < message_head + size) return;
        heard.events.push_back((bytes[0] == 0 ? "text " : "binary ") +
                               bytes.substr(message_head, size));
        bytes.erase(0, message_head + size);
    }
}

// Returns false at the end of the conversation.
bool note_control(const FrameReader& reader, Heard& heard) {
    const std::string payload(reader.control());
    Closure closure;
    switch (reader.opcode()) {
    case Opcode::ping: heard.events.push_back("ping " + payload); return true;
    case Opcode::pong: heard.events.push_back("pong " + payload); return true;
    default:
        const bool valid = parse_closure(payload, closure);
        heard.events.push_back((valid ? "close " : "failed ") + std::to_string(closure.code) +
                               (valid ? " " + closure.reason : ""));
        return false;
    }
}

// Reads a wire that arrives in pieces, into spaces of a certain size.
Heard hear(std::string_view bytes, bool masked, std::size_t piece, std::size_t space,
           std::size_t longest = limit) {
    FrameReader reader(masked, longest);
    Heard heard;
    std::string buffer(space, '\0');
    std::string part;  // the beginning of a message
    for (std::string_view wire;;) {
        std::span<char> to(buffer);
        const std::size_t before = wire.size();
        const FrameReader::Stop stop = reader.next(wire, to);
        const std::string_view got(buffer.data(), space - to.size());
        heard.messages += got;
        part += got;
        note_messages(part, heard);
        switch (stop) {
        case FrameReader::Stop::failed:
            heard.events.push_back("failed " + std::to_string(reader.failure().code));
            CHECK_FALSE(reader.failure().reason.empty());
            return heard;
        case FrameReader::Stop::control:
            if (!note_control(reader, heard)) return heard;
            break;
        case FrameReader::Stop::blocked:
            if (!wire.empty() && got.empty() && wire.size() == before) FAIL("is stuck");
            if (!wire.empty() || reader.has_output()) break;
            if (bytes.empty()) {
                if (!reader.inside_message() && !part.empty()) FAIL("is not inside");
                heard.events.insert(heard.events.end(), reader.inside_message() ? 1 : 0,
                                    "inside");
                return heard;
            }
            wire = bytes.substr(0, piece);
            bytes.remove_prefix(wire.size());
        }
    }
}

// Returns the outcome of reading at once. All other ways to cut the bytes must lead to the
// same.
std::string heard_anyhow(const std::string& bytes, bool masked) {
    const Heard whole = hear(bytes, masked, bytes.size() + 1, roomy);
    for (std::size_t piece = 1; piece <= bytes.size() && piece < 300; ++piece)
        for (const std::size_t space : {std::size_t{5}, std::size_t{6}, std::size_t{11}, roomy})
            if (hear(bytes, masked, piece, space).text() != whole.text())
                FAIL("pieces of " << piece << " into " << space);
    for (std::size_t space = 1; space < 150; ++space)
        if (hear(bytes, masked, bytes.size() + 1, space).text() != whole.text())
            FAIL("one piece into " << space);
    return whole.text();
}

struct Case {
    const char* about;
    std::vector<Frame> frames;
    std::string heard;
};

void check(const std::vector<Case>& cases) {
    for (const Case& each : cases)
        for (const bool masked : {false, true}) {
            INFO(each.about << (masked ? ", masked" : ""));
            CHECK(heard_anyhow(encoded(each.frames, masked), masked) == each.heard);
        }
}

std::string fill(std::size_t size) { return std::string(size, '*'); }

}  // namespace

TEST_CASE("reads messages of one frame") {
    std::vector<Case> cases = {
        {"empty text", {{text_frame}}, "text "},
        {"empty binary", {{binary_frame}}, "binary "},
        {"three empty messages",
         {{text_frame}, {binary_frame}, {text_frame}},
         "text , binary , text "},
        {"text", {{text_frame, "Hello"}}, "text Hello"},
        {"bytes that are not UTF-8", {{binary_frame, "\xff\x80"}}, "binary \xff\x80"},
        {"several",
         {{text_frame, "a"}, {binary_frame, "b"}, {text_frame, "cd"}},
         "text a, binary b, text cd"},
        {"the longest", {{text_frame, fill(limit)}}, "text " + fill(limit)},
        {"too long by one", {{text_frame, fill(limit + 1)}}, "failed 1009"},
        {"too long after another",
         {{text_frame, "a"}, {text_frame, fill(200)}},
         "text a, failed 1009"},
    };
    for (std::size_t size = 0; size <= limit; size += size == 16 ? 70 : 1)
        cases.push_back({"a size",
                         {{binary_frame, fill(size)}, {binary_frame}},
                         "binary " + fill(size) + ", binary "});
    check(cases);
}

TEST_CASE("reads control frames between and inside messages") {
    check({
        {"empty ping", {{ping_frame}}, "ping "},
        {"ping", {{ping_frame, "are you there?"}}, "ping are you there?"},
        {"a ping may contain any bytes", {{ping_frame, "\xff\xfe"}}, "ping \xff\xfe"},
        {"the longest ping", {{ping_frame, fill(125)}}, "ping " + fill(125)},
        {"too long a ping", {{ping_frame, fill(126)}}, "failed 1002"},
        {"too long a pong", {{pong_frame, fill(65536)}}, "failed 1002"},
        {"too long a close frame", {{close_frame, closing(1000, fill(124))}}, "failed 1002"},
        {"a pong that nobody asked for", {{pong_frame}, {pong_frame, "x"}}, "pong , pong x"},
        {"pings and messages",
         {{ping_frame, "1"}, {text_frame, "a"}, {ping_frame, "2"}},
         "ping 1, text a, ping 2"},
        {"a ping inside a message",
         {{0x01, "frag"}, {ping_frame, "p"}, {0x80, "ment"}},
         "ping p, text fragment"},
        {"a fragmented ping", {{0x09, "a"}, {0x80, "b"}}, "failed 1002"},
        {"a fragmented close frame", {{0x08, closing(1000)}}, "failed 1002"},
        {"a ping of two frames", {{0x09}, {ping_frame}}, "failed 1002"},
    });
}

TEST_CASE("refuses reserved bits and opcodes") {
    for (const unsigned bits : {0x10U, 0x20U, 0x30U, 0x40U, 0x50U, 0x60U, 0x70U})
        for (const unsigned opcode :
             {0x80U, text_frame, binary_frame, close_frame, ping_frame, pong_frame, 0x01U})
            check({{"a reserved bit",
                    {{text_frame, "a"}, {bits | opcode, "x"}},
                    "text a, failed 1002"},
                   {"a reserved bit in a fragment",
                    {{0x01, "a"}, {bits | 0x80, "x"}},
                    "failed 1002"}});
    for (const unsigned opcode : {3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U})
        for (const unsigned final : {0x80U, 0U})
            check({{"an opcode", {{final | opcode}}, "failed 1002"},
                   {"an opcode with a payload", {{final | opcode, "x"}}, "failed 1002"},
                   {"an opcode after a message",
                    {{text_frame, "a"}, {final | opcode}},
                    "text a, failed 1002"}});
}

TEST_CASE("joins fragments") {
    check({
        {"two", {{0x01, "Hel"}, {0x80, "lo"}}, "text Hello"},
        {"binary", {{0x02, "\xff"}, {0x00, "\xfe"}, {0x80, "\xfd"}}, "binary \xff\xfe\xfd"},
        {"all empty", {{0x01}, {0x00}, {0x80}}, "text "},
        {"the middle is empty", {{0x01, "a"}, {0x00}, {0x80, "b"}}, "text ab"},
        {"the ends are empty", {{0x02}, {0x00, "ab"}, {0x80}}, "binary ab"},
        {"pings between all",
         {{0x01, "a"},
          {ping_frame, "1"},
          {0x00, "b"},
          {ping_frame, "2"},
          {0x80, "c"},
          {ping_frame, "3"}},
         "ping 1, ping 2, text abc, ping 3"},
        {"two messages",
         {{0x01, "a"}, {0x80, "b"}, {0x02, "c"}, {0x80, "d"}},
         "text ab, binary cd"},
        {"one of each",
         {{text_frame, "a"}, {0x01, "b"}, {0x80, "c"}, {text_frame, "d"}},
         "text a, text bc, text d"},
        {"the end is missing", {{0x01, "a"}, {0x00, "b"}}, "inside"},
        {"the longest", {{0x01, fill(60)}, {0x80, fill(40)}}, "text " + fill(100)},
        {"too long by one", {{0x01, fill(60)}, {0x00, fill(41)}}, "failed 1009"},
        {"the longest of all, then empty fragments",
         {{0x01, fill(100)}, {0x00}, {0x80}},
         "text " + fill(100)},
        {"a continuation of nothing", {{0x80, "a"}}, "failed 1002"},
        {"a fragment of nothing", {{0x00, "a"}, {0x80, "b"}}, "failed 1002"},
        {"a continuation after a message",
         {{text_frame, "a"}, {0x80, "b"}},
         "text a, failed 1002"},
        {"a continuation too many",
         {{0x01, "a"}, {0x80, "b"}, {0x80, "c"}},
         "text ab, failed 1002"},
        {"a message inside another one", {{0x01, "a"}, {text_frame, "b"}}, "failed 1002"},
        {"another first fragment", {{0x01, "a"}, {0x02, "b"}, {0x80}}, "failed 1002"},
        {"a close frame inside a message", {{0x01, "a"}, {close_frame}}, "close 1005 "},
    });
}

TEST_CASE("checks that texts are UTF-8, however they are cut") {
    const std::string greek = "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf0\x9f\x98\x80";
    std::vector<Case> cases = {
        {"the last of each length",
         {{text_frame, "\x7f\xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf"}},
         "text \x7f\xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf"},
        {"NUL", {{text_frame, std::string(3, '\0')}}, "text " + std::string(3, '\0')},
        {"a surrogate", {{text_frame, "\xed\xa0\x80"}}, "failed 1007"},
        {"beyond Unicode", {{text_frame, "\xf4\x90\x80\x80"}}, "failed 1007"},
        {"over-long", {{text_frame, "\xc0\xaf"}}, "failed 1007"},
        {"over-long in three bytes", {{text_frame, "\xe0\x80\xaf"}}, "failed 1007"},
        {"no first byte", {{text_frame, "a\x80"}}, "failed 1007"},
        {"five bytes", {{text_frame, "\xf8\x88\x80\x80\x80"}}, "failed 1007"},
        {"ends in a character", {{text_frame, "ab\xe1\xbd"}}, "failed 1007"},
        {"ends in a character, in fragments",
         {{0x01, "ab\xe1"}, {0x80, "\xbd"}},
         "failed 1007"},
        {"the last fragment is empty", {{0x01, "ab\xe1\xbd"}, {0x80}}, "failed 1007"},
        {"the end of a character does not begin the next message",
         {{0x01, "\xc3"}, {0x80, "\xa9"}, {text_frame, "\xa9"}},
         "text \xc3\xa9, failed 1007"},
        {"a binary message may be cut in a character",
         {{binary_frame, "\xc3"}, {text_frame}},
         "binary \xc3, text "},
        {"fails before the message ends", {{0x01, "\xce\xba\xff"}, {0x00, "a"}}, "failed 1007"},
        {"fails as soon as it cannot be UTF-8", {{0x01, "\xce\xba\xf4\x90"}}, "failed 1007"},
        {"a ping inside a character",
         {{0x01, "\xc3"}, {ping_frame, "\xc3"}, {0x80, "\xa9"}},
         "ping \xc3, text \xc3\xa9"},
    };
    for (std::size_t first = 0; first <= greek.size(); ++first)
        for (std::size_t second = first; second <= greek.size(); ++second)
            cases.push_back({"cut twice",
                             {{0x01, greek.substr(0, first)},
                              {0x00, greek.substr(first, second - first)},
                              {0x80, greek.substr(second)}},
                             "text " + greek});
    check(cases);
}

TEST_CASE("checks close frames") {
    std::vector<Case> cases = {
        {"without a code", {{close_frame}}, "close 1005 "},
        {"half a code", {{close_frame, "\x03"}}, "failed 1002"},
        {"with a reason", {{close_frame, closing(1000, "bye")}}, "close 1000 bye"},
        {"the longest reason",
         {{close_frame, closing(1001, fill(123))}},
         "close 1001 " + fill(123)},
        {"a reason that is not UTF-8", {{close_frame, closing(1000, "\xc3")}}, "failed 1007"},
        {"messages before it",
         {{text_frame, "a"}, {close_frame, closing(1001)}},
         "text a, close 1001 "},
        {"nothing counts after it", {{close_frame}, {text_frame, "a"}, {0x7f}}, "close 1005 "},
    };
    for (const unsigned code : {1000U, 1001U, 1002U, 1003U, 1007U, 1008U, 1009U, 1010U, 1011U,
                                1012U, 1013U, 1014U, 3000U, 3999U, 4000U, 4999U})
        cases.push_back({"a valid code",
                         {{close_frame, closing(code, "why")}},
                         "close " + std::to_string(code) + " why"});
    for (const unsigned code :
         {0U, 1U, 999U, 1004U, 1005U, 1006U, 1015U, 1016U, 1100U, 2000U, 2999U, 5000U, 65535U})
        cases.push_back({"an invalid code", {{close_frame, closing(code)}}, "failed 1002"});
    check(cases);
}

TEST_CASE("refuses frames whose mask or length is wrong") {
    for (const bool masked : {false, true})
        for (const unsigned first : {text_frame, binary_frame, ping_frame, close_frame}) {
            const std::string wrong = encoded({{first, "ab"}}, !masked);
            CHECK(heard_anyhow(wrong, masked) == "failed 1002");
        }
    const std::string key = "abcd";
    const struct {
        std::string size;  // from the second byte on
        const char* heard;
    } cases[] = {
        {"\x7e" + network_order(125, 2), "failed 1002"},
        {"\x7e" + network_order(126, 2), "failed 1009"},
        {"\x7f" + network_order(65535, 8), "failed 1002"},
        {"\x7f" + network_order(65536, 8), "failed 1009"},
        {"\x7f" + network_order(UINT64_MAX / 2, 8), "failed 1009"},
        {"\x7f" + network_order(UINT64_MAX / 2 + 1, 8), "failed 1002"},
        {"\x7f" + network_order(UINT64_MAX, 8), "failed 1002"},
    };
    for (const auto& each : cases) {
        CHECK(heard_anyhow("\x82" + each.size, false) == each.heard);
        std::string masked = "\x82" + each.size + key;
        masked[1] = static_cast<char>(masked[1] | 0x80);
        CHECK(heard_anyhow(masked, true) == each.heard);
    }
}

TEST_CASE("no message is longer than its head can state") {
    const std::string head = "\x82\x7f" + network_order(std::uint64_t{1} << 32, 8);
    CHECK(hear(head, false, 1, roomy, SIZE_MAX).text() == "failed 1009");
    CHECK(hear("\x82\x7f" + network_order(0xffffffff, 8), false, 1, roomy, SIZE_MAX).messages ==
          "\1\xff\xff\xff\xff");
}

TEST_CASE("the text of a message that is too long states both sizes") {
    FrameReader reader(false, 10);
    const std::string bytes = encoded({{0x01, "1234567"}, {0x80, "8901"}}, false);
    std::string buffer(roomy, '\0');
    std::string_view wire = bytes;
    std::span<char> to(buffer);
    REQUIRE(reader.next(wire, to) == FrameReader::Stop::failed);
    CHECK(reader.failure().reason ==
          "a message of 11 bytes or more exceeds the limit of 10 (--max-frame)");
}

TEST_CASE("reads large messages of all forms of length") {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{125}, std::size_t{126},
          std::size_t{65535}, std::size_t{65536}, std::size_t{1} << 20}) {
        std::string payload(size, '\0');
        for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<char>(i * 7 + i / 256);
        const std::string expected = message(payload, false) + message("end");
        const std::size_t half = size / 2;
        for (const bool masked : {false, true}) {
            const std::string whole =
                encoded({{binary_frame, payload}, {text_frame, "end"}}, masked);
            const std::string parts = encoded(
                {{0x02, payload.substr(0, half)}, {0x80, payload.substr(half)}, {0x81, "end"}},
                masked);
            for (const std::string& bytes : {whole, parts})
                for (const std::size_t piece : {size_t{1}, size_t{1000}, size_t{65536}})
                    for (const std::size_t space : {size_t{5}, size_t{1001}, size_t{65536}}) {
                        if (size > 65536 && (piece == 1 || space == 5)) continue;
                        INFO(size << " bytes in " << piece << " into " << space);
                        CHECK(
                            (hear(bytes, masked, piece, space, size + 3).messages == expected));
                    }
        }
    }
}

TEST_CASE("writes the examples of RFC 6455, section 5.7") {
    const Key key = key_of("\x37\xfa\x21\x3d");
    CHECK(control_frame(Opcode::text, "Hello", nullptr) == "\x81\x05Hello");
    CHECK(control_frame(Opcode::text, "Hello", &key) ==
          "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
    CHECK(control_frame(Opcode::ping, "Hello", nullptr) == "\x89\x05Hello");
    CHECK(control_frame(Opcode::pong, "Hello", &key) ==
          "\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
    char head[max_frame_head];
    const auto written = [&](std::uint64_t size, const Key* masked) {
        return std::string(head, write_head(head, Opcode::binary, size, masked));
    };
    CHECK(written(256, nullptr) == std::string("\x82\x7e\x01\x00", 4));
    CHECK(written(65536, nullptr) == std::string("\x82\x7f\0\0\0\0\0\1\0\0", 10));
    CHECK(written(65536, &key) == std::string("\x82\xff\0\0\0\0\0\1\0\0\x37\xfa\x21\x3d", 14));
}

TEST_CASE("writes the shortest head of each length") {
    for (const std::uint64_t size : {0U, 1U, 125U, 126U, 127U, 255U, 256U, 65535U, 65536U})
        for (const std::string key : {"", "abcd"}) {
            char head[max_frame_head];
            const Key bytes = key.empty() ? 0 : key_of(key);
            const std::size_t used =
                write_head(head, Opcode::text, size, key.empty() ? nullptr : &bytes);
            const std::string whole =
                encoded({text_frame, std::string(static_cast<std::size_t>(size), '\0')}, key);
            CHECK(std::string(head, used) ==
                  whole.substr(0, whole.size() - static_cast<std::size_t>(size)));
        }
}

TEST_CASE("masks any part of a payload, in place too") {
    const std::string key = "\x01\x82\x43\xf4";
    for (std::size_t at = 0; at < 12; ++at)
        for (std::size_t size = 0; size <= 40; ++size)
            for (std::size_t offset = 0; offset < 8; ++offset) {
                std::string from(offset + size, '\0');
                for (std::size_t i = 0; i < from.size(); ++i)
                    from[i] = static_cast<char>(i * 37);
                std::string expected = from;
                for (std::size_t i = 0; i < size; ++i)
                    expected[offset + i] =
                        static_cast<char>(from[offset + i] ^ key[(at + i) % 4]);
                std::string to = from + "end";
                mask(to.data() + offset, from.data() + offset, size, key_of(key), at);
                REQUIRE(to == expected + "end");
                mask(from.data() + offset, from.data() + offset, size, key_of(key), at);
                REQUIRE(from == expected);
            }
}

TEST_CASE("describes how a peer has closed") {
    CHECK(Closure{1000, ""}.text() == "1000 normal closure");
    CHECK(Closure{1001, "reboot"}.text() == "1001 going away: reboot");
    CHECK(Closure{no_status, ""}.text() == "no status");
    CHECK(Closure{1011, "out of memory"}.text() == "1011 internal error: out of memory");
    CHECK(Closure{4321, ""}.text() == "4321 application code");
}
