#include "app/protocol/framing.hpp"

#include "app/protocol/ordered_matcher.hpp"
#include "tests/support/catch.hpp"

#include <vector>

using namespace yodel;
using namespace std::string_literals;
using Kind = Decoder::Cut::Kind;

namespace {

constexpr std::size_t limit = 1000;  // limit of a message, in bytes

std::string encoded(const Framing& framing, const std::vector<std::string>& messages) {
    std::string bytes;
    for (const std::string& message : messages) encode(framing, message, bytes);
    return bytes;
}

// Returns the messages in bytes that arrive in two parts.
std::vector<std::string> decoded(const Framing& framing, const std::string& bytes,
                                 std::size_t cut) {
    Decoder decoder(framing, limit);
    std::vector<std::string> messages;
    std::string waiting;
    for (const std::string& part : {bytes.substr(0, cut), bytes.substr(cut)}) {
        waiting += part;
        for (;;) {
            const Decoder::Cut next = decoder.next(waiting);
            REQUIRE((next.kind != Kind::error));
            if (next.kind == Kind::incomplete) break;
            messages.emplace_back(next.payload);
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
    struct Case {
        std::string framing;
        std::string bytes;
    };
    const Case each =
        GENERATE(Case{"line", "hi\n"}, Case{"crlf", "hi\r\n"}, Case{"nul", "hi\0"s},
                 Case{"len1", "\2hi"}, Case{"len2", "\0\2hi"s}, Case{"len4", "\0\0\0\2hi"s},
                 Case{"len2le", "\2\0hi"s}, Case{"len4le", "\2\0\0\0hi"s},
                 Case{"caret", "^hi$"}, Case{"raw", "hi"});
    CHECK(encoded(*find_framing(each.framing), {"hi"}) == each.bytes);
}

TEST_CASE("finds messages however their bytes are cut") {
    const std::string name =
        GENERATE("line", "crlf", "nul", "len1", "len2", "len4", "len2le", "len4le");
    const Framing& framing = *find_framing(name);
    const std::vector<std::string> messages{"hello1", "", "hello2", "a\rb",
                                            std::string(200, 'x')};
    const std::string bytes = encoded(framing, messages);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(name, cut);
        CHECK(decoded(framing, bytes, cut) == messages);
    }
}

TEST_CASE("refuses a message over the limit with both numbers") {
    const std::string name =
        GENERATE("line", "crlf", "nul", "len2", "len4", "len2le", "len4le");
    const Framing& framing = *find_framing(name);
    const std::string longest = encoded(framing, {std::string(limit, 'x')});
    Decoder decoder(framing, limit);
    CHECK((decoder.next(longest).kind == Kind::message));
    const std::string longer = encoded(framing, {std::string(limit + 1, 'x')});
    const Decoder::Cut cut = Decoder(framing, limit).next(longer);
    CHECK((cut.kind == Kind::error));
    CHECK(cut.error.find("1001") != std::string::npos);
    CHECK(cut.error.find("1000") != std::string::npos);
}

TEST_CASE("refuses a line that never ends once it is over the limit") {
    Decoder decoder(*find_framing("line"), limit);
    std::string bytes;
    Kind kind = Kind::incomplete;
    while (kind == Kind::incomplete && bytes.size() < 2 * limit)
        kind = decoder.next(bytes += 'x').kind;
    CHECK((kind == Kind::error));
    CHECK(bytes.size() == limit + 2);
}

// Searching all bytes each time would take minutes, until the watchdog of the tests ends it.
TEST_CASE("searches a long line that comes byte by byte only once") {
    const std::string line(3'000'000, 'x');
    Decoder decoder(*find_framing("line"), line.size());
    std::size_t size = 0;
    while (size < line.size() &&
           decoder.next(std::string_view(line).substr(0, size)).kind == Kind::incomplete)
        ++size;
    CHECK(size == line.size());
    CHECK(decoder.next(line + '\n').payload == line);
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
    CHECK(find_framing("len1")->longest() == 255);
    CHECK(find_framing("len2le")->longest() == 65535);
    CHECK(find_framing("len4")->longest() == 4294967295u);
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
    const Decoder::Cut stray = decoder.next("xy^hi");
    CHECK((stray.kind == Kind::stray));
    CHECK(stray.payload == "xy");
    CHECK(stray.used == 2);
    CHECK((decoder.next("^hi").kind == Kind::incomplete));
    const Decoder::Cut message = decoder.next("^hi$z");
    CHECK((message.kind == Kind::message));
    CHECK(message.payload == "hi");
    CHECK(message.used == 4);
}

// Framings outside of the table: the protocol needs no more than a row.
namespace {

std::string upper(std::string_view payload) {
    std::string reply(payload);
    for (char& byte : reply)
        if (byte >= 'a' && byte <= 'z') byte = static_cast<char>(byte - 'a' + 'A');
    return reply;
}

constexpr Framing shouting{
    .name = "shouting", .delimiter = "!", .greeting = "hello ", .reply = upper};
constexpr Framing bracketed{.name = "bracketed", .delimiter = "]\n", .head = "["};
constexpr Framing len3{.name = "len3", .prefix = 3};

// Sends the messages and returns each reply to them, with its verdict, and unsolicited bytes.
std::string matched(const Framing& framing, const std::vector<std::string>& messages,
                    std::string_view received) {
    OrderedMatcher::Options options;
    options.framing = &framing;
    OrderedMatcher matcher(options);
    for (const std::string& message : messages) matcher.messages().queue(message);
    matcher.messages().flush(ev::Time(std::chrono::seconds(1)));
    std::string log;
    while (const auto event = matcher.next(received, ev::Time(std::chrono::seconds(2)))) {
        if (const auto* const answered = std::get_if<OrderedMatcher::Answered>(&*event))
            log += std::string(answered->reply.payload) +
                   (answered->reply.right ? " right;" : " wrong;");
        if (const auto* const echoed = std::get_if<OrderedMatcher::Echoed>(&*event))
            log += std::string(echoed->batch.frames) + " right;";
        if (const auto* const stray = std::get_if<OrderedMatcher::Unsolicited>(&*event))
            log += std::string(stray->payload) + " unsolicited;";
    }
    return log;
}

}  // namespace

TEST_CASE("needs only a row of data for a further framing") {
    CHECK(encoded(shouting, {"hi", "ho"}) == "hi!ho!");
    CHECK(encoded(bracketed, {"hi", ""}) == "[hi]\n[]\n");
    CHECK(encoded(len3, {"hi"}) == "\0\0\2hi"s);
    const Framing& framing = *GENERATE(&bracketed, &len3);
    const std::vector<std::string> messages{"hello", "", "a]b", std::string(300, 'x')};
    const std::string bytes = encoded(framing, messages);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
        CHECK(decoded(framing, bytes, cut) == messages);
}

TEST_CASE("matches replies in a further framing by its row") {
    CHECK(matched(shouting, {"hi", "ho"}, "hello HIHx") == "HI right;Hx wrong;");
    CHECK(matched(len3, {"hi", "ho"}, "\0\0\2hi\0\0\2hx"s) == "hi right;hx wrong;");
    CHECK(matched(bracketed, {"hi"}, "[hi]\n") == "hi right;");
    CHECK(matched(bracketed, {"hi"}, "xy[hi]\nz") == "xy unsolicited;hi right;z unsolicited;");
}

TEST_CASE("explains a misread length, unless the framing has worked before") {
    const auto misread = [](const char* framing, const std::string& bytes) {
        return misread_length(*find_framing(framing), bytes, limit);
    };
    CHECK(misread("len2", "\5\0hello"s) ==
          "the length reads 1280; as little-endian it is 5: -f len2le");
    CHECK(misread("len2le", "\0\5hello\0\1x"s) ==
          "the length reads 1280; as big-endian it is 5: -f len2");
    CHECK(misread("len1", "\6hello"s) == "the length reads 6; does it include its own 1 byte?");
    CHECK(misread("len2", "hello") ==
          "the length reads 26725, the text \"he\"; is the length missing?");
    for (const char* framing : {"len1", "len2", "len4", "line", "raw"}) {
        CHECK(misread(framing, "").empty());
        CHECK(misread(framing, "\0\0\2\1hello"s).empty());
    }
    const std::string reversed = "\5\0\0\0"s;
    Decoder decoder(*find_framing("len4"), limit);
    CHECK(decoder.next(reversed).error ==
          "the length reads 83886080; as little-endian it is 5: -f len4le");
    CHECK(decoder.next("\0\0\0\1x"s).payload == "x");
    CHECK(decoder.next(reversed).error.find("exceeds the limit") != std::string::npos);
}
