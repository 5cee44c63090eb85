// Loads: many connections at once against servers of all kinds.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

using test::contains;
using test::Outcome;
using test::run;
using test::Server;
using test::server_threads;
using test::yodel;
using test::yodel_load;

namespace {

using Words = std::vector<std::string>;

Outcome crowd(const Server& server, Words options) {
    options.insert(options.begin(), yodel_load);
    options.insert(options.end(), {"127.0.0.1", server.port()});
    return run(options);
}

// Returns the number of a member in the last object of the output.
std::uint64_t member(const Outcome& outcome, const std::string& name) {
    const std::size_t place = outcome.output.rfind("\"" + name + "\":");
    REQUIRE(place != std::string::npos);
    return std::stoull(outcome.output.substr(place + name.size() + 3));
}

// Returns a figure of the round trips in the end object, in microseconds.
double round_trip(const Outcome& outcome, const std::string& name) {
    const std::size_t begin = outcome.output.rfind("\"rtt_us\":{");
    REQUIRE(begin != std::string::npos);
    const std::size_t place = outcome.output.find("\"" + name + "\":", begin);
    REQUIRE(place != std::string::npos);
    return std::stod(outcome.output.substr(place + name.size() + 3));
}

// Returns the number before these words in the server's counters.
std::uint64_t counted(Server& server, const std::string& words) {
    server.process().kill(SIGUSR1);
    REQUIRE(server.process().wait_for_errors("bytes out"));
    const std::string& text = server.process().errors();
    const std::size_t end = text.rfind(" " + words);
    REQUIRE(end != std::string::npos);
    return std::stoull(text.substr(text.rfind(' ', end - 1) + 1));
}

}  // namespace

TEST_CASE("a load sends its count of messages over its connections") {
    Server server;
    const Words schedule = GENERATE(Words{}, Words{"-i", "5ms"}, Words{"--rate", "2k"},
                                    Words{"--window", "3"}, Words{"--churn", "7"});
    Words options{"--connections", "20", "-c", "200"};
    options.insert(options.end(), schedule.begin(), schedule.end());
    const Outcome outcome = crowd(server, options);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, "200 sent, 200 echoed, 0 bad, 0 lost, "));
    CHECK(counted(server, "bytes in") == 200 * 65);
    CHECK(counted(server, "accepted") >= 20);
}

TEST_CASE("a load speaks each framing, and TLS") {
    const std::string framing =
        GENERATE("line", "crlf", "nul", "len1", "len4le", "caret", "raw");
    const Words tls = GENERATE(Words{}, Words{"--tls"});
    Words command{yodel_load, "--connections", "5", "-c", "50", "-f", framing};
    command.insert(command.end(), tls.begin(), tls.end());
    const Outcome outcome = run(command);
    CAPTURE(framing, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "50 sent, 50 echoed, 0 bad, 0 lost"));
}

TEST_CASE("a load without a target runs a server that accepts all its connections") {
    const Outcome outcome = run({yodel_load, "--connections", "1100", "-c", "1100", "--json"});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.output, "\"connections\":{\"attempts\":1100,\"opened\":1100,"
                                   "\"failed\":0,\"starved\":0,\"connect_us\":{"));
}

TEST_CASE("a load counts exactly the replies that a server drops, doubles and damages") {
    const Words schedule = GENERATE(Words{}, Words{"--rate", "2k"});
    Server server(
        {"--drop", "0.05", "--dup", "0.05", "--corrupt", "0.05", "--seed", "3", "-f", "line"});
    Words options{"--connections", "20", "-c", "400", "-W", "300ms", "--json"};
    options.insert(options.end(), schedule.begin(), schedule.end());
    const Outcome outcome = crowd(server, options);
    CAPTURE(outcome.output, outcome.errors);
    const std::uint64_t echoed = member(outcome, "echoed");
    const std::uint64_t bad = member(outcome, "bad");
    const std::uint64_t lost = member(outcome, "lost");
    CHECK(outcome.status == 1);
    CHECK(member(outcome, "sent") == 400);
    CHECK(echoed + bad + lost == 400);
    CHECK(bad > 0);
    CHECK(lost > 0);
    CHECK(counted(server, "bytes in") == 400 * 65);
    const std::uint64_t further =
        member(outcome, "unsolicited") + member(outcome, "duplicates");
    CHECK(counted(server, "bytes out") == (echoed + bad + further) * 65);
    CHECK(contains(outcome.errors, " differs from its message at byte "));
}

