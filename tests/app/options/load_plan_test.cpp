// The run that the options of a load plan, and the files of --messages.

#include "app/options/client/client_options.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "tests/app/options/parsing.hpp"
#include "tests/app/run/standard_input.hpp"
#include "tests/support/blocked.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>

using namespace yodel;
using test::check_table;
using test::parse_by;
using test::refusal;

namespace {

LoadOptions planned(const std::string& line) {
    LoadOptions options = parse_by(parse_load_options, line);
    plan_load(options);
    return options;
}

// Describes the source, the schedule and the length of a run, or returns the refusal.
std::string plan_of(const std::string& line) {
    LoadOptions options;
    if (const std::string refused = refusal([&] { options = planned(line); }); !refused.empty())
        return refused;
    const RunOptions& run = options.run;
    static const char* const sources[] = {"generator", "shared input", "input"};
    std::string text = sources[static_cast<int>(run.from)];
    if (run.window != 1U) text += ", window " + std::to_string(run.window.value_or(0));
    if (run.pace) text += ", " + std::to_string(std::lround(run.pace->rate())) + " per second";
    if (run.pace && run.length && run.pace->climbs())
        text += " up to " + std::to_string(std::lround(run.pace->rate(*run.length)));
    if (run.seed) text += ", seed " + std::to_string(*run.seed);
    if (run.size != 64) text += ", " + std::to_string(run.size) + " bytes";
    if (run.threads > 1) text += ", " + std::to_string(run.threads) + " threads";
    if (run.length) text += ", for " + duration_text(*run.length);
    if (const auto& limit = run.session.max_time) text += ", each for " + duration_text(*limit);
    return text + (options.report.is_load ? "" : ", no load");
}

// Returns the messages of a file, "[a][b]", or the error.
std::string messages_of(const std::string& text, const std::string& words = "") {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    std::fwrite(text.data(), 1, text.size(), file.get());
    std::rewind(file.get());
    const std::string name = "/dev/fd/" + std::to_string(::fileno(file.get()));
    std::string list;
    try {
        const LoadOptions load = planned("--max-frame 100 --messages " + name + " " + words);
        std::size_t longest = 64;
        for (const std::string& each : *load.run.messages) {
            list += "[" + each + "]";
            longest = std::max(longest, each.size());
        }
        CHECK(load.run.size == longest);
    } catch (const FileError& error) {
        CHECK(error.status == usage_error);
        list = error.what();
        const std::string subject = "--messages: " + name;
        REQUIRE(list.starts_with(subject));
        list.erase(0, subject.size());
    }
    return list;
}

}  // namespace

TEST_CASE("a load sends the lines of a pipe unless an option generates messages") {
    const test::StandardInput pipe;
    check_table(R"( => input
-c 1 => generator
-m 3 => generator, for 3s, each for 3s
-z => generator
-z -c 3 => generator, no load
-z -m 3 => generator, for 3s
-m 3 -c 1 => generator, for 3s, each for 3s
--window 5 => input, window 5
--messages - => shared input
--messages - --window 5 => shared input, window 5
--rate 20 --connections 3 => generator, 20 per second
--rate 20..40 -m 3 => generator, 20 per second up to 40, for 3s, each for 3s
--rate 20..40 --rate 5 -m 3 => generator, 5 per second, for 3s, each for 3s
--rate 20 --arrivals poisson => generator, 20 per second, seed 1
--rate 20 --arrivals poisson --seed 7 => generator, 20 per second, seed 7
--rate 20 --arrivals even => generator, 20 per second
--size 1000 => generator, 1000 bytes
--max-frame 10 -c 1 => generator, 10 bytes
--connections 3 --threads 2 -c 1 => generator, 2 threads
--connections 3 --threads auto => input
--connections 3 --threads 2
=> --threads needs generated messages (as with -c or -m) or --messages FILE, because a single thread reads standard input
)",
                plan_of);
    LoadOptions options = parse_by(parse_load_options, "--connections 3 --threads auto -c 1");
    options.run.threads = 4;
    plan_load(options);
    CHECK(options.run.threads == 3);
    const test::Ends terminal = test::terminal_ends();
    ::dup2(terminal.writer.get(), STDIN_FILENO);
    CHECK(plan_of("") == "generator");
}

TEST_CASE("each line of a file is a message, which can be sent, or the line is named") {
    CHECK(messages_of("PING\nECHO a b\n") == "[PING][ECHO a b]");
    CHECK(messages_of("PING\n\nlast") == "[PING][][last]");
    CHECK(messages_of("\n") == "[]");
    CHECK(messages_of("a\r\n", "-f crlf") == "[a]");
    CHECK(messages_of("a\\x41\\n\n", "-f len2 --escapes") == "[aA\n]");
    CHECK(messages_of("a\\x41\n") == "[a\\x41]");
    CHECK(messages_of(std::string(100, 'a')) == "[" + std::string(100, 'a') + "]");
    const struct {
        std::string text;
        const char* words;
        const char* sentence;
    } rows[] = {
        {"", "", " is empty"},
        {"a\nbbbb\n", "--max-frame 3",
         ": line 2: a message of 4 bytes exceeds the limit of 3 (--max-frame)"},
        {std::string(256, 'a'), "-f len1 --max-frame 1000",
         ": line 1: a message of 256 bytes does not fit into -f len1"},
        {"a\n\nb", "-f raw", ": line 2: -f raw does not allow empty messages"},
        {"a\\nb", "--escapes", ": line 1: the message contains a delimiter of -f line"},
        {"a\\q", "--escapes",
         ": line 1: a backslash must be followed by n, r, t, 0, a backslash, or x and two hex "
         "digits (--escapes)"},
        {std::string(101, 'a'), "",
         ": line 1: a message of 101 bytes exceeds the limit of 100 (--max-frame)"},
        {std::string(64 << 20, 'a'), "",
         ": line 1: a message of 67108864 bytes exceeds the limit of 100 (--max-frame)"},
        {std::string((64 << 20) + 1, 'a'), "", " is larger than 64 MiB"},
    };
    for (const auto& row : rows) CHECK(messages_of(row.text, row.words) == row.sentence);
}

TEST_CASE("a file of messages that cannot be read is refused with its name") {
    for (const auto& [name, reason] :
         {std::pair("/", "Is a directory"), {"/no/such", "No such file or directory"}})
        try {
            planned(std::string("--messages ") + name);
            FAIL("was read");
        } catch (const FileError& error) {
            CHECK(error.status == input_failed);
            CHECK(error.what() == "--messages: " + std::string(name) + ": " + reason);
        }
}

TEST_CASE("message n of a run is line n with any number of threads and connections") {
    const auto lines = std::make_shared<const std::deque<std::string>>(
        std::deque<std::string>{"0", "1", "2", "3", "4"});
    for (std::size_t connections = 1; connections < 8; ++connections)
        for (std::size_t threads = 1; threads <= connections; ++threads)
            for (std::size_t thread = 0; thread < threads; ++thread) {
                const Share share{thread, threads, connections};
                Generator source(lines, share);
                for (std::uint64_t number = thread, sent = 0; sent < 20; ++sent) {
                    REQUIRE(source.next()->payload == std::to_string(number % 5));
                    number = share.message_after(number);
                }
            }
}
