#include "app/load/load.hpp"

#include "app/text/exit_status.hpp"
#include "tests/support/catch.hpp"

#include <cstdio>

using yodel::find_framing;
using yodel::Generator;
using yodel::read_own_messages;

namespace {

struct Rules {
    std::string framing = "line";
    std::size_t max_frame = 100;
    bool escapes = false;
};

std::vector<std::string> read(const std::string& text, const Rules& rules = {}) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    std::fwrite(text.data(), 1, text.size(), file.get());
    std::rewind(file.get());
    const std::string name = "/dev/fd/" + std::to_string(::fileno(file.get()));
    const yodel::OwnMessages messages = read_own_messages(
        name, {find_framing(rules.framing), rules.max_frame, rules.escapes, name});
    return {messages->begin(), messages->end()};
}

}  // namespace

TEST_CASE("each line of a file is a message") {
    using List = std::vector<std::string>;
    CHECK(read("PING\nECHO a b\n") == List{"PING", "ECHO a b"});
    CHECK(read("PING\n\nlast") == List{"PING", "", "last"});
    CHECK(read("\n") == List{""});
    CHECK(read("a\r\n", {.framing = "crlf"}) == List{"a"});
    CHECK(read("a\\x41\\n\n", {.framing = "len2", .escapes = true}) == List{"aA\n"});
    CHECK(read("a\\x41\n") == List{"a\\x41"});
    CHECK(read(std::string(100, 'a')) == List{std::string(100, 'a')});
}

TEST_CASE("a message that cannot be sent is refused with its line") {
    struct Row {
        std::string text;
        Rules rules;
        std::string sentence;
    };
    const Row rows[] = {
        {"", {}, " is empty"},
        {"a\nbbbb\n",
         {.max_frame = 3},
         "line 2: a message of 4 bytes exceeds the limit of 3 "
         "(--max-frame)"},
        {std::string(256, 'a'),
         {.framing = "len1", .max_frame = 1000},
         "line 1: a message of 256 bytes does not fit into -f len1"},
        {"a\n\nb", {.framing = "raw"}, "line 2: -f raw does not allow empty messages"},
        {"a\\nb", {.escapes = true}, "line 1: the message contains a delimiter of -f line"},
        {"a\\q",
         {.escapes = true},
         "line 1: a backslash must be followed by n, r, t, 0, a backslash, or x and two hex "
         "digits "
         "(--escapes)"},
        {std::string(101, 'a'),
         {},
         "line 1: a message of 101 bytes exceeds the limit of 100 "
         "(--max-frame)"},
        {std::string(64 << 20, 'a'),
         {},
         "line 1: a message of 67108864 bytes exceeds the limit "
         "of 100 (--max-frame)"},
        {std::string((64 << 20) + 1, 'a'), {}, " is larger than 64 MiB"},
    };
    for (const Row& row : rows) {
        std::string sentence;
        try {
            read(row.text, row.rules);
        } catch (const yodel::FileError& error) {
            sentence = error.what();
            CHECK(error.status == yodel::usage_error);
        }
        CAPTURE(sentence);
        CHECK(sentence.starts_with("--messages: /dev/fd/"));
        CHECK(sentence.ends_with(row.sentence));
    }
}

TEST_CASE("a file of messages that cannot be read is refused with its name") {
    const auto read_file = [](const std::string& name) {
        return read_own_messages(name, {.messages_file = name});
    };
    try {
        read_file("/");
        FAIL("was read");
    } catch (const yodel::FileError& error) {
        CHECK(error.status == yodel::input_failed);
    }
    CHECK_THROWS_WITH(read_file("/no/such"), "--messages: /no/such: No such file or directory");
}

TEST_CASE("message n of a run is line n with any number of threads and connections") {
    const auto lines = std::make_shared<const std::deque<std::string>>(
        std::deque<std::string>{"0", "1", "2", "3", "4"});
    for (std::size_t connections = 1; connections < 8; ++connections)
        for (std::size_t threads = 1; threads <= connections; ++threads)
            for (std::size_t thread = 0; thread < threads; ++thread) {
                const yodel::Share share{thread, threads, connections};
                Generator source(lines, share);
                source.end_after(20);
                for (std::uint64_t number = thread, sent = 0; sent < 20; ++sent) {
                    REQUIRE_FALSE(source.over());
                    REQUIRE(source.next()->payload == std::to_string(number % 5));
                    number = share.message_after(number);
                }
                CHECK(source.over());
                CHECK_FALSE(source.next());
            }
}
