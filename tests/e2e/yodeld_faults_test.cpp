// yodeld as a test peer: every fault, and how yodel reports it.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <csignal>
#include <cstdlib>

using test::contains;
using test::Outcome;
using test::Process;
using test::run;
using test::Server;
using test::yodel;

namespace {

std::string lines(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
}

// Returns the outcome of ten lines sent to a server with the fault.
Outcome ten_lines(const std::vector<std::string>& server_options,
                  std::vector<std::string> client_options = {}) {
    std::vector<std::string> options{"-f", "line"};
    options.insert(options.end(), server_options.begin(), server_options.end());
    Server server(options);
    std::vector<std::string> command{yodel, "-W", "20"};
    command.insert(command.end(), client_options.begin(), client_options.end());
    command.insert(command.end(), {"127.0.0.1", server.port()});
    return run(command, lines(10));
}

// Returns the minimum round trip of a summary, in milliseconds.
double least_round_trip(const std::string& errors) {
    const std::string mark = "min/p50/p95/p99/max ";
    const std::size_t place = errors.find(mark);
    return place == errors.npos ? -1 : std::atof(errors.c_str() + place + mark.size());
}

}  // namespace

TEST_CASE("with --delay the round trips are longer, and the order stays") {
    const Outcome outcome = ten_lines({"--delay", "30ms~10ms"});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output == lines(10));
    CHECK(least_round_trip(outcome.errors) >= 20);
}

TEST_CASE("with --drop lines are lost") {
    const Outcome all = ten_lines({"--drop", "1"}, {"-W", "50ms"});
    CHECK(all.status == 1);
    CHECK(contains(all.errors, "10 sent, 0 echoed, 0 bad, 10 lost"));
    CHECK(all.output.empty());
}

TEST_CASE("with --corrupt replies are bad, and the first wrong byte is named") {
    const Outcome outcome = ten_lines({"--corrupt", "100%"});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "reply 1 differs from its message at byte"));
    CHECK(contains(outcome.errors, "10 sent, 0 echoed, 10 bad, 0 lost"));
}

TEST_CASE("with --dup each reply is duplicated, which is a fault") {
    Server server({"-f", "line", "--dup", "1"});
    const Outcome outcome = run({yodel, "127.0.0.1", server.port()}, lines(1));
    CHECK(outcome.output == "line 1\nline 1\n");
    CHECK(contains(outcome.errors, "1 sent, 1 echoed, 0 bad, 0 lost, 1 duplicate"));
    CHECK(contains(outcome.errors, "the server sent a duplicate reply\n"));
    CHECK(outcome.status == 1);
    const Outcome several = ten_lines({"--dup", "1"});
    CHECK(contains(several.errors, "10 sent, 10 echoed, 0 bad, 0 lost, "));
    CHECK(several.status == 1);
}

TEST_CASE("without a framing the faults apply to the bytes of each read") {
    Server server({"--corrupt", "1"});
    const Outcome outcome = run({yodel, "127.0.0.1", server.port()}, lines(1));
    CHECK(contains(outcome.errors, "1 sent, 0 echoed, "));
    CHECK(outcome.status == 1);
    Server deaf({"--drop", "1"});
    const Outcome lost =
        run({yodel, "-f", "raw", "-W", "50ms", "-q", "50ms", "127.0.0.1", deaf.port()}, "abc");
    CHECK(contains(lost.errors, "1 sent, 0 echoed, 0 bad, 1 lost"));
    CHECK(lost.output.empty());
}

TEST_CASE("the same seed causes the same faults, another seed others") {
    const std::vector<std::string> faults{"--corrupt", "0.3", "--dup", "0.3", "--seed"};
    const auto output = [&](const char* seed) {
        auto options = faults;
        options.emplace_back(seed);
        return ten_lines(options).output;
    };
    const std::string first = output("7");
    CHECK(first != lines(10));
    CHECK(output("7") == first);
    CHECK(output("8") != first);
}

TEST_CASE("with --chunk the client joins the pieces of replies") {
    const Outcome outcome = ten_lines({"--chunk", "1"});
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "10 sent, 10 echoed, 0 bad, 0 lost;"));
}

