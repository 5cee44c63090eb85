// Tests frames, cut at every byte and read into every size of space.
#include "app/websocket/frame.hpp"

#include "tests/app/websocket/frames.hpp"
#include "tests/support/table.hpp"

#include <cstring>

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

// The outcome of hear().
struct Heard {
    std::string messages = {};  // message bytes that next() wrote to the space
    std::string events = {};    // messages and control frames in their order
};

// Reads bytes that arrive in pieces, into spaces of this size.
Heard hear(std::string_view bytes, bool masked, std::size_t piece, std::size_t space,
           std::size_t longest = limit) {
    FrameReader reader(masked, longest);
    Heard heard;
    std::string buffer(space, '\0');
    std::string part;  // messages not yet described
    for (std::string_view wire = bytes.substr(0, 0);;) {
        std::span<char> to(buffer);
        const std::size_t before = wire.size();
        const FrameReader::Stop stop = reader.next(wire, to);
        const std::string_view got(buffer.data(), space - to.size());
        heard.messages += got;
        if (longest == limit) part += got;  // larger messages would take long to describe
        for (const Frame& each : messages_in(part)) add_to(heard.events, described(each));
        switch (stop) {
        case FrameReader::Stop::failed:
            add_to(heard.events, "failed " + std::to_string(reader.closure().code));
            CHECK_FALSE(reader.closure().reason.empty());
            return heard;
        case FrameReader::Stop::closed: {
            const auto& [code, reason] = reader.closure();
            add_to(heard.events, described({0x88, closing(code, reason)}));
            return heard;
        }
        case FrameReader::Stop::control:
            add_to(heard.events, described({0x80 | static_cast<unsigned>(reader.opcode()),
                                            std::string(reader.control())}));
            break;
        case FrameReader::Stop::blocked:
            if (reader.has_output() || reader.can_use(wire)) {
                if (got.empty() && wire.size() == before) FAIL("is stuck");
                break;
            }
            if (bytes.empty()) {
                const bool inside = reader.has_partial_input() || !wire.empty();
                if (!inside && !part.empty()) FAIL("is not inside");
                if (inside) add_to(heard.events, "inside");
                return heard;
            }
            piece = std::min(piece, bytes.size());
            wire = {wire.data(), wire.size() + piece};
            bytes.remove_prefix(piece);
        }
    }
}

// Returns the events of reading all bytes together. Fails if the events differ when the bytes
// or the spaces are cut in any other way.
std::string heard_anyhow(const std::string& bytes, bool masked) {
    const Heard whole = hear(bytes, masked, bytes.size() + 1, roomy);
    for (std::size_t piece = 1; piece <= bytes.size() && piece < 300; ++piece)
        for (const std::size_t space : {std::size_t{5}, std::size_t{6}, std::size_t{11}, roomy})
            if (hear(bytes, masked, piece, space).events != whole.events)
                FAIL("pieces of " << piece << " into " << space);
    for (std::size_t space = 1; space < 150; ++space)
        if (hear(bytes, masked, bytes.size() + 1, space).events != whole.events)
            FAIL("one piece into " << space);
    return whole.events;
}

// Returns the events that these frames cause. If masking the frames changes the events, appends
// those as well.
std::string heard(const std::string& frames) {
    const std::string plain = heard_anyhow(encoded(frames_of(frames), false), false);
    const std::string masked = heard_anyhow(encoded(frames_of(frames), true), true);
    return masked == plain ? plain : plain + ", masked: " + masked;
}

std::string hex(unsigned byte) {
    const char* const digits = "0123456789abcdef";
    return {digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

TEST_CASE("reads messages of one frame, and joins fragments") {
    check_table(R"(text => text
text Hello => text Hello
text | binary | text => text, binary, text
binary \xff\x80 => binary \xff\x80
text a | binary b | text cd => text a, binary b, text cd
text *{100} => text *{100}
text *{101} => failed 1009
text a | text *{200} => text a, failed 1009
01 Hel | 80 lo => text Hello
02 \xff | 00 \xfe | 80 \xfd => binary \xff\xfe\xfd
01 | 00 | 80 => text
01 a | 00 | 80 b => text ab
02 | 00 ab | 80 => binary ab
01 a | ping 1 | 00 b | ping 2 | 80 c | ping 3 => ping 1, ping 2, text abc, ping 3
01 a | 80 b | 02 c | 80 d => text ab, binary cd
text a | 01 b | 80 c | text d => text a, text bc, text d
01 a | 00 b => inside
01 *{60} | 80 *{40} => text *{100}
01 *{60} | 00 *{41} => failed 1009
01 *{100} | 00 | 80 => text *{100}
80 a => failed 1002
00 a | 80 b => failed 1002
text a | 80 b => text a, failed 1002
01 a | 80 b | 80 c => text ab, failed 1002
01 a | text b => failed 1002
01 a | 02 b | 80 => failed 1002
01 a | close => close 1005
)",
                heard);
    for (std::size_t size = 1; size <= limit; size += size == 16 ? 70 : 1) {
        const std::string binary = "binary *" + std::to_string(size);
        CHECK(heard(binary + " | binary") == binary + ", binary");
    }
}

TEST_CASE("reads control frames between and inside messages") {
    check_table(R"(ping => ping
ping are you there? => ping are you there?
ping \xff\xfe => ping \xff\xfe
ping *{125} => ping *{125}
ping *{126} => failed 1002
pong *{65536} => failed 1002
close 1000 *{124} => failed 1002
pong | pong x => pong, pong x
ping 1 | text a | ping 2 => ping 1, text a, ping 2
01 frag | ping p | 80 ment => ping p, text fragment
09 a | 80 b => failed 1002
08 \x03\xe8 => failed 1002
09 | ping => failed 1002
)",
                heard);
}