TEST_CASE("connections that a server resets are counted by their sentences") {
    Server server({"--reset-after", "5", "-f", "line"});
    const Outcome outcome = crowd(server, {"--connections", "10", "-m", "10s", "--json"});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 56);
    CHECK(contains(outcome.errors, "Connection reset by peer ("));
    CHECK(contains(outcome.output, "\"connections\":{\"attempts\":10,\"opened\":10,\"failed\":"
                                   "0,\"starved\":0,\"connect_us\":{"));
    const std::string part = "\"status\":56,\"count\":";
    std::uint64_t failures = 0;  // while sending or receiving
    for (std::size_t i = outcome.output.find(part); i != std::string::npos;
         i = outcome.output.find(part, i + 1))
        failures += std::stoull(outcome.output.substr(i + part.size()));
    CHECK(failures == 10);
    CHECK(member(outcome, "sent") == member(outcome, "echoed") + member(outcome, "lost"));
    CHECK(member(outcome, "echoed") <= 50);
}

TEST_CASE("a server that accepts only some connections gets the messages over these") {
    Server server({"--max-conns", "5"});
    const Outcome outcome =
        crowd(server, {"--connections", "8", "-c", "400", "--rate", "1k", "--json"});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 56);
    CHECK(contains(outcome.errors, "the server closed before the end of the run (3 times)"));
    CHECK(member(outcome, "sent") == 400);
    CHECK(member(outcome, "echoed") + member(outcome, "lost") == 400);
    CHECK(member(outcome, "lost") < 100);  // three of eight connections would lose 150
}

TEST_CASE("a load with --retry reconnects after resets") {
    Server server({"--reset-after", "5", "-f", "line"});
    const Outcome outcome = crowd(server, {"--connections", "4", "-c", "100", "--retry",
                                           "forever", "--retry-delay", "1ms", "--json"});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(member(outcome, "sent") == 100);
    CHECK(member(outcome, "echoed") + member(outcome, "lost") == 100);
    CHECK(member(outcome, "echoed") >= 70);
}

TEST_CASE("a load without replies ends with the status of the failure") {
    const std::string port = std::to_string(test::free_port());
    const Words options = GENERATE(Words{"-m", "5s"}, Words{"--rate", "10", "-c", "7"});
    Words command{yodel_load, "--connections", "7", "127.0.0.1", port};
    command.insert(command.end(), options.begin(), options.end());
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 7);
    CHECK(contains(outcome.errors, "Connection refused (7 times)"));
    CHECK(contains(outcome.errors, "7 of 7 attempts to connect failed"));
}

TEST_CASE("connections that never open end with the run") {
    Server server({"--stall-handshake", "--self-signed"});
    const Outcome outcome =
        crowd(server, {"--connections", "3", "-m", "200ms", "--tls", "-k", "--rate", "100"});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 28);
    CHECK(contains(outcome.errors, "no connection within 200ms (--max-time): still "));
    CHECK(contains(outcome.errors, "(3 times)"));
}

