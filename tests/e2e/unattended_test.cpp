// Runs of generated messages, like ping: sent when they are due, and counted.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <string>

using test::contains;
using test::Outcome;
using test::run;
using test::Server;
using test::yodel;

namespace {

auto lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

// Returns the number after the first such text.
double number_after(const std::string& text, const std::string& name) {
    return std::stod(text.substr(text.find(name) + name.size()));
}

}  // namespace

TEST_CASE("options -c and --size set the number and the size of messages") {
    Server server;
    const Outcome outcome = run(
        {yodel, "-c", "3", "-i", "5ms", "--size", "100", "127.0.0.1", server.port()}, "unread");
    CHECK(outcome.status == 0);
    CHECK(lines(outcome.output) == 3);
    CHECK(outcome.output.starts_with("100 bytes, seq 1, "));
    CHECK(contains(outcome.output, "100 bytes, seq 3, "));
    CHECK(contains(outcome.errors, "3 sent, 3 echoed, 0 bad, 0 lost; rtt"));
}

TEST_CASE("the default size is reduced to a smaller --max-frame") {
    const Outcome outcome = run({yodel, "-c", "1", "-i", "0", "--max-frame", "10"});
    CAPTURE(outcome.errors);
    CHECK(outcome.output.starts_with("10 bytes, seq 1, "));
    CHECK(outcome.status == 0);
}

TEST_CASE("messages are planned to the nanosecond, and the client's own lateness is reported") {
    Server server;
    const Outcome outcome =
        run({yodel, "--json", "-c", "20", "-i", "1234.567us", "127.0.0.1", server.port()});
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    long previous = 0;  // in nanoseconds
    for (int i = 1; i <= 20; ++i) {
        const std::string seq = "\"seq\":" + std::to_string(i) + ",";
        const std::string message = outcome.output.substr(outcome.output.find(seq));
        const double planned = number_after(message, "\"planned_us\":");
        const double sent = number_after(message, "\"sent_us\":");
        CHECK(sent >= planned);
        const long now = std::lround(planned * 1000);
        if (i > 1) CHECK(now - previous == 1'234'567);
        previous = now;
    }
    CHECK(contains(outcome.output, "\"lateness_us\":{"));
}

TEST_CASE("without a schedule there is no lateness") {
    const Outcome outcome = run({yodel, "--json", "-c", "20", "-i", "0"});
    CHECK(contains(outcome.output, "\"planned_us\":"));
    CHECK_FALSE(contains(outcome.output, "lateness_us"));
    CHECK_FALSE(contains(outcome.errors, "late"));
}

TEST_CASE("each framing carries generated messages") {
    const std::string framing = GENERATE("line", "crlf", "nul", "len1", "len2", "len4",
                                         "len2le", "len4le", "caret", "raw");
    const Outcome outcome = run({yodel, "-c", "1000", "-i", "0", "--quiet", "-f", framing});
    CAPTURE(framing, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, "1000 sent, 1000 echoed"));
}

TEST_CASE("a stalled service delays no message, and its replies are late") {
    Server server({"--delay", "300ms"});
    const Outcome outcome = run(
        {yodel, "-c", "5", "-i", "1ms", "-W", "100ms", "--json", "127.0.0.1", server.port()});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "5 sent, 5 echoed, 0 bad, 0 lost, 5 late; rtt"));
    // All messages were sent before the first one was answered.
    CHECK(outcome.output.rfind("\"fate\":\"lost\"") < outcome.output.find("\"fate\":\"late\""));
}

TEST_CASE("a message without a reply is lost") {
    Server server({"--drop", "1", "-f", "line"});
    const Outcome outcome = run({yodel, "-c", "2", "-i", "1ms", "-W", "20ms", "-q", "20ms",
                                 "127.0.0.1", server.port()});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.output, "no reply, seq 2"));
    CHECK(contains(outcome.errors, "2 sent, 0 echoed, 0 bad, 2 lost"));
}

TEST_CASE("without -c a run goes on until it is interrupted, and then prints the summary") {
    Server server;
    test::Process client({yodel, "-i", "1ms", "127.0.0.1", server.port()});
    REQUIRE(client.wait_for_output("seq 3, "));
    client.kill(SIGINT);
    CHECK(client.wait_exit() == 128 + SIGINT);
    CHECK(contains(client.errors(), " 0 bad, 0 lost; rtt"));
}

TEST_CASE("a run continues after a reset, and each message is answered or unsent") {
    Server server({"--reset-after", "3", "-f", "line"});
    const Outcome outcome = run({yodel, "-c", "10", "-i", "5ms", "--retry", "forever",
                                 "--retry-delay", "1ms", "127.0.0.1", server.port()});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(lines(outcome.output) == 10);  // a stall may leave some of them unsent
    CHECK_FALSE(contains(outcome.errors, " 3 echoed, "));
    CHECK(contains(outcome.errors, "retry in "));
}

TEST_CASE("messages that could not be sent keep their numbers and are reported") {
    Server server({"--reset-after", "3", "-f", "line"});
    std::vector<std::string> command{
        yodel, "-c", "10", "-i", "5ms", "--retry", "forever", "--retry-delay", "50ms"};
    command.insert(command.end(), {"127.0.0.1", server.port()});
    const Outcome told = run(command);
    CAPTURE(told.output, told.errors);
    CHECK(lines(told.output) == 10);
    CHECK(contains(told.output, "seq 10"));
    command.insert(command.begin() + 1, "--json");
    const Outcome json = run(command);
    CAPTURE(json.output);
    for (int i = 1; i <= 10; ++i)
        CHECK(contains(json.output, "\"seq\":" + std::to_string(i) + ","));
}

