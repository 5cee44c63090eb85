// Schedules in virtual time: the clock of the loop moves only when the test moves it.

#include "app/run/unattended.hpp"
#include "app/text/diagnostics.hpp"
#include "bufio/datagram.hpp"
#include "bufio/listen.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/redirected.hpp"
#include "tests/support/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <span>
#include <string>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::Redirected;
using test::turn_until;

namespace {

// The diagnostics write to the pipe that standard error is when they are first asked for, also
// after it was redirected. Here it is a file then, for all tests of this program.
[[maybe_unused]] const Diagnostics& errors_to_a_file = []() -> Diagnostics& {
    const Redirected errors(STDERR_FILENO);
    return diagnostics();
}();

ev::Time virtual_time;
ev::Time virtual_clock() { return virtual_time; }
ev::Time restart_time() {
    virtual_time = ev::Time(1h);
    return virtual_time;
}

// What the system says of the connection: nothing, unless the test has it say something.
std::optional<bufio::TcpFacts> facts;
std::optional<bufio::TcpFacts> ask(int) { return facts; }

// Echoes, and counts lines.
class Server final : private bufio::Stream::User {
public:
    explicit Server(ev::Loop& loop)
        : listener_(loop, test::any_loopback_port(),
                    [this, &loop](bufio::Fd socket, const bufio::Address&) {
                        bufio::Stream::User& user = *this;
                        stream_ = std::make_unique<bufio::Stream>(
                            loop, bufio::make_plain_transport(std::move(socket)), user);
                    }) {}
    std::string port() const { return std::to_string(listener_.address().port()); }

    int messages = 0;

private:
    void stream_changed(bufio::Stream& stream) override {
        const std::string_view received = stream.received();
        for (const char byte : received) messages += byte == '\n' ? 1 : 0;
        stream.write(received);
        stream.consume(received.size());
        if (stream.input_ended()) stream.finish();
    }

    std::unique_ptr<bufio::Stream> stream_;
    bufio::Listener listener_;
};

// Answers datagrams.
class DatagramServer final : private bufio::DatagramSocket::User {
public:
    explicit DatagramServer(ev::Loop& loop) : socket_(loop, test::any_loopback_port(), *this) {}
    std::string port() const { return std::to_string(socket_.address().port()); }

    int messages = 0;

private:
    void datagrams_received(std::span<const bufio::Datagram> datagrams) override {
        for (const bufio::Datagram& each : datagrams) {
            ++messages;
            socket_.send(each.bytes, each.peer);
        }
    }

    bufio::DatagramSocket socket_;
};

template <class Server>
struct RunAgainst {
    explicit RunAgainst(ev::Duration interval, std::uint64_t count, bool datagrams = false) {
        Unattended::Options options;
        options.session.endpoint.host = "127.0.0.1";
        options.session.endpoint.service = server.port();
        options.session.endpoint.datagrams = datagrams;
        if (datagrams) options.session.framing = datagram_framing();
        options.session.tcp_facts = ask;
        options.report.form = Reporter::Form::json;
        options.count = count;
        options.interval = interval;
        client.emplace(loop, options);
        until_sent(1);
    }
    // And until their replies are in, so that time does not move on before.
    void until_sent(int messages) {
        turn_until(loop, [&] { return server.messages >= messages; });
        CHECK(server.messages == messages);
        // The line of the connection comes first.
        turn_until(loop, [&] { return output.lines() > messages; });
    }
    void turn_some() {
        for (int i = 0; i < 5; ++i) loop.step(0ns);
    }
    std::string summary() {
        const Redirected errors(STDERR_FILENO);
        client->report();
        return errors.text();
    }
    std::string until_ended() {
        turn_until(loop, [&] { return contains(output.text(), "\"type\":\"end\""); });
        return output.text();
    }

    const ev::Time start = restart_time();
    const Redirected output{STDOUT_FILENO};
    ev::Loop loop{virtual_clock};
    Server server{loop};
    std::optional<Unattended> client;
};

using Run = RunAgainst<Server>;

std::string number(ev::Duration duration) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f",
                  std::chrono::duration<double, std::micro>(duration).count());
    return text;
}

}  // namespace

