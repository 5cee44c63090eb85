#include "app/run/input.hpp"

#include "app/text/exit_status.hpp"
#include "tests/app/run/standard_input.hpp"
#include "tests/support/catch.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Reads an input to its end, and records its messages: "[one][two]".
class Reader {
public:
    explicit Reader(Input::Options options)
        : input(loop, std::move(options), [this] { take_messages(); }) {
        input.want(true);
    }
    void settle() {
        for (int i = 0; i < 3; ++i) loop.step(0ns);
    }
    void read(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); i += piece) {
            if (!input.over()) standard_input.write(text.substr(i, piece));
            settle();
        }
    }
    void end() {
        standard_input.end();
        settle();
    }

    test::StandardInput standard_input;
    ev::Loop loop;
    Input input;
    std::string messages;
    std::string ends;  // one letter per message: n with a newline, u unterminated

private:
    static constexpr std::size_t piece = 32 * 1024;

    void take_messages() {
        while (const auto message = input.next()) {
            messages += "[" + std::string(*message) + "]";
            ends += input.unterminated() ? 'u' : 'n';
            input.remove_message();
        }
    }
};

struct Row {
    std::string text;
    std::string messages;
    std::string ends;
    Input::Options options = {};
};

std::vector<Row> rows() {
    const Framing* const caret = find_framing("caret");
    const Framing* const len1 = find_framing("len1");
    return {
        {"", "", ""},
        {"\n", "[]", "n"},
        {"one\n", "[one]", "n"},
        {"one", "[one]", "u"},
        {"one\ntwo\n\nlast", "[one][two][][last]", "nnnu"},
        {"one\r\ntwo\n", "[one\r][two]", "nn"},
        {"\xff\xfe\n\n", "[\xff\xfe][]", "nn"},
        {"a\\tb\n", "[a\\tb]", "n"},
        {"a\\tb\\x41\\\\\nc\\n", "[a\tbA\\][c\n]", "nu", {.escapes = true}},
        {"\\r\\n\n", "[\r\n]", "n", {.framing = len1, .escapes = true}},
        {"ab\ncd\n", "[ab][cd]", "nn", {.framing = caret}},
        {"ab\n\ncd", "[ab][][cd]", "nnu", {.framing = len1}},
        {"one\ntwo", "[one][two]", "nu", {.framing = datagram_framing()}},
        {"123\n45\n", "[123][45]", "nn", {.max_frame = 3}},
    };
}

struct BadRow {
    std::string text;
    std::string trouble;
    Input::Options options = {};
};

std::vector<BadRow> bad_rows() {
    return {
        {std::string(256, 'x'),
         "a message of 256 bytes does not fit into -f len1",
         {.framing = find_framing("len1")}},
        {"",
         "a message of 0 bytes does not fit into -f caret",
         {.framing = find_framing("caret")}},
        {"long", "a message of 4 bytes ", {.max_frame = 3}},
        {"a\\q", "a backslash must be followed by ", {.escapes = true}},
        {"a\\x4", "a backslash must be followed by ", {.escapes = true}},
        {"a\\", "a backslash must be followed by ", {.escapes = true}},
    };
}

}  // namespace

TEST_CASE("an input yields the same messages at any cut between its bytes") {
    for (const Row& row : rows())
        for (std::size_t cut = 0; cut <= row.text.size(); ++cut) {
            CAPTURE(row.text, cut);
            Reader reader(row.options);
            reader.read(row.text.substr(0, cut));
            CHECK_FALSE(reader.input.over());
            reader.read(row.text.substr(cut));
            reader.end();
            CHECK(reader.messages == row.messages);
            CHECK(reader.ends == row.ends);
            CHECK(reader.input.over());
            CHECK(reader.input.trouble().text.empty());
        }
}

