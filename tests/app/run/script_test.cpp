// input_test.cpp tests how the input is cut into messages.

#include "app/run/input.hpp"

#include "app/text/exit_status.hpp"
#include "tests/app/run/standard_input.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <string>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;

namespace {

struct Fixture {
    explicit Fixture(Input::Options options = {})
        : script(loop, std::move(options), [this] { ++changes; }) {}
    void write(std::string_view text) {
        constexpr std::size_t piece = 64 * 1024;
        for (std::size_t i = 0; i < text.size() && !script.ended(); i += piece) {
            standard_input.write(text.substr(i, piece));
            loop.step(0ns);
        }
        loop.step(0ns);
    }
    void end() {
        standard_input.end();
        for (int i = 0; i < 3; ++i) loop.step(0ns);
    }

    test::StandardInput standard_input;
    ev::Loop loop;
    int changes = 0;
    Script script;
};

std::string messages(const Script& script) {
    std::string all;
    for (std::size_t i = 0; i < script.size(); ++i) all += "[" + script.message(i) + "]";
    return all;
}

// Takes all messages that the source would send now.
std::string take_all(ScriptSource& source) {
    std::string all;
    while (const auto message = source.next()) {
        all += "[" + std::string(message->payload) + "]";
        source.sent(*message, {1, 1});
    }
    return all;
}

}  // namespace

TEST_CASE("each line of a script is a message, in whatever pieces its bytes come") {
    const std::string text = "one\ntwo\n\nlast";
    const std::size_t piece = GENERATE(1U, 2U, 5U, 100U);
    Fixture of;
    for (std::size_t i = 0; i < text.size(); i += piece) of.write(text.substr(i, piece));
    CHECK(messages(of.script) == "[one][two][]");
    CHECK_FALSE(of.script.ended());
    const int changes = of.changes;
    of.end();
    CHECK(of.changes > changes);
    CHECK(messages(of.script) == "[one][two][][last]");
    CHECK(of.script.ended());
    CHECK(of.script.trouble().text.empty());
}

TEST_CASE("a script may contain escapes") {
    Fixture of({.escapes = true});
    of.write("a\\tb\\x00\n");
    CHECK(of.script.message(0) == std::string("a\tb\0", 4));
}

TEST_CASE("a script ends before a line that can't be sent") {
    Fixture of({.escapes = true});
    of.write("ok\na\\q\nafter\n");
    CHECK(messages(of.script) == "[ok]");
    CHECK(of.script.ended());
    CHECK(of.script.trouble().text.starts_with(
        "standard input, line 2: a backslash must be followed by "));
    CHECK(of.script.trouble().status == reply_wrong_or_lost);
    CHECK(of.changes > 0);
}

TEST_CASE("a script is limited in size") {
    Fixture of;
    const std::string line = std::string(1024 * 1024 - 1, 'x') + '\n';
    for (int i = 0; i < 300 && !of.script.ended(); ++i) of.write(line);
    CHECK(of.script.ended());
    CHECK(of.script.trouble().text ==
          "standard input: more than 256 MiB, which is too much to send on every connection");
}

TEST_CASE("each connection sends the whole script, even if it begins late") {
    Fixture of;
    ScriptSource early(of.script);
    of.write("one\ntwo\n");
    CHECK(take_all(early) == "[one][two]");
    CHECK_FALSE(early.over());
    of.write("three\n");
    ScriptSource late(of.script);
    CHECK(take_all(late) == "[one][two][three]");
    CHECK(take_all(early) == "[three]");
    of.end();
    CHECK(early.over());
    CHECK(late.over());
    CHECK(ScriptSource(of.script).over() == false);
}

TEST_CASE("a message of a script stays the next one until it is sent") {
    Fixture of;
    ScriptSource source(of.script);
    of.write("one\n");
    CHECK(source.next()->payload == "one");
    CHECK(source.next()->payload == "one");
    CHECK_FALSE(source.next()->unterminated);
}

TEST_CASE("an error in a script is not reported by its connections") {
    Fixture of({.escapes = true});
    ScriptSource source(of.script);
    of.write("a\\q\n");
    CHECK(source.over());
    CHECK(source.trouble().text.empty());
}
