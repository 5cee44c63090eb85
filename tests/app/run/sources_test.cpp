#include "app/run/sources.hpp"

#include "app/text/exit_status.hpp"
#include "tests/app/run/standard_input.hpp"

#include <fcntl.h>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Standard input and a loop that reads it.
struct Typed {
    void settle() {
        for (int i = 0; i < 3; ++i) loop.step(0ns);
    }
    void write(std::string_view text) {
        constexpr std::size_t piece = 32 * 1024;
        for (std::size_t i = 0; i < text.size(); i += piece) {
            standard_input.write(text.substr(i, piece));
            settle();
        }
    }
    void end() {
        standard_input.end();
        settle();
    }

    test::StandardInput standard_input;
    ev::Loop loop;
};

// Reads an input to its end, and records its messages: "[one]", or "[one" without a newline.
struct Reader : Typed {
    explicit Reader(const Lines::Options& options)
        : input(loop, options, [this] { take_messages(); }) {
        take_messages();
    }
    void take_messages() {
        while (const auto message = input.next()) {
            messages +=
                "[" + std::string(message->payload) + (message->is_unterminated ? "" : "]");
            input.sent(*message, {});
        }
    }

    std::string messages;
    Lines input;
};

// Reads a whole input in two pieces or, without a cut, byte by byte.
struct Read : Reader {
    Read(const LineReader::Options& options, std::string_view text,
         std::optional<std::size_t> cut)
        : Reader({.lines = options}) {
        if (cut) {
            write(text.substr(0, *cut));
            CHECK((input.is_over() == !input.trouble().text.empty()));
            if (!input.is_over()) write(text.substr(*cut));
        } else {
            for (std::size_t i = 0; i < text.size() && !input.is_over(); ++i)
                write(text.substr(i, 1));
        }
        end();
        CHECK(input.is_over());
    }
};

template <class Check>
void at_each_cut(const std::string& text, Check check) {
    CAPTURE(text);
    check(std::optional<std::size_t>());
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        CAPTURE(cut);
        check(std::optional(cut));
    }
}

}  // namespace

TEST_CASE("an input yields the same messages at any cut between its bytes") {
    const Framing* const len1 = find_framing("len1");
    struct Row {
        std::string text;
        std::string messages;
        LineReader::Options options = {};
    };
    const Row rows[] = {
        {"", ""},
        {"\n", "[]"},
        {"one\n", "[one]"},
        {"one", "[one"},
        {"one\ntwo\n\nlast", "[one][two][][last"},
        {"one\r\ntwo\n", "[one\r][two]"},
        {"\xff\xfe\n\n", "[\xff\xfe][]"},
        {"a\\tb\n", "[a\\tb]"},
        {"a\\tb\\x41\\\\\nc\\n", "[a\tbA\\][c\n", {.has_escapes = true}},
        {"\\r\\n\n", "[\r\n]", {.framing = len1, .has_escapes = true}},
        {"ab\ncd\n", "[ab][cd]", {.framing = find_framing("caret")}},
        {"ab\r\ncd\n\r\ne\r", "[ab][cd][][e\r", {.framing = find_framing("crlf")}},
        {"ab\r\n", "[ab\r]", {.framing = find_framing("line")}},
        {"ab\n\ncd", "[ab][][cd", {.framing = len1}},
        {"one\ntwo", "[one][two", {.framing = datagram_framing()}},
        {"123\n45\n", "[123][45]", {.max_frame = 3}},
    };
    for (const Row& row : rows)
        at_each_cut(row.text, [&](auto cut) {
            const Read read(row.options, row.text, cut);
            CHECK(read.messages == row.messages);
            CHECK(read.input.trouble().text.empty());
        });
}

TEST_CASE("an input ends before a line that can't be sent, at any cut between its bytes") {
    struct Row {
        std::string text;
        std::string trouble;
        LineReader::Options options = {};
    };
    const Row rows[] = {
        {std::string(256, 'x') + "\nafter\n",
         "a message of 256 bytes does not fit into -f len1",
         {.framing = find_framing("len1")}},
        {"\nafter\n",
         "-f caret does not allow empty messages",
         {.framing = find_framing("caret")}},
        {"long\nafter\n", "a message of 4 bytes ", {.max_frame = 3}},
        {"long", "a message of 4 bytes ", {.max_frame = 3}},
        {"a\\q\nafter\n", "a backslash must be followed by ", {.has_escapes = true}},
        {"a\\x4\n", "a backslash must be followed by ", {.has_escapes = true}},
        {"a\\", "a backslash must be followed by ", {.has_escapes = true}},
    };
    for (const Row& row : rows)
        at_each_cut("ok\n" + row.text, [&](auto cut) {
            const Read read(row.options, "ok\n" + row.text, cut);
            CHECK(read.messages == "[ok]");
            const Trouble trouble = read.input.trouble();
            CHECK(trouble.text.starts_with("standard input, line 2: " + row.trouble));
            CHECK(trouble.status == reply_bad_or_lost);
        });
}

