// Tests of whole clients: schedules on a clock that only the test moves, and other runs in
// virtual time.

#include "app/run/run_client.hpp"

#include "app/text/diagnostics.hpp"
#include "bufio/datagram.hpp"
#include "bufio/listen.hpp"
#include "tests/app/fixture.hpp"
#include "tests/app/run/recordings.hpp"
#include "tests/app/run/standard_input.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/redirected.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

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

// Diagnostics keep writing to the pipe that standard error was at their first use, even after
// a redirection. Here that is a file, for all tests of this program.
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

// The system's facts about the connection; none unless the test sets them.
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
        RunClient::Options options;
        Session::Options& session = options.run.session;
        session.endpoint.host = "127.0.0.1";
        session.endpoint.service = server.port();
        session.endpoint.datagrams = datagrams;
        if (datagrams) session.framing = datagram_framing();
        session.tcp_facts = ask;
        options.run.count = count;
        options.run.pace = Pace(1, interval);
        options.report.form = Reporter::Form::json;
        client.emplace(loop, options);
        until_sent(1);
    }
    // Also waits for the replies, so that the clock does not move before they are read.
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
    std::optional<RunClient> client;
};

using TimedRun = RunAgainst<Server>;

std::string number(ev::Duration duration) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f",
                  std::chrono::duration<double, std::micro>(duration).count());
    return text;
}

}  // namespace