TEST_CASE("a signal ends a load with the sum of all connections") {
    Server server({"-v"});
    const Words schedule = GENERATE(Words{}, Words{"--rate", "500"});
    Words command{yodel_load, "--connections", "5", "--json"};
    command.insert(command.end(), schedule.begin(), schedule.end());
    command.insert(command.end(), {"--size", "100", "127.0.0.1", server.port()});
    test::Process client(command);
    REQUIRE(server.process().wait_for_errors("read 101 bytes: "));
    client.kill(SIGINT);
    CHECK(client.wait_exit() == 128 + SIGINT);
    CHECK(contains(client.errors(), " 0 bad, 0 lost"));
    CHECK(contains(client.output(), "\"status\":130"));
}

TEST_CASE("a load does not start if the limit of descriptors is too low") {
    Server server;
    const bool inside = GENERATE(false, true);  // the server's ends also need descriptors
    const std::string load =
        inside ? " --connections 60 -c 1" : " --connections 98 -c 1 127.0.0.1 " + server.port();
    const Outcome outcome = run({"sh", "-c", "ulimit -n 100; exec " + yodel_load + load});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "these connections need 1"));
    CHECK(contains(outcome.errors, " descriptors, but the limit is 100 (ulimit -n)"));
    CHECK(counted(server, "accepted") == 0);
}

TEST_CASE("a server that serves one client after the other is reported") {
    const std::vector<std::string> options =
        GENERATE(std::vector<std::string>{"-c", "200"}, std::vector<std::string>{"-m", "1s"},
                 std::vector<std::string>{"-m", "1s", "--rate", "400"});
    test::Peer peer({"python3", test::peers + "/scripted.py", "PORT", "rest"});
    std::vector<std::string> command{yodel_load, "--connections", "4", "--json"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"127.0.0.1", peer.port()});
    const Outcome outcome = run(command);
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, " got no reply while others got "));
    CHECK(contains(outcome.output, "\"starved\":3"));
}

TEST_CASE("a server that serves all clients starves none") {
    const std::vector<std::string> options =
        GENERATE(std::vector<std::string>{"-c", "2000"},
                 std::vector<std::string>{"-m", "800ms", "--churn", "3"},
                 std::vector<std::string>{"-m", "800ms", "--connect-rate", "40"},
                 std::vector<std::string>{"-m", "800ms", "--rate", "4k", "--threads", "2"});
    const Server server({"--delay", GENERATE("0", "100ms~100ms")});
    std::vector<std::string> command{yodel_load, "--connections", "20", "--json"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"127.0.0.1", server.port()});
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(contains(outcome.output, "\"starved\":0"));
}

TEST_CASE("a run needs few descriptors besides its connections, and raises the soft limit") {
    Server server;
    const auto [limit, program] = GENERATE(table<std::string, std::string>(
        {{"-n 24", yodel + " -c 1"},
         {"-n 24", yodel_load + " -c 1"},
         {"-S -n 64", yodel_load + " --connections 90 -c 900"}}));
    const bool inside = GENERATE(false, true);
    const std::string command =
        "ulimit " + limit + "; exec " + program + (inside ? "" : " 127.0.0.1 " + server.port());
    const Outcome outcome = run({"sh", "-c", command});
    CAPTURE(command, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, " 0 bad, 0 lost"));
}

TEST_CASE("a load begins at its --start-at time") {
    Server server;
    const Outcome outcome =
        run({"sh", "-c",
             "at=$(date -u -d '+2 sec' +%Y-%m-%dT%H:%M:%SZ); " + yodel_load +
                 " --connections 2 -c 2 --start-at $at 127.0.0.1 " + server.port() +
                 "; date -u +%Y-%m-%dT%H:%M:%SZ; echo $at"});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(contains(outcome.errors, "2 sent, 2 echoed"));
    const std::size_t line = outcome.output.find('\n');
    CHECK(outcome.output.substr(0, line) >= outcome.output.substr(line + 1, line));
}

TEST_CASE("a load that connects too slowly reports how late it began") {
    Server server;
    const Outcome outcome =
        crowd(server, {"--connections", "3", "--connect-rate", "5", "--rate", "100", "-c", "3",
                       "--start-at", "+50ms", "--json"});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, " ms after --start-at\n"));
    CHECK(contains(outcome.output, "\"late_start_us\":"));
}