TEST_CASE("progress is shown on a terminal while the replies go elsewhere") {
    test::Tty tty({.arguments = {"sh", "-c", yodel + " -c 3 -i 150ms >/dev/null"}});
    const auto progress = [&] { return contains(tty.output(), " echoed, 0 bad, 0 lost, p50"); };
    REQUIRE(tty.wait_for(progress));
    REQUIRE(tty.wait_for("yodel: 3 sent, 3 echoed, 0 bad, 0 lost; rtt"));
    CHECK(tty.wait_exit() == 0);
}

TEST_CASE("progress takes one row of a narrow terminal, and is removed at the end") {
    test::Tty tty(
        {.arguments = {"sh", "-c", yodel + " -c 3 -i 150ms >/dev/null"}, .size = {24, 20}});
    REQUIRE(tty.wait_for([&] { return contains(tty.output(), " sent, "); }));
    CHECK(tty.wait_exit() == 0);
    CHECK(tty.row(0) == "yodel: 3 sent, 3 ech");
}

TEST_CASE("^C on the terminal ends a run with the summary") {
    Server server({"--drop", "0.5", "-f", "line"});
    test::Tty tty(
        {.arguments = {yodel, "-i", "10ms", "-W", "10ms", "127.0.0.1", server.port()}});
    REQUIRE(tty.wait_for("no reply, seq "));
    REQUIRE(tty.wait_for("64 bytes, seq "));
    tty.send("\x03");
    REQUIRE(tty.wait_for("bad, "));
    CHECK(tty.wait_for([&] { return contains(tty.output(), "; rtt "); }));
    CHECK(tty.wait_exit() == 128 + SIGINT);
}

TEST_CASE("the end object counts each try to connect, and each failure by its sentence") {
    const Outcome outcome = run(
        {yodel, "--json", "-c", "1", "--retry", "2", "--retry-delay", "1ms", "127.0.0.1", "1"});
    CHECK(outcome.status == 7);
    CHECK(contains(outcome.output,
                   R"("connections":{"attempts":3,"opened":0,"failed":3,"starved":0})"));
    CHECK(
        contains(outcome.output, R"(: Connection refused","status":7,"count":3,"failed":3}])"));
}

TEST_CASE("messages without a schedule wait while too many bytes are in flight") {
    Server server({"-f", "len4le"});
    const Outcome outcome = run({yodel, "-f", "len4le", "-c", "4", "-i", "0", "--window", "4",
                                 "--size", "12M", "127.0.0.1", server.port()});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "4 sent, 4 echoed, 0 bad, 0 lost"));
}

TEST_CASE("option -m sets the length of a run, which then ends gracefully") {
    const auto [interval, sent] =
        GENERATE(table<const char*, const char*>({{"10ms", "yodel: 30 sent, 30 echoed, "},
                                                  {"299ms", "yodel: 2 sent, 2 echoed, "},
                                                  {"300ms", "yodel: 1 sent, 1 echoed, "},
                                                  {"0", " echoed, "}}));
    const Outcome outcome = run({yodel, "-i", interval, "-m", "300ms", "--quiet"});
    CAPTURE(interval, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, sent));
    CHECK(contains(outcome.errors, " 0 bad, 0 lost; rtt"));
}

TEST_CASE("replies are awaited after the length of a run") {
    Server server({"--delay", "400ms", "-f", "line"});
    const std::string interval = GENERATE("10ms", "0");
    const Outcome outcome =
        run({yodel, "-i", interval, "-m", "100ms", "--quiet", "127.0.0.1", server.port()});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, " 0 bad, 0 lost; rtt"));
    CHECK(!contains(outcome.errors, "yodel: 0 sent"));
}

TEST_CASE("replies that do not come after the length of a run are lost") {
    Server server({"--drop", "1", "-f", "line"});
    const Outcome outcome = run({yodel, "-i", "50ms", "-m", "100ms", "-W", "300ms", "--quiet",
                                 "127.0.0.1", server.port()});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "yodel: 2 sent, 0 echoed, 0 bad, 2 lost"));
}

TEST_CASE("a connection that is not open by the length of a run has failed") {
    Server silent({"--self-signed", "--stall-handshake"});
    const std::string interval = GENERATE("10ms", "0");
    const Outcome outcome =
        run({yodel, "-i", interval, "-m", "200ms", "--tls", "-k", "127.0.0.1", silent.port()});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 28);
    CHECK(contains(outcome.errors, "no connection within 200ms (--max-time): still "));
}

TEST_CASE("a run ends even if nobody reads its output") {
    const std::string form = GENERATE("", " --json");
    const Outcome outcome = run({"sh", "-c",
                                 "{ " + yodel + " -i 0 -m 200ms -W 100ms -q 100ms" + form +
                                     "; echo status $? >&2; } | sleep 4"});
    CAPTURE(outcome.errors);
    CHECK(contains(outcome.errors,
                   "standard output was not read within 2.4s (--max-time, -W and -q)"));
    CHECK(contains(outcome.errors, "status 28"));
}