TEST_CASE(
    "an input is read only on demand, and a message stays the next one until it is sent") {
    Typed typed;
    int changes = 0;
    Lines input(typed.loop, {}, [&] { ++changes; });
    typed.write("one\ntwo\nthr");
    CHECK(changes == 0);
    CHECK_FALSE(input.next());
    typed.settle();
    CHECK(changes == 1);
    CHECK(input.next()->payload == "one");
    typed.write("ee");
    CHECK(changes == 1);
    const std::optional<Outgoing> one = input.next();
    CHECK(one->payload == "one");
    input.sent(*one, {});
    CHECK(input.next()->payload == "two");
    CHECK_FALSE(input.is_over());
}

TEST_CASE("an input that can't be read ends with the system's reason") {
    Typed typed;
    const bufio::Fd folder(::open("/", O_RDONLY | O_CLOEXEC));
    ::dup2(folder.get(), STDIN_FILENO);
    Lines input(typed.loop, {}, [] {});
    CHECK_FALSE(input.next());
    typed.settle();
    CHECK(input.is_over());
    CHECK(input.trouble().text == "standard input: Is a directory");
    CHECK(input.trouble().status == input_failed);
}

namespace {

struct Kept : Typed {
    int changes = 0;
    Lines input{
        loop, {.lines = {.has_escapes = true}, .keeps_lines = true}, [this] { ++changes; }};
};

// Takes all messages that the source would send now.
std::string take_all(Generator& source) {
    std::string all;
    while (const auto message = source.next()) {
        all += "[" + std::string(message->payload) + "]";
        source.sent(*message, {1, 1});
    }
    return all;
}

}  // namespace

TEST_CASE("each connection sends all lines that are kept, even if it begins late") {
    Kept kept;
    Generator early(kept.input);
    kept.write("one\ntwo\n\nthr");
    CHECK(take_all(early) == "[one][two][]");
    CHECK_FALSE(early.is_over());
    CHECK(kept.changes == 1);
    kept.end();
    CHECK(kept.changes == 2);
    CHECK_FALSE(early.is_over());
    Generator late(kept.input);
    CHECK(take_all(late) == "[one][two][][thr]");
    CHECK(take_all(early) == "[thr]");
    CHECK(early.is_over());
    CHECK(late.is_over());
    CHECK_FALSE(Generator(kept.input).is_over());
    CHECK(kept.input.trouble().text.empty());
}

TEST_CASE("an input that is kept is limited in size") {
    Kept kept;
    const std::string line = std::string(1024 * 1024 - 1, 'x') + '\n';
    for (int i = 0; i < 255; ++i) kept.write(line);
    CHECK_FALSE(kept.input.is_over());
    kept.write(line);
    CHECK(kept.input.is_over());
    CHECK(kept.input.trouble().text ==
          "standard input: more than 256 MiB, which is too much to send on every connection");
}

namespace {

std::size_t differences(std::string_view a, std::string_view b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
    return count;
}

}  // namespace

TEST_CASE("a generated text consists of its number, letters, and two check letters") {
    Generator text(8);
    CHECK(text.text(1) == "1bcdefcc");
    CHECK(text.text(10) == "10cdefde");
    CHECK(text.text(999'999) == "999999od");
    CHECK(text.text(7) == "7bcdefii");
    CHECK(Generator(30).text(5) == "5bcdefghijklmnopqrstuvwxyzabgg");
    CHECK(Generator(22).text(~std::uint64_t{0}).substr(0, 20) == "18446744073709551615");
}

TEST_CASE("a text without space for check letters contains only its number") {
    Generator text(8);
    CHECK(text.text(9'999'999) == "9999999h");
    CHECK(text.text(99'999'999) == "99999999");
    CHECK(text.text(123'456'789) == "23456789");
    CHECK(text.text(7) == "7bcdefii");
    CHECK(Generator(0).text(5).empty());
    CHECK(Generator(1).text(15) == "5");
    CHECK(Generator(2).text(5) == "5b");
    CHECK(Generator(20).text(~std::uint64_t{0}) == "18446744073709551615");
}

TEST_CASE("two generated texts differ in at least three bytes") {
    const std::size_t size = GENERATE(as<std::size_t>{}, 6, 22, 64);
    std::vector<std::string> texts;
    Generator text(size);
    for (std::uint64_t number = 0; number < 10'100; ++number)
        if (number < 600 || number % 3000 >= 2900) texts.emplace_back(text.text(number));
    std::size_t least = size;
    for (const std::string& a : texts)
        for (const std::string* b = &a + 1; b != texts.data() + texts.size(); ++b)
            least = std::min(least, differences(a, *b));
    CHECK(least == 3);
}

TEST_CASE("damage to one byte never turns a generated text into another, at any length") {
    Generator text(Generator::min_checked_size);
    Generator others(Generator::min_checked_size);
    std::uint64_t number = 1;
    for (int i = 0; i < 2000; ++i) {
        number = number * 6364136223846793005 + 1442695040888963407;
        const std::string own(text.text(number >> (i % 64)));
        for (std::uint64_t scale = 1; scale <= number / 10; scale *= 10) {
            const std::uint64_t other = (number >> (i % 64)) ^ scale;
            REQUIRE(differences(own, others.text(other)) >= 3);
        }
    }
}
