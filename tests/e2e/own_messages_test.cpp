// Runs that send the user's own messages to a service other than an echo server.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <fstream>

using test::contains;
using test::Outcome;
using test::Peer;
using test::run;
using test::Server;
using test::yodel;
using test::yodel_load;

namespace {

const std::string commands = "SET a one\nGET a\nDEL a\n";

}  // namespace

TEST_CASE("own messages are sent repeatedly at the planned rate") {
    Peer peer({"python3", test::peers + "/key_value.py", "PORT"});
    const std::vector<std::string> arrivals =
        GENERATE(values<std::vector<std::string>>({{}, {"--arrivals", "poisson"}}));
    std::vector<std::string> words{
        yodel_load, "--messages",    "-", "--expect",  "any",      "--rate", "500", "-c",
        "20",       "--connections", "2", "127.0.0.1", peer.port()};
    words.insert(words.end() - 2, arrivals.begin(), arrivals.end());
    const Outcome outcome = run(words, commands);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "20 sent, 20 answered, 0 bad, 0 lost"));
}

TEST_CASE("the service receives the lines in order") {
    Server server({"-v"});
    const Outcome outcome =
        run({yodel_load, "--messages", "-", "-c", "5", "127.0.0.1", server.port()}, commands);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    REQUIRE(server.process().wait_for_errors("closed"));
    const std::string& received = server.process().errors();
    CAPTURE(received);
    std::size_t place = 0;
    for (const char* const sent : {"SET a one", "GET a", "DEL a", "SET a one", "GET a"}) {
        place = received.find(std::string(" bytes: ") + sent, place) + 1;
        REQUIRE(place != 0);
    }
}

TEST_CASE("a file that cannot be read ends the program with 26") {
    const auto [program, option] = GENERATE(table<std::string, std::string>(
        {{yodel_load, "--messages"}, {yodel_load, "--merge"}, {yodel, "--replay"}}));
    const std::string file = GENERATE("/no/such/file", "/");
    const Outcome outcome = run({program, option, file});
    CHECK(outcome.status == 26);
    CHECK(contains(outcome.errors, file + ": "));
}

TEST_CASE("a file of messages that does not end is refused") {
    const Outcome outcome = run({yodel_load, "--messages", "/dev/zero", "-c", "1"});
    CHECK(outcome.status == 2);
    CHECK(outcome.errors == "yodel-load: --messages: /dev/zero is larger than 64 MiB\n");
}

TEST_CASE("input that generated messages leave unread is reported") {
    Server server;
    const std::string note =
        "standard input was not read; yodel-load --messages - sends its lines";
    const std::vector<std::string> words{GENERATE(yodel, yodel_load), "-c", "1", "127.0.0.1",
                                         server.port()};
    CHECK(contains(run(words, "PING\n").errors, note));
    CHECK_FALSE(contains(run(words).errors, note));
    std::vector<std::string> quiet = words;
    quiet.insert(quiet.begin() + 1, "--quiet");
    CHECK_FALSE(contains(run(quiet, "PING\n").errors, note));
}