TEST_CASE("a warm-up is counted apart") {
    Server server;
    const Words schedule =
        GENERATE(Words{"-i", "10ms"}, Words{"--connections", "2", "--rate", "100"});
    Words options{"-c", "5", "--warm-up", "200ms", "--json"};
    options.insert(options.end(), schedule.begin(), schedule.end());
    const Outcome outcome = crowd(server, options);
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.output, R"("status":0,"sent":5,"echoed":5,"bad":0,"lost":0,)"));
    CHECK(contains(outcome.output, R"("warm_up":{"sent":20,"echoed":20,"bad":0,"lost":0,)"));
    CHECK(contains(outcome.errors, "; warm-up: 20 sent, 20 echoed, 0 bad, 0 lost"));
    CHECK(counted(server, "bytes in") == 25 * 65);
}

TEST_CASE("each connection sends the script to servers of the caret protocol") {
    const bool ours = GENERATE(true, false);
    std::unique_ptr<Server> server;
    std::unique_ptr<test::Peer> peer;
    if (ours) server = std::make_unique<Server>(Words{"-f", "caret"});
    if (!ours)
        peer = std::make_unique<test::Peer>(
            Words{"python3", test::peers + "/caret_echo.py", "serve", "PORT"});
    const std::string port = ours ? server->port() : peer->port();
    const Outcome outcome =
        run({yodel_load, "--connections", "3", "-f", "caret", "-v", "127.0.0.1", port},
            "abc\nabte\nab0000\n");
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "9 sent, 9 echoed, 0 bad, 0 lost"));
    for (const char* const connection : {"1", "2", "3"}) {
        const std::string prefix = std::string(connection) + ": ";
        std::string said;
        for (std::size_t i = 0; i < outcome.output.size();) {
            const std::size_t end = outcome.output.find('\n', i);
            const std::string line = outcome.output.substr(i, end - i);
            if (line.starts_with(prefix)) said += line.substr(3) + ";";
            i = end + 1;
        }
        CHECK(said == "bcd;bcuf;bc1111;");
    }
}

TEST_CASE("a script prints no replies, unless they are requested") {
    Server server;
    const Outcome quiet =
        run({yodel_load, "--connections", "2", "127.0.0.1", server.port()}, "one\ntwo");
    CHECK(quiet.status == 0);
    CHECK(quiet.output.empty());
    CHECK(contains(quiet.errors, "4 sent, 4 echoed, 0 bad, 0 lost"));
    const Outcome json =
        run({yodel_load, "--connections", "2", "--json", "127.0.0.1", server.port()}, "one\n");
    CAPTURE(json.output);
    for (const char* const connection : {"1", "2"}) {
        CHECK(contains(json.output,
                       std::string("\"type\":\"connection\",\"connection\":") + connection));
        CHECK(contains(json.output, std::string("\"fate\":\"echoed\",\"right\":true,"
                                                "\"connection\":") +
                                        connection));
    }
    CHECK(member(json, "echoed") == 2);
}

TEST_CASE("with --json and --quiet the end object is alone") {
    Server server;
    Words command = GENERATE(Words{yodel, "-c", "2", "-i", "0"},
                             Words{yodel_load, "-c", "2", "--rate", "1k"});
    command.insert(command.end(), {"--json", "--quiet", "127.0.0.1", server.port()});
    const Outcome outcome = run(command);
    CHECK(outcome.output.starts_with("{\"type\":\"end\","));
    CHECK(outcome.output.find('\n') == outcome.output.size() - 1);
    CHECK(outcome.errors.empty());
}

