// Responders between the two ends of a connection, without a server around them.

#include "app/server/responder.hpp"

#include "tests/app/server/answering.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace yodel;
using test::Answering;

namespace {

std::unique_ptr<Responder> faithful(const char* framing, EchoLimits limits = {1 << 20, 1000}) {
    return make_faithful_responder(*find_framing(framing), limits);
}

std::string bytes(const char* literal, std::size_t size) { return {literal, size}; }

}  // namespace

TEST_CASE("answers by the rules of each framing, however the bytes are cut") {
    const std::string two = bytes("\0\4part\0\0", 8);
    const auto [framing, sent, answered] =
        GENERATE_COPY(table<const char*, std::string, std::string>({
            {"raw", "any\nbytes", "any\nbytes"},
            {"line", "a line\nand a part", "a line\nand a part"},
            {"len2", two, two},
            {"len4le", bytes("\2\0\0\0ab", 6), bytes("\2\0\0\0ab", 6)},
            {"caret", "junk^ab$x^^\xff$$^cde$", bytes("*bc_\0def", 8)},
        }));
    const std::size_t step = GENERATE(as<std::size_t>{}, 1, 3, 100);
    CAPTURE(framing, step);
    Answering peer(faithful(framing));
    for (std::size_t at = 0; at < sent.size(); at += step) peer.send(sent.substr(at, step));
    CHECK(peer.received() == answered);
    CHECK_FALSE(peer.responder().end());
    CHECK_FALSE(peer.responder().has_pending());
}

TEST_CASE("answers a message with a length once it is whole, and others as they come") {
    Answering framed(faithful("len2"));
    framed.send(bytes("\0\4par", 5));
    CHECK(framed.received().empty());
    framed.send("t");
    CHECK(framed.received() == bytes("\0\4part", 6));
    Answering line(faithful("line"));
    line.send("par");
    CHECK(line.received() == "par");
}

TEST_CASE("ends the answers at a message over the limit, after the earlier answers") {
    Answering peer(faithful("len2", {1 << 20, 4}));
    peer.send(bytes("\0\4four\0\5fiver", 13));
    CHECK(peer.received() == bytes("\0\4four", 6));
    CHECK(peer.responder().end().reason == bufio::Reason::limit);
    CHECK(peer.responder().end().text ==
          "a message of 5 bytes exceeds the limit of 4 (--max-frame)");
}

TEST_CASE("reports an end inside a message with a length, and names the missing part") {
    const auto [fragment, text] = GENERATE(table<std::string, std::string>({
        {bytes("\0", 1), "closed inside a message, after 1 byte of its length"},
        {bytes("\0\4", 2), "closed inside a message, after 0 of 4 bytes"},
        {bytes("\0\4p", 3), "closed inside a message, after 1 of 4 bytes"},
        {bytes("\0\4par", 5), "closed inside a message, after 3 of 4 bytes"},
    }));
    Answering peer(faithful("len2"));
    peer.send(fragment);
    CHECK_FALSE(peer.responder().end());
    peer.close_sending();
    CHECK(peer.responder().end().reason == bufio::Reason::truncated);
    CHECK(peer.responder().end().text == text);
    CHECK(peer.received().empty());
}

TEST_CASE("stops answering at the limit if the peer reads nothing") {
    const std::string framing = GENERATE("raw", "len4", "caret");
    const std::size_t limit = 10'000;
    Answering peer(faithful(framing.c_str(), {limit, 100'000}));
    peer.fill_output(6'000);
    std::string message = framing == "len4" ? bytes("\0\0\x9c\x40", 4) : "^";
    message += std::string(40'000, 'x');  // 0x9c40 bytes
    peer.send(message);
    CHECK(peer.stream().pending() > 6'000);
    CHECK(peer.stream().pending() <= limit);
    CHECK_FALSE(peer.stream().received().empty());
    CHECK(peer.received_in_all().find(std::string(9'000, framing == "caret" ? 'y' : 'x')) !=
          std::string::npos);
}