TEST_CASE("an input that comes byte by byte yields the same messages") {
    for (const Row& row : rows()) {
        CAPTURE(row.text);
        Reader reader(row.options);
        for (const char byte : row.text) reader.read({&byte, 1});
        reader.end();
        CHECK(reader.messages == row.messages);
        CHECK(reader.ends == row.ends);
    }
}

TEST_CASE("an input ends before a line that can't be sent, at any cut between its bytes") {
    for (const BadRow& row : bad_rows())
        for (const std::string after : {"\nafter\n", ""}) {
            const std::string text = "ok\n" + row.text + after;
            if (text == "ok\n") continue;
            for (std::size_t cut = 0; cut <= text.size(); ++cut) {
                CAPTURE(row.text, after, cut);
                Reader reader(row.options);
                reader.read(text.substr(0, cut));
                reader.read(text.substr(cut));
                reader.end();
                CHECK(reader.messages == "[ok]");
                CHECK(reader.input.over());
                const Trouble& trouble = reader.input.trouble();
                CHECK(trouble.text.starts_with("standard input, line 2: " + row.trouble));
                CHECK(trouble.status == reply_wrong_or_lost);
            }
        }
}

TEST_CASE("a line too long for a datagram ends the input") {
    Reader reader({.framing = datagram_framing()});
    reader.read("ok\n" + std::string(65'508, 'x') + "\nafter\n");
    reader.end();
    CHECK(reader.messages == "[ok]");
    CHECK(reader.input.trouble().text ==
          "standard input, line 2: a message of 65508 bytes does not fit into a datagram");
}

TEST_CASE("an input without lines passes on the bytes as they come") {
    const bool direct = GENERATE(false, true);
    std::vector<char> space(100'000);
    Input::Options options{.framing = find_framing("raw"), .lines = false};
    if (direct) options.reserve = [&](std::size_t) { return space.data(); };
    Reader reader(options);
    reader.read("one\ntw");
    CHECK(reader.messages == "[one\ntw]");
    reader.read("o\n");
    reader.end();
    CHECK(reader.messages == "[one\ntw][o\n]");
    CHECK(reader.input.over());
    CHECK((std::string_view(space.data(), 2) == "o\n") == direct);
}

TEST_CASE("an input is read only on demand") {
    Reader reader({});
    reader.input.want(false);
    reader.read("one\n");
    CHECK(reader.messages.empty());
    reader.input.want(true);
    reader.settle();
    CHECK(reader.messages == "[one]");
}

TEST_CASE("a message stays the next one until it is taken") {
    test::StandardInput standard_input;
    ev::Loop loop;
    int changes = 0;
    Input input(loop, {}, [&] { ++changes; });
    input.want(true);
    standard_input.write("one\ntwo\nthr");
    loop.step(0ns);
    CHECK(changes == 1);
    CHECK(input.next() == "one");
    CHECK(input.next() == "one");
    input.remove_message();
    CHECK(input.whole_lines(100) == "two\n");
    CHECK(input.whole_lines(3).empty());
    input.remove_lines(4);
    CHECK_FALSE(input.next());
    CHECK_FALSE(input.over());
    standard_input.write("ee");
    standard_input.end();
    for (int i = 0; i < 3; ++i) loop.step(0ns);
    CHECK(input.whole_lines(100).empty());
    CHECK(input.next() == "three");
    CHECK(input.unterminated());
    CHECK_FALSE(input.over());
    input.remove_message();
    CHECK(input.over());
}

TEST_CASE("an input that can't be read ends with the system's reason") {
    const test::StandardInput standard_input;
    const bufio::Fd folder(::open("/", O_RDONLY | O_CLOEXEC));
    ::dup2(folder.get(), STDIN_FILENO);
    ev::Loop loop;
    Input input(loop, {}, [] {});
    input.want(true);
    for (int i = 0; i < 3; ++i) loop.step(0ns);
    CHECK(input.over());
    CHECK(input.trouble().text == "standard input: Is a directory");
    CHECK(input.trouble().status == input_failed);
}
