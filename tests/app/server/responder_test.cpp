// Responders between the two ends of a connection, without a server around them.

#include "app/server/responder.hpp"

#include "tests/app/server/answering.hpp"
#include "tests/support/escapes.hpp"
#include "tests/support/table.hpp"
#include "tests/support/text.hpp"

using namespace yodel;
using test::Answering;

namespace {

const Faults none;

auto faithful(const char* framing, EchoLimits limits = {1 << 20, 1000}) {
    return [=](ev::Loop& loop) {
        return make_responder(loop, none, *find_framing(framing), limits, 1);
    };
}

// Plays a script of one connection.
void play(const char* framing, const std::string& script, EchoLimits limits = {1 << 20, 4}) {
    Answering peer(faithful(framing, limits));
    const auto make_step = [&](const std::string& verb, const std::string& what) {
        if (verb == "send") peer.send(test::expanded(what));
        if (verb == "shut") peer.close_sending();
        if (verb == "got") return test::shown(peer.received());
        return verb == "end" ? peer.responder().end().text("the client") : "";
    };
    test::play_script(script, "send shut got end", make_step);
    CHECK_FALSE(peer.responder().has_pending());
}

}  // namespace

TEST_CASE("answers by the rules of each framing, however the bytes are cut") {
    const struct {
        const char* framing;
        std::string sent;
        std::string answered;
    } rows[] = {
        {"raw", "any\nbytes", "any\\x0abytes"},
        {"line", "a line\nand a part", "a line\\x0aand a part"},
        {"len2", std::string("\0\4part\0\0", 8), "\\x00\\x04part\\x00\\x00"},
        {"len4le", std::string("\2\0\0\0ab", 6), "\\x02\\x00\\x00\\x00ab"},
        {"caret", "junk^ab$x^^\xff$$^cde$", "*1bc_\\x00def"},
    };
    for (const auto& row : rows)
        for (const std::size_t step : {1U, 3U, 100U}) {
            std::string script;
            for (std::size_t at = 0; at < row.sent.size(); at += step)
                script += "send " + test::shown(row.sent.substr(at, step)) + "; ";
            play(row.framing, script + "got => " + row.answered + "; end =>");
        }
}

TEST_CASE("answers a message with a length once it is whole, and others as they come") {
    play("len2", R"(send \x00\x04par; got =>; send t; got => \x00\x04part)");
    play("line", "send par; got => par");
}

TEST_CASE("ends the answers at a message over the limit, after the earlier answers") {
    play("len2", R"(send \x00\x04four\x00\x05fiver; got => \x00\x04four;
end => a message of 5 bytes exceeds the limit of 4 (--max-frame))");
}

TEST_CASE("reports an end inside a message with a length, and names the missing part") {
    for (const auto& [fragment, where] :
         {std::pair{R"(\x00)", "after 1 byte of its length prefix"},
          {R"(\x00\x04)", "after 0 of 4 bytes"},
          {R"(\x00\x04p)", "after 1 of 4 bytes"},
          {R"(\x00\x04par)", "after 3 of 4 bytes"}})
        play("len2",
             std::string("send ") + fragment +
                 "; end =>; shut; end => the client closed the connection inside a message, " +
                 where + "; got =>");
}

TEST_CASE("stops answering at the limit if the peer reads nothing") {
    const std::size_t limit = 10'000;
    for (const std::string framing : {"raw", "len4", "caret"}) {
        Answering peer(faithful(framing.c_str(), {limit, 100'000}));
        peer.fill_output(6'000);
        const std::string head = framing == "len4" ? std::string("\0\0\x9c\x40", 4) : "^";
        peer.send(head + std::string(40'000, 'x'));  // 0x9c40 bytes
        CHECK(peer.stream().pending() > 6'000);
        CHECK(peer.stream().pending() <= limit);
        CHECK_FALSE(peer.stream().received().empty());
        const char answer = framing == "caret" ? 'y' : 'x';
        CHECK(test::contains(peer.received_in_all(), std::string(9'000, answer)));
    }
}