TEST_CASE("a script that continues after a while is sent to its end") {
    Server server({"-v"});
    test::Process client({yodel_load, "--connections", "2", "-v", "127.0.0.1", server.port()});
    client.write("first\n");
    REQUIRE(client.wait_for_output("1: first\n"));
    REQUIRE(client.wait_for_output("2: first\n"));
    client.write("second\n");
    REQUIRE(client.wait_for_output("1: second\n"));
    REQUIRE(client.wait_for_output("2: second\n"));
    client.close_input();
    CHECK(client.wait_exit() == 0);
    CHECK(contains(client.errors(), "4 sent, 4 echoed"));
}

TEST_CASE("a line that can't be sent ends the script before it") {
    Server server({"-f", "len1"});
    const Outcome outcome =
        run({yodel_load, "--connections", "2", "-f", "len1", "127.0.0.1", server.port()},
            "ok\n" + std::string(300, 'x') + "\nnever\n");
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "a message of 300 bytes does not fit into -f len1"));
    CHECK(contains(outcome.errors, "2 sent, 2 echoed"));
}

TEST_CASE("a server that closes during a script ends it with a sentence") {
    Server server({"--close-after", "2", "-f", "line"});
    const Outcome outcome =
        run({yodel_load, "--connections", "2", "127.0.0.1", server.port()}, "a\nb\nc\nd\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 56);
    CHECK(contains(outcome.errors, "the server closed before the end of the input (2 times)"));
}

TEST_CASE("a blocked reader pauses a script, and gets all of it later") {
    Server server;
    std::string script;
    for (int i = 0; i < 20'000; ++i) script += "line " + std::to_string(i) + "\n";
    const Outcome outcome = run({"sh", "-c",
                                 yodel_load + " --connections 2 -v -W 60 127.0.0.1 " +
                                     server.port() + " | { sleep 0.3; wc -l; }"},
                                script);
    CAPTURE(outcome.errors);
    CHECK(contains(outcome.output, "40000"));
    CHECK(contains(outcome.errors, "40000 sent, 40000 echoed, 0 bad, 0 lost"));
}

// The server is stopped for 1.4 s in a run of 200 messages a second. Each message due in that
// time waits for the rest of it, so the longest round trip is the length of the stop. A
// hundredth of the 600 messages is due in its first 30 ms, so the p99 is 30 ms less. The test
// measures the length itself, so that a slow machine changes both sides alike.
TEST_CASE("an open loop measures the whole time that the server is stopped") {
    using Clock = std::chrono::steady_clock;
    using Microseconds = std::chrono::duration<double, std::micro>;
    Server server({"-v"});
    test::Process client({yodel_load, "--connections", "4", "--rate", "200", "-m", "3s", "-W",
                          "20s", "--json", "127.0.0.1", server.port()});
    REQUIRE(server.process().wait_for_errors("read 65 bytes: "));
    const auto before_stop = Clock::now();
    server.process().kill(SIGSTOP);
    const auto stopped = Clock::now();
    std::this_thread::sleep_until(stopped + std::chrono::milliseconds(1400));
    const auto before_end = Clock::now();
    server.process().kill(SIGCONT);
    server.process().kill(SIGUSR1);
    REQUIRE(server.process().wait_for_errors("bytes out"));
    const auto ended = Clock::now();
    REQUIRE(client.wait_exit() == 0);
    const Outcome outcome{0, client.output(), client.errors()};
    const double least = Microseconds(before_end - stopped).count();
    const double most = Microseconds(ended - before_stop).count();
    const double longest = round_trip(outcome, "max");
    CAPTURE(outcome.errors, least, most);
    CHECK(member(outcome, "sent") == 600);
    CHECK(member(outcome, "echoed") == 600);
    CHECK(longest >= 0.98 * least);
    CHECK(longest <= 1.02 * most);
    CHECK(round_trip(outcome, "p99") >= 0.98 * (longest - 30e3));
    CHECK(round_trip(outcome, "p99") <= 1.02 * (longest - 30e3));
}

TEST_CASE("a load takes 4 MiB, and 3 KiB for each connection") {
#ifndef YODEL_INSTRUMENTED
    constexpr std::size_t connections = 10'000;
#    ifdef _LIBCPP_VERSION
    constexpr std::size_t each = 3400;  // its containers are a little larger
#    else
    constexpr std::size_t each = 3 * 1024;
#    endif
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < connections + 100) {
        WARN("the limit of descriptors is too low");
        return;
    }
    Server server({"--max-conns", std::to_string(connections)});
    test::Process client({yodel_load, "--connections", std::to_string(connections), "--rate",
                          "5k", "-m", "2s", "127.0.0.1", server.port()});
    REQUIRE(client.wait_for_errors(" sent, "));
    CAPTURE(client.errors());
    const std::size_t base = test::system_libraries_are_larger() ? 5 : 4;
    CHECK(client.peak_memory() < base * 1024 * 1024 + each * connections);
    CHECK(client.wait_exit() == 0);
#endif
}

TEST_CASE("a load looks up its target's name once") {
    const Outcome outcome =
        run({yodel_load, "--connections", "50", "-c", "1", "--json", "name.invalid", "7"});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 6);
    CHECK(contains(outcome.errors, "cannot resolve name.invalid"));
    CHECK(contains(outcome.errors, "(50 times)"));
    CHECK(contains(outcome.output, "\"attempts\":50,\"opened\":0,\"failed\":50"));
}