TEST_CASE("refuses reserved bits and opcodes") {
    for (const unsigned bits : {0x10U, 0x20U, 0x30U, 0x40U, 0x50U, 0x60U, 0x70U}) {
        for (const unsigned opcode : {0x80U, 0x81U, 0x82U, 0x88U, 0x89U, 0x8aU, 0x01U})
            CHECK(heard("text a | " + hex(bits | opcode) + " x") == "text a, failed 1002");
        CHECK(heard("01 a | " + hex(bits | 0x80) + " x") == "failed 1002");
    }
    for (const unsigned opcode : {3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U})
        for (const unsigned first : {0x80 | opcode, opcode}) {
            CHECK(heard(hex(first)) == "failed 1002");
            CHECK(heard("text a | " + hex(first) + " x") == "text a, failed 1002");
        }
}

TEST_CASE("checks that texts are UTF-8, however they are cut") {
    check_table(
        R"(text \xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf => text \xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf
text \x00\x00\x7f => text \x00\x00\x7f
text \xed\xa0\x80 => failed 1007
text \xf4\x90\x80\x80 => failed 1007
text \xc0\xaf => failed 1007
text \xe0\x80\xaf => failed 1007
text a\x80 => failed 1007
text \xf8\x88\x80\x80\x80 => failed 1007
text ab\xe1\xbd => failed 1007
01 ab\xe1 | 80 \xbd => failed 1007
01 ab\xe1\xbd | 80 => failed 1007
01 \xc3 | 80 \xa9 | text \xa9 => text \xc3\xa9, failed 1007
binary \xc3 | text => binary \xc3, text
01 \xce\xba\xff | 00 a => failed 1007
01 \xce\xba\xf4\x90 => failed 1007
01 \xc3 | ping \xc3 | 80 \xa9 => ping \xc3, text \xc3\xa9
)",
        heard);
    const std::string greek = "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf0\x9f\x98\x80";
    for (std::size_t first = 0; first <= greek.size(); ++first)
        for (std::size_t second = first; second <= greek.size(); ++second)
            CHECK(heard("01 " + greek.substr(0, first) + " | 00 " +
                        greek.substr(first, second - first) + " | 80 " +
                        greek.substr(second)) == "text " + shown(greek));
}

TEST_CASE("checks close frames") {
    check_table(R"(close => close 1005
88 \x03 => failed 1002
close 1000 bye => close 1000 bye
close 1001 *{123} => close 1001 *{123}
close 1000 \xc3 => failed 1007
text a | close 1001 => text a, close 1001
close | text a | 7f => close 1005
)",
                heard);
    for (const unsigned code : {1000U, 1001U, 1002U, 1003U, 1007U, 1008U, 1009U, 1010U, 1011U,
                                1012U, 1013U, 1014U, 3000U, 3999U, 4000U, 4999U}) {
        const std::string close = "close " + std::to_string(code) + " why";
        CHECK(heard(close) == close);
    }
    for (const unsigned code :
         {0U, 1U, 999U, 1004U, 1005U, 1006U, 1015U, 1016U, 1100U, 2000U, 2999U, 5000U, 65535U})
        CHECK(heard("close " + std::to_string(code)) == "failed 1002");
}

TEST_CASE("refuses frames whose mask or length is wrong") {
    for (const bool masked : {false, true})
        for (const char* const frame : {"text ab", "binary ab", "ping ab", "close 1000"})
            CHECK(heard_anyhow(encoded(frames_of(frame), !masked), masked) == "failed 1002");
    const std::pair<std::string, const char*> lengths[] = {
        {"\x7e" + network_order(125, 2), "failed 1002"},
        {"\x7e" + network_order(126, 2), "failed 1009"},
        {"\x7f" + network_order(65535, 8), "failed 1002"},
        {"\x7f" + network_order(65536, 8), "failed 1009"},
        {"\x7f" + network_order(UINT64_MAX / 2, 8), "failed 1009"},
        {"\x7f" + network_order(UINT64_MAX / 2 + 1, 8), "failed 1002"},
        {"\x7f" + network_order(UINT64_MAX, 8), "failed 1002"},
    };
    for (const auto& [length, expected] : lengths) {
        CHECK(heard_anyhow("\x82" + length, false) == expected);
        std::string masked = "\x82" + length + "abcd";
        masked[1] = static_cast<char>(masked[1] | 0x80);
        CHECK(heard_anyhow(masked, true) == expected);
    }
}

TEST_CASE("no message is longer than its head can state") {
    const std::string head = "\x82\x7f" + network_order(std::uint64_t{1} << 32, 8);
    CHECK(hear(head, false, 1, roomy, SIZE_MAX).events == "failed 1009");
    CHECK(hear("\x82\x7f" + network_order(0xffffffff, 8), false, 1, roomy, SIZE_MAX).messages ==
          "\1\xff\xff\xff\xff");
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
            const std::string whole = encoded({{0x82, payload}, {0x81, "end"}}, masked);
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

TEST_CASE("writes the shortest head of each length") {
    for (const std::uint64_t size : {0U, 1U, 125U, 126U, 127U, 255U, 256U, 65535U, 65536U})
        for (const std::string key : {"", "abcd"}) {
            char head[max_frame_head];
            const Key bytes = key.empty() ? 0 : key_of(key);
            const std::size_t used =
                write_head(head, Opcode::text, size, key.empty() ? nullptr : &bytes);
            const std::string whole =
                encoded({0x81, std::string(static_cast<std::size_t>(size), '\0')}, key);
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