TEST_CASE("each message of a schedule is sent at its planned nanosecond, and not before") {
    const auto interval = GENERATE(1000ns, 250'000ns, 333'333ns, 999'999'999ns);
    constexpr int count = 100;
    Run run(interval, count);
    for (int sent = 1; sent < count; ++sent) {
        const ev::Time planned = run.start + sent * interval;
        virtual_time = planned - 1ns;
        run.turn_some();
        REQUIRE(run.server.messages == sent);
        virtual_time = planned;
        run.until_sent(sent + 1);
    }
    const std::string output = run.until_ended();
    for (int i = 0; i < count; ++i) {
        const std::string at = number(i * interval);
        CHECK(contains(output, "\"planned_us\":" + at + ",\"sent_us\":" + at + ","));
    }
    CHECK(contains(output, R"("max":0.000,"sum":0.000},)"));
}

TEST_CASE("a late turn sends all that is due, and the schedule goes on as planned") {
    Run run(1ms, 6);
    virtual_time = run.start + 3500us;
    run.until_sent(4);
    virtual_time = run.start + 4ms - 1ns;
    run.turn_some();
    CHECK(run.server.messages == 4);
    virtual_time += 1ns;
    run.until_sent(5);
    virtual_time += 1ms;
    run.until_sent(6);
    const std::string output = run.until_ended();
    CAPTURE(output);
    for (const char* times : {R"("planned_us":0.000,"sent_us":0.000,"rtt_us":0.000)",
                              R"("planned_us":1000.000,"sent_us":3500.000,"rtt_us":2500.000)",
                              R"("planned_us":3000.000,"sent_us":3500.000,"rtt_us":500.000)",
                              R"("planned_us":4000.000,"sent_us":4000.000,"rtt_us":0.000)",
                              R"("planned_us":5000.000,"sent_us":5000.000,"rtt_us":0.000)"})
        CHECK(contains(output, times));
    CHECK(contains(output, R"("lateness_us":{"min":0.000,)"));
    CHECK(contains(output, R"("max":2500.000,)"));
    CHECK(contains(run.summary(), "/2.5 ms; late p50/p99 0.00/2.5 ms\n"));
}

TEST_CASE("jitter is the way's alone, and not that of a client that sends late") {
    RunAgainst<DatagramServer> run(1ms, 6, true);
    virtual_time = run.start + 3500us;
    run.until_sent(4);
    virtual_time = run.start + 4100us;
    run.until_sent(5);
    virtual_time = run.start + 5ms;
    run.until_sent(6);
    virtual_time += 1s;  // for replies that come twice
    const std::string output = run.until_ended();
    CAPTURE(output);
    CHECK(contains(output, R"("planned_us":1000.000,"sent_us":3500.000,"rtt_us":2500.000)"));
    CHECK(contains(output, R"("jitter_us":0.000)"));
}

TEST_CASE("what the system knows about the connection is in the end object and the summary") {
    facts = {.min_rtt = 13us, .retransmits = 0, .mss = 1448, .cwnd = 10};
    Run run(1ms, 2);
    facts->retransmits = 2;
    virtual_time = run.start + 1ms;
    turn_until(run.loop, [&] { return run.server.messages == 2; });
    virtual_time += 5200us;
    const std::string output = run.until_ended();
    const std::string summary = run.summary();
    facts.reset();
    CAPTURE(output);
    CHECK(contains(output, R"("rtt_us":0.000,"verdict":"echoed","right":true)"));
    CHECK(contains(output, R"("rtt_us":5200.000,"verdict":"echoed","resent":true)"));
    CHECK(contains(output,
                   R"("tcp":{"min_rtt_us":13.000,"retransmits":2,"mss":1448,"cwnd":10}})"));
    CHECK(contains(summary, "; p50 0.00ms = network >=0.00 + service <=0.00\n"));
}

TEST_CASE("a turn that is very late looks at replies between its messages") {
    Run run(1us, 100'000);
    virtual_time = run.start + 1s;
    run.loop.step(0ns);
    run.loop.step(0ns);
    CHECK(run.server.messages > 1);
    CHECK(run.server.messages < 1000);
}

TEST_CASE("messages that were due while the program was stopped are late, and not timed") {
    Run run(1ms, 4);
    virtual_time = run.start + 2500us;
    run.client->continued();
    run.until_sent(3);
    virtual_time = run.start + 3ms;
    run.until_sent(4);
    const std::string output = run.until_ended();
    CHECK(contains(output, R"("planned_us":1000.000,"sent_us":2500.000,"verdict":"echoed")"));
    CHECK(contains(output, R"("planned_us":2000.000,"sent_us":2500.000,"verdict":"echoed")"));
    CHECK(contains(output, R"("planned_us":3000.000,"sent_us":3000.000,"rtt_us":0.000)"));
    CHECK(contains(output, R"("max":1500.000,)"));
}
