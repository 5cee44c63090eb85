#include "app/run/script.hpp"

#include "tests/support/catch.hpp"

#include <string>

using namespace yodel;

namespace {

std::string messages(const Script& script) {
    std::string all;
    for (std::size_t i = 0; i < script.size(); ++i) all += "[" + script.message(i) + "]";
    return all;
}

}  // namespace

TEST_CASE("each line of a script is a message, however its bytes come") {
    const std::string text = "one\ntwo\n\nlast";
    const std::size_t piece = GENERATE(1u, 2u, 5u, 100u);
    Script script({});
    for (std::size_t i = 0; i < text.size(); i += piece) script.append(text.substr(i, piece));
    CHECK(messages(script) == "[one][two][]");
    CHECK_FALSE(script.ended());
    script.end();
    CHECK(messages(script) == "[one][two][][last]");
    CHECK(script.ended());
    CHECK(script.trouble().empty());
    script.append("more\n");
    CHECK(script.size() == 4);
}

TEST_CASE("a script may hold escapes") {
    Script script({.escapes = true});
    script.append("a\\tb\\x00\n");
    CHECK(script.message(0) == std::string("a\tb\0", 4));
}

TEST_CASE("a script ends before a line that can't be sent") {
    struct Row {
        Script::Options options;
        std::string text;
        std::string trouble;
    };
    const Row row = GENERATE(
        Row{{.framing = find_framing("len1")},
            std::string(256, 'x'),
            "does not fit into -f len1"},
        Row{{.framing = datagram_framing()},
            std::string(65508, 'x'),
            "a message of 65508 bytes does not fit into a datagram"},
        Row{{.max_frame = 3}, "long", "a message of 4 bytes does not fit into -f line"},
        Row{{.framing = find_framing("caret")}, "", "a message of 0 bytes does not fit"},
        Row{{.escapes = true}, "a\\q", "after a backslash come "});
    Script script(row.options);
    script.append("ok\n" + row.text + "\nafter\n");
    CHECK(messages(script) == "[ok]");
    CHECK(script.ended());
    CHECK(script.trouble().starts_with("standard input: "));
    CHECK(script.trouble().find(row.trouble) != std::string::npos);
}

TEST_CASE("a script has a bound") {
    Script script({});
    const std::string line = std::string(1024 * 1024 - 1, 'x') + '\n';
    for (int i = 0; i < 300 && !script.ended(); ++i) script.append(line);
    CHECK(script.ended());
    CHECK(script.trouble().find("the script is longer than 256 MiB") != std::string::npos);
}