TEST_CASE("a schedule sends each message at its planned nanosecond, not before") {
    const auto interval = GENERATE(1000ns, 250'000ns, 333'333ns, 999'999'999ns);
    constexpr int count = 100;
    TimedRun run(interval, count);
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

TEST_CASE("a late turn sends all due messages, and the schedule continues as planned") {
    TimedRun run(1ms, 6);
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

TEST_CASE("jitter excludes the client's own delay in sending") {
    RunAgainst<DatagramServer> run(1ms, 6, true);
    virtual_time = run.start + 3500us;
    run.until_sent(4);
    virtual_time = run.start + 4100us;
    run.until_sent(5);
    virtual_time = run.start + 5ms;
    run.until_sent(6);
    virtual_time += 1s;  // for duplicate replies
    const std::string output = run.until_ended();
    CAPTURE(output);
    CHECK(contains(output, R"("planned_us":1000.000,"sent_us":3500.000,"rtt_us":2500.000)"));
    CHECK(contains(output, R"("jitter_us":0.000)"));
}

TEST_CASE("the system's facts about the connection are in the end object and the summary") {
    facts = {.min_rtt = 13us, .retransmits = 0, .mss = 1448, .cwnd = 10};
    TimedRun run(1ms, 2);
    facts->retransmits = 2;
    virtual_time = run.start + 1ms;
    turn_until(run.loop, [&] { return run.server.messages == 2; });
    virtual_time += 5200us;
    const std::string output = run.until_ended();
    const std::string summary = run.summary();
    facts.reset();
    CAPTURE(output);
    CHECK(contains(output, R"("rtt_us":0.000,"fate":"echoed","right":true)"));
    CHECK(contains(output, R"("rtt_us":5200.000,"fate":"echoed","resent":true)"));
    CHECK(contains(output,
                   R"("tcp":{"min_rtt_us":13.000,"retransmits":2,"mss":1448,"cwnd":10}})"));
    CHECK(contains(summary, "; p50 0.00ms = network >=0.00 + service <=0.00\n"));
}

TEST_CASE("a very late turn reads replies between its messages") {
    TimedRun run(1us, 100'000);
    virtual_time = run.start + 1s;
    run.loop.step(0ns);
    run.loop.step(0ns);
    CHECK(run.server.messages > 1);
    CHECK(run.server.messages < 1000);
}

TEST_CASE("messages due while the program was stopped are late, and not timed") {
    TimedRun run(1ms, 4);
    virtual_time = run.start + 2500us;
    run.client->continued();
    run.until_sent(3);
    virtual_time = run.start + 3ms;
    run.until_sent(4);
    const std::string output = run.until_ended();
    CHECK(contains(output, R"("planned_us":1000.000,"sent_us":2500.000,"fate":"echoed")"));
    CHECK(contains(output, R"("planned_us":2000.000,"sent_us":2500.000,"fate":"echoed")"));
    CHECK(contains(output, R"("planned_us":3000.000,"sent_us":3000.000,"rtt_us":0.000)"));
    CHECK(contains(output, R"("max":1500.000,)"));
}

namespace {

struct Ran {
    int status = -1;
    std::string output;
    std::string errors;
    std::vector<ev::Time> times;  // when the server received each line
};

// Runs a client to its end against a server of lines. Without an answer, the server reads
// everything and answers nothing.
Ran outcome(RunClient::Options options, const test::LineServer::Answer& answer,
            const test::Lines& greeting = {}) {
    const Redirected output(STDOUT_FILENO);
    const Redirected errors(STDERR_FILENO);
    test::VirtualLoop loop;
    test::LineServer server(loop, answer, greeting);
    test::ManualServer sink(loop);
    options.run.session.endpoint.host = "127.0.0.1";
    options.run.session.endpoint.service = answer ? server.port() : std::to_string(sink.port());
    RunClient client(loop, options);
    const ev::Time limit = ev::Clock::now() + 20s;
    while (loop.step()) {
        client.turn_ended();
        REQUIRE(ev::Clock::now() < limit);
    }
    const int status = client.report();
    return {status, output.text(), errors.text(), server.times};
}

test::Lines same(const std::string& line) { return {line}; }

// A temporary file with the name of a recording, removed with the object.
struct Log {
    ~Log() { ::unlink(name.c_str()); }
    const std::string name = "/tmp/yodel_run_client_" + std::to_string(::getpid()) + ".json";
};

}  // namespace

TEST_CASE("a due message that could not be sent is unsent in every form") {
    struct Row {
        Reporter::Form form;
        std::string part;
        int count;
    };
    const Row row = GENERATE(Row{Reporter::Form::json, R"("fate":"unsent"})", 4},
                             Row{Reporter::Form::sequence, "not sent, seq ", 4},
                             Row{Reporter::Form::payload, "not sent", 0},
                             Row{Reporter::Form::hex, "not sent", 0});
    RunClient::Options options;
    options.report.form = row.form;
    options.run.size = 1024 * 1024;
    options.run.count = 12;
    options.run.pace = Pace(1, 1s);
    options.run.session.reply_timeout = 60s;
    const Ran of = outcome(options, nullptr);
    CHECK(of.status == 1);
    int found = 0;
    for (std::size_t at = of.output.find(row.part); at != std::string::npos;
         at = of.output.find(row.part, at + 1))
        ++found;
    CHECK(found == row.count);
    CHECK(contains(of.errors, "8 sent, 0 echoed, 0 bad, 8 lost, 4 unsent"));
    if (row.form != Reporter::Form::json) return;
    CHECK(contains(of.output, R"("sent":8,"echoed":0,"bad":0,"lost":8,)"));
    CHECK(contains(of.output, R"("unsent":4,)"));
    CHECK(contains(of.output, R"("planned":12,)"));
}

TEST_CASE("a recording with --expect any waits for a greeting before its first message") {
    struct Row {
        bool recorded;
        Expect expect;
        bool waits;
    };
    const Row row = GENERATE(Row{true, Expect::any, true}, Row{true, Expect::echo, false},
                             Row{true, Expect::none, false}, Row{false, Expect::any, false});
    const Log log;
    test::StandardInput input;
    input.write("one\ntwo\n");
    input.end();
    RunClient::Options options;
    options.from = RunClient::Options::From::input;
    options.run.session.expect = row.expect;
    options.run.session.greeting_time = 700ms;
    if (row.recorded) options.report.log = log.name;
    const Ran of = outcome(options, same);
    REQUIRE(of.times.size() == 2);
    CHECK((of.times[0] - test::VirtualLoop::start >= 700ms) == row.waits);
    CHECK(of.times[1] == of.times[0]);
    CHECK(of.status == 0);
}

TEST_CASE("a greeting that comes in time is recorded as unsolicited") {
    const Log log;
    test::StandardInput input;
    input.write("one\n");
    input.end();
    RunClient::Options options;
    options.from = RunClient::Options::From::input;
    options.run.session.expect = Expect::any;
    options.run.session.greeting_time = 2s;
    options.report.log = log.name;
    const Ran of = outcome(options, same, {"~hello"});
    CHECK(of.status == 0);
    CHECK(contains(test::contents(log.name), R"("fate":"unsolicited","received_us":)"));
    CHECK(of.output == "hello\none\n");
}

TEST_CASE("one connection sends standard input, or each of a load sends all of it") {
    const std::size_t connections = GENERATE(as<std::size_t>{}, 1, 3);
    const bool load = connections > 1;
    test::StandardInput input;
    input.write("one\ntwo\nlast");
    input.end();
    RunClient::Options options;
    options.from = RunClient::Options::From::input;
    options.run.connections = connections;
    options.report.load = load;
    options.report.quiet = true;
    const Ran of = outcome(options, same);
    CHECK(of.times.size() == 3 * connections);
    CHECK(of.status == 0);
    CHECK(of.output == (load ? "" : "one\ntwo\nlast"));
    CHECK(of.errors.empty() == !load);  // replies or a summary
    CHECK(contains(of.errors, "9 sent, 9 echoed") == load);
}

TEST_CASE("input that can't be sent ends a run with a sentence, after the replies") {
    const std::size_t connections = GENERATE(as<std::size_t>{}, 1, 3);
    test::StandardInput input;
    input.write("one\na\\q\nlast\n");
    input.end();
    RunClient::Options options;
    options.from = RunClient::Options::From::input;
    options.escapes = true;
    options.run.connections = connections;
    const Ran of = outcome(options, same);
    CHECK(of.status == 1);
    CHECK(of.times.size() == connections);
    const std::string sentence = "standard input, line 2: a backslash must be followed by ";
    const std::size_t at = of.errors.find(sentence);
    CHECK(at != std::string::npos);
    CHECK(of.errors.find(sentence, at + 1) == std::string::npos);
    CHECK(contains(of.errors, std::to_string(connections) + " sent, "));
}