// In a separate network with ten ports, if the system allows one.
TEST_CASE("running out of source ports is reported with their number") {
    if (run({"unshare", "-rn", "sh", "-c", "ip link set lo up"}).status != 0) return;
    const test::Folder folder;
    const std::string script =
        "ip link set lo up; echo '40000 40009' > /proc/sys/net/ipv4/ip_local_port_range; "
        "\"$1\" --port-file \"$2\" 39000 >/dev/null 2>&1 & server=$!; "
        "while [ ! -s \"$2\" ]; do sleep 0.01; done; "
        "\"$0\" --connections 15 -c 100 --json 127.0.0.1 39000; status=$?; "
        "kill $server; exit $status";
    const Outcome outcome = run(
        {"unshare", "-rn", "sh", "-c", script, yodel_load, test::yodeld, folder.path("port")});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 7);
    CHECK(contains(outcome.errors,
                   test::system_counts_source_ports()
                       ? "no ephemeral port is left: the system has 10 for each destination"
                       : "Cannot assign requested address"));
    CHECK(contains(outcome.errors, "(5 times)"));
}

TEST_CASE("a load prints an object each second") {
    Server server;
    const Outcome outcome =
        crowd(server, {"--connections", "3", "--rate", "100", "-m", "2500ms", "--json"});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    const std::string first = "{\"type\":\"interval\",\"t\":1,\"open\":3,\"sent\":";
    const std::string second = "{\"type\":\"interval\",\"t\":2,\"open\":3,\"sent\":";
    CHECK(outcome.output.starts_with(first));
    CHECK(contains(outcome.output, "\n" + second));
    CHECK(contains(outcome.output, "\"rtt_us\":{\"p50\":"));
    CHECK(contains(outcome.output, "\n{\"type\":\"end\","));
}

TEST_CASE("a load shows its progress in a line on a terminal, and then only the summary") {
    test::Tty tty({.arguments = {yodel_load, "--no-tui", "--connections", "3", "-i", "10ms",
                                 "-m", "700ms"}});
    REQUIRE(tty.wait_for([&] { return contains(tty.output(), "3 open, "); }));
    REQUIRE(tty.wait_for(" sent, "));
    CHECK(tty.wait_exit() == 0);
    CHECK(tty.row(0).starts_with("yodel-load: 210 sent, 210 echoed, 0 bad, 0 lost, "));
    CHECK(tty.modes().empty());
}