TEST_CASE("with --close-after the remaining messages are lost") {
    const Outcome outcome = ten_lines({"--close-after", "3"});
    CHECK(outcome.status == 56);
    CHECK(contains(outcome.errors, "the server closed the connection after 3 of 10 replies"));
    CHECK(outcome.output == lines(3));
    CHECK(contains(outcome.errors, "10 sent, 3 echoed, 0 bad, 7 lost"));
}

TEST_CASE("with --reset-after the reset is reported, with its status") {
    const Outcome outcome = ten_lines({"--reset-after", "3"});
    CHECK(outcome.status == 56);
    CHECK(outcome.output == lines(3));
    CHECK(contains(outcome.errors, "Connection reset by peer"));
    CHECK(contains(outcome.errors, "10 sent, 3 echoed, 0 bad, 7 lost"));
}

TEST_CASE("with --half-close the server's early end is reported") {
    Server server({"--half-close"});
    Process client({yodel, "127.0.0.1", server.port()});
    client.write(lines(1));
    client.close_input();
    CHECK(client.wait_exit() == 56);
    CAPTURE(client.errors());
    CHECK(contains(client.errors(), "the server closed the connection after 0 of 1 replies"));
}

TEST_CASE("with --no-read nothing comes back, and finally the server is blocked") {
    Server server({"--no-read"});
    const Outcome outcome =
        run({yodel, "-f", "raw", "--idle-timeout", "200ms", "127.0.0.1", server.port()},
            std::string(20'000'000, 'x'));
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 28);
    CHECK(contains(outcome.errors, "nothing sent or received for 200ms"));
}

TEST_CASE("with --stall-handshake the connect timeout expires") {
    Server server({"--self-signed", "--stall-handshake"});
    const Outcome outcome =
        run({yodel, "--tls", "-w", "200ms", "127.0.0.1", server.port()}, "a\n");
    CHECK(outcome.status == 28);
    CHECK(contains(outcome.errors, "within 200ms: still in the TLS handshake with 127.0.0.1:"));
}

TEST_CASE("silence after a large hello is reported with the option that makes it smaller") {
    Server server({"--self-signed", "--stall-handshake"});
    std::string protocols = "a";
    for (int i = 0; i < 40; ++i) protocols += "," + std::string(40, 'b') + std::to_string(i);
    const std::string target = "tls://127.0.0.1:" + server.port();
    // Since OpenSSL 3.5, every hello of TLS 1.3 is large.
    const Outcome small = run({yodel, "-z", "-w", "200ms", "--tls-max", "1.2", target});
    CHECK(small.status == 28);
    CHECK_FALSE(contains(small.errors, "--groups"));
    const Outcome large = run({yodel, "-z", "-w", "200ms", "--alpn", protocols, target});
    CHECK(large.status == 28);
    CHECK(contains(large.errors, "too large for some servers and middleboxes: --groups"));
}

TEST_CASE("with --banner its text comes first, unsolicited") {
    Server server({"-f", "line", "--banner", "220 hello\\x21\\n"});
    Process client({yodel, "127.0.0.1", server.port()});
    REQUIRE(client.wait_for_output("220 hello!\n"));
    client.write(lines(10));
    client.close_input();
    CHECK(client.wait_exit() == 0);
    CHECK(client.output() == "220 hello!\n" + lines(10));
    CHECK(contains(client.errors(), "10 sent, 10 echoed, 0 bad, 0 lost, 1 unsolicited"));
}

TEST_CASE("faults also apply over TLS") {
    Server server({"--self-signed", "-f", "len2", "--corrupt", "1"});
    const Outcome outcome =
        run({yodel, "--tls", "-k", "-f", "len2", "127.0.0.1", server.port()}, lines(5));
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "5 sent, 0 echoed, 5 bad, 0 lost"));
}

TEST_CASE("a message larger than a faulty server's buffer ends its connection") {
    Server server({"-f", "line", "--dup", "1", "--max-buffer", "1k"});
    run({yodel, "127.0.0.1", server.port()}, std::string(5000, 'x') + "\n");
    CHECK(server.process().wait_for_errors("exceeds the limit of 1024 (--max-buffer)"));
}