TEST_CASE("replacements of a load's connections are timed") {
    Server server({"--self-signed", "--tls"});
    const Outcome outcome = crowd(server, {"--connections", "3", "--churn", "5", "-c", "60",
                                           "--tls", "-k", "--json", "-v"});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    const std::uint64_t opened = member(outcome, "opened");
    CHECK(opened >= 12);
    CHECK(contains(outcome.output, "\"failed\":0,\"starved\":0,\"handshakes_full\":3,"));
    CHECK(member(outcome, "handshakes_resumed") == opened - 3);
    CHECK(contains(outcome.output, ",\"connect_us\":{\"min\":"));
    CHECK(contains(outcome.output, "\"handshake_us\":{\"min\":"));
    CHECK(contains(outcome.output, "\"tcp\":{\"min_rtt_us\":") ==
          test::system_measures_network());
    if (test::system_measures_network()) {
        CHECK(member(outcome, "mss") > 500);
        CHECK(member(outcome, "cwnd") > 0);
        CHECK(member(outcome, "retransmits") < 100);
    }
    CHECK(contains(outcome.errors, "yodel-load: connection 3: connected to 127.0.0.1:"));
    CHECK(contains(outcome.errors, "; connect p50/p99/max "));
    CHECK(contains(outcome.errors, " ms, handshake "));
}

TEST_CASE("a load reports a limited number of connections and their ends") {
    Server server({"--close-after", "1", "-f", "line"});
    const Outcome outcome =
        crowd(server, {"--connections", "600", "-c", "1200", "--churn", "2", "-v"});
    CAPTURE(outcome.status);
    std::size_t lines = 0;
    for (std::size_t at = 0;
         (at = outcome.errors.find("yodel-load: connection ", at)) != std::string::npos; ++at)
        ++lines;
    CHECK(lines == 1000);
    CHECK(contains(outcome.errors, "\nyodel-load: more connections are not reported\n"));
    CHECK(contains(outcome.errors, ": the server closed "));
}

TEST_CASE("the results of processes that start together add up to one run") {
    Server server;
    const test::Folder folder;
    const std::string script =
        "at=$(date -u -d '+3 sec' +%Y-%m-%dT%H:%M:%SZ); cd \"$2\"; "
        "for i in 1 2 3 4 5 6 7 8; do "
        "\"$0\" --connections 5 --rate 50 -m 1s --start-at $at --json 127.0.0.1 \"$1\" "
        "> $i.json 2>/dev/null & done; wait; "
        "exec \"$0\" --json --merge [1-8].json --require 'lost=0,sent=400'";
    const Outcome outcome =
        run({"sh", "-c", script, yodel_load, server.port(), folder.path("")});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(member(outcome, "sent") == 400);
    CHECK(member(outcome, "echoed") == 400);
    CHECK(contains(outcome.output, "\"overlap\":0."));
    CHECK(contains(outcome.output, "\"attempts\":40,\"opened\":40,\"failed\":0"));
    CHECK(counted(server, "bytes in") == 400 * 65);
}

TEST_CASE("a load on several threads counts the same as the server") {
    Server server({"--threads", server_threads(GENERATE("1", "2"))});
    const Words schedule = GENERATE(Words{}, Words{"--rate", "20k"}, Words{"--churn", "50"});
    Words options{"--connections", "8", "--threads", "2", "-c", "10000", "--json"};
    options.insert(options.end(), schedule.begin(), schedule.end());
    const Outcome outcome = crowd(server, options);
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(member(outcome, "sent") == 10'000);
    CHECK(member(outcome, "echoed") == 10'000);
    CHECK(counted(server, "bytes in") == 10'000 * 65);
    CHECK(counted(server, "bytes out") == 10'000 * 65);
}

TEST_CASE("a load on several threads counts a server's faults exactly") {
    Server server(
        {"--drop", "0.05", "--dup", "0.05", "--corrupt", "0.05", "--seed", "3", "-f", "line"});
    const Outcome outcome = crowd(
        server, {"--connections", "6", "--threads", "3", "-c", "400", "-W", "300ms", "--json"});
    CAPTURE(outcome.output, outcome.errors);
    const std::uint64_t answered = member(outcome, "echoed") + member(outcome, "bad");
    CHECK(outcome.status == 1);
    CHECK(member(outcome, "sent") == 400);
    CHECK(answered + member(outcome, "lost") == 400);
    CHECK(member(outcome, "lost") > 0);
    CHECK(counted(server, "bytes in") == 400 * 65);
    const std::uint64_t further =
        member(outcome, "unsolicited") + member(outcome, "duplicates");
    CHECK(counted(server, "bytes out") == (answered + further) * 65);
}

TEST_CASE("a load on several threads supports TLS, datagrams, and --busy") {
    const Words way =
        GENERATE(Words{"--tls"}, Words{"-u"}, Words{"--busy"}, Words{"--tls", "--churn", "5"});
    Words command{yodel_load, "--connections", "4", "--threads", "2", "-c", "200"};
    command.insert(command.end(), way.begin(), way.end());
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "200 sent, 200 echoed, 0 bad, 0 lost"));
}

TEST_CASE("an interrupt ends a load on several threads in order, with its summary") {
    Server server;
    test::Process client({yodel_load, "--connections", "4", "--threads", "2", "--json", "-m",
                          "1m", "127.0.0.1", server.port()});
    REQUIRE(client.wait_for_output("\"interval\""));
    client.kill(SIGINT);
    const Outcome outcome{client.wait_exit(), client.output(), client.errors()};
    CHECK(outcome.status == 128 + SIGINT);
    CAPTURE(outcome.output, outcome.errors);
    CHECK(contains(outcome.errors, " bad, 0 lost, "));
    CHECK(contains(outcome.errors, "ended by SIGINT"));
    CHECK(member(outcome, "sent") - member(outcome, "echoed") <= 4);
}

TEST_CASE("too many threads are refused, and nothing is started") {
    struct Row {
        Words options;
        std::string input;
        std::string sentence;
    };
    const Row row = GENERATE(
        Row{{"--connections", "3", "--threads", "4", "-c", "1"},
            "",
            "--threads 4 exceeds the number of connections (--connections 3)"},
        Row{{"--threads", "2", "-c", "1"},
            "",
            "--threads 2 exceeds the number of connections (--connections 1)"},
        Row{{"--connections", "3", "--threads", "2"},
            "hello\n",
            "--threads needs generated messages"},
        Row{{"--threads", "0"}, "", "--threads: \"0\" is not a number from 1 to 1024, or auto"},
        Row{{"--threads", "all"}, "", "--threads: \"all\" is not a number"});
    Words command{yodel_load};
    command.insert(command.end(), row.options.begin(), row.options.end());
    const Outcome outcome = run(command, row.input);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors, row.sentence));
    CHECK(outcome.output.empty());
}

TEST_CASE("with --threads auto a load starts no more threads than it can use") {
    CHECK(run({yodel_load, "--threads", "auto", "-c", "5"}).status == 0);
    const Outcome outcome =
        run({yodel_load, "--connections", "3", "--threads", "auto", "-v"}, "a\n");
    CHECK(outcome.status == 0);
    CHECK(outcome.output.size() == 3 * std::string("1: a\n").size());
}

TEST_CASE("datagrams between several threads on both sides are all counted") {
    Server server({"-u", "--threads", server_threads("2")});
    REQUIRE(server.process().wait_for_output("listening udp"));
    const Outcome outcome =
        crowd(server, {"-u", "--connections", "8", "--threads", "2", "-c", "10000", "--json"});
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(member(outcome, "sent") == 10'000);
    CHECK(member(outcome, "echoed") == 10'000);
    CHECK(counted(server, "datagrams in") == 10'000);
    CHECK(counted(server, "datagrams out") == 10'000);
}
