// yodel with datagrams, as its users see it.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>

using test::contains;
using test::Outcome;
using test::Process;
using test::run;
using test::yodel;
using test::yodel_load;
using test::yodeld;

namespace {

// A datagram server that prints its port as the last word of its first line.
class Echo {
public:
    explicit Echo(const std::vector<std::string>& command) : process_(command) {
        if (!process_.wait_for_output("\n")) throw std::runtime_error(process_.errors());
        const std::string line = process_.output().substr(0, process_.output().find('\n'));
        port_ = line.substr(line.find_last_of(": ") + 1);
    }
    std::string port() const { return port_; }
    // Ends the server, and returns its final output.
    std::string last_words() {
        process_.kill(SIGTERM);
        process_.wait_exit();
        return process_.output().substr(process_.output().find('\n') + 1);
    }

private:
    Process process_;
    std::string port_;
};

std::string lines(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) text += std::to_string(i) + "\n";
    return text;
}

}  // namespace

TEST_CASE("piped lines come back, one datagram each") {
    const std::string input = GENERATE(std::string("a\n"), std::string("\n\na"), lines(3000),
                                       std::string(65507, 'x') + "\n");
    Echo server({yodeld, "-u", "127.0.0.1:0"});
    const Outcome outcome = run({yodel, "udp://127.0.0.1:" + server.port()}, input);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK((outcome.output == input));
    CHECK(contains(outcome.errors, " 0 bad, 0 lost, 0 duplicate, 0 reordered; rtt "));
    CHECK(contains(outcome.errors, "; jitter ") == !contains(outcome.errors, "1 sent, "));
}

TEST_CASE("without a target yodel runs a datagram server inside, in both families") {
    const std::string family = GENERATE("-4", "-6");
    const Outcome outcome = run({yodel, "-u", family}, "same\nsame\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.output == "same\nsame\n");
    CHECK(outcome.status == 0);
    std::string many;
    for (int i = 0; i < 300; ++i) many += "same\n";
    CHECK(run({yodel, "-u", family}, many).output == many);
}

TEST_CASE("the datagram server inside needs one descriptor for all connections") {
    const Outcome outcome =
        run({"sh", "-c", "ulimit -n 100; exec \"$0\" -u --connections 70 -c 70", yodel_load});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
}

TEST_CASE("other people's datagram servers are understood") {
    Process server({"socat", "-dd", "UDP4-RECVFROM:0,bind=127.0.0.1,fork", "EXEC:cat"});
    REQUIRE(server.wait_for_errors("AF=2 127.0.0.1:"));
    const std::size_t at = server.errors().find("127.0.0.1:") + 10;
    const std::string port =
        server.errors().substr(at, server.errors().find_first_not_of("0123456789", at) - at);
    if (port == "0") return;  // this socat does not print its port
    const Outcome outcome = run({yodel, "-u", "127.0.0.1", port}, "hello\n");
    CHECK(outcome.output == "hello\n");
}

TEST_CASE("bad, lost, duplicate and reordered are counted as the peer planned them", "[slow]") {
    const std::string seed = GENERATE("1", "2", "3");
    std::vector<std::string> command =
        GENERATE(std::vector<std::string>{yodel, "-i", "500us", "--quiet"},
                 std::vector<std::string>{yodel_load, "--connections", "5", "--rate", "2k"},
                 std::vector<std::string>{yodel_load, "--connections", "3", "--window", "4"});
    Echo peer(
        {"python3", test::peers + "/udp_planned.py", seed, "0.02", "0.03", "0.05", "0.04"});
    const std::string target = "udp://127.0.0.1:" + peer.port();
    command.insert(command.end(), {"-c", "400", "-W", "500ms", target});
    const Outcome outcome = run(command);
    const std::string plan = peer.last_words();
    CAPTURE(command, outcome.errors, plan);
    CHECK(outcome.status == (plan.starts_with("0 bad, 0 lost") ? 0 : 1));
    const std::string expected = plan.substr(0, plan.find('\n'));
    CHECK(contains(outcome.errors, " echoed, " + expected));
}

TEST_CASE("datagrams are counted alike in lines, in objects, and by --require") {
    Echo server({yodeld, "-u", "--dup", "1", "127.0.0.1:0"});
    const std::string target = "udp://127.0.0.1:" + server.port();
    const Outcome told = run({yodel, "-c", "3", "-i", "1ms", target});
    CHECK(contains(told.output, "64 bytes, seq 3, "));
    CHECK(contains(told.output, "64 bytes, duplicate\n"));
    CHECK(contains(told.errors, "3 sent, 3 echoed, 0 bad, 0 lost, 3 duplicate, 0 reordered"));
    const Outcome required =
        run({yodel_load, "-c", "3", "-i", "1ms", "--require", "duplicates=0", target});
    CHECK(required.status == 1);
    CHECK(contains(required.errors, "required duplicates=0, was 3"));
    const Outcome json = run({yodel, "--json", "-c", "3", "-i", "1ms", target});
    CHECK(contains(json.output, "\"fate\":\"duplicate\""));
    CHECK(contains(json.output, "\"duplicates\":3,\"reordered\":0,\"jitter_us\":"));
    Echo swapper({yodeld, "-u", "--reorder", "1", "127.0.0.1:0"});
    const Outcome swapped =
        run({yodel, "--json", "-i", "0", "udp://127.0.0.1:" + swapper.port(), "-c", "2"});
    CHECK(contains(swapped.output, "\"fate\":\"echoed\""));
}

TEST_CASE("duplicates, replies reordered, and the jitter are shown during a load", "[slow]") {
    Echo server({yodeld, "-u", "--dup", "100%", "127.0.0.1:0"});
    const std::string target = "udp://127.0.0.1:" + server.port();
    const std::string threads = GENERATE("1", "2");
    const std::vector<std::string> crowd = {yodel_load, "--connections", "2",   "--threads",
                                            threads,    "--rate",        "200", "-m",
                                            "1500ms",   target};
    SECTION("in a line") {
        std::vector<std::string> command = crowd;
        command.insert(command.begin() + 1, "--no-tui");
        test::Tty tty({.arguments = command, .size = {24, 120}});
        REQUIRE(tty.wait_for([&] {
            return contains(tty.output(), " duplicate, 0 reordered, p50 ") &&
                   contains(tty.output(), " ms, jitter ");
        }));
        CHECK(tty.wait_exit() == 0);
    }
    SECTION("on a page") {
        test::Tty tty({.arguments = crowd, .size = {24, 120}});
        REQUIRE(tty.wait_for([&] {
            return contains(tty.output(), " duplicate, 0 reordered") &&
                   contains(tty.output(), "jitter ");
        }));
        CHECK(tty.wait_exit() == 0);
    }
    SECTION("in objects") {
        std::vector<std::string> command = crowd;
        command.emplace_back("--json");
        const Outcome outcome = run(command);
        CAPTURE(outcome.output);
        const std::string interval = outcome.output.substr(0, outcome.output.find('\n'));
        CHECK(contains(interval, "\"interval\""));
        CHECK(!contains(interval, "\"duplicates\":0"));
        CHECK(contains(interval, ",\"reordered\":0,\"jitter_us\":"));
    }
}

TEST_CASE("a reply that comes after the reply timeout is late and not lost") {
    Echo server({yodeld, "-u", "--delay", "300ms", "127.0.0.1:0"});
    const Outcome outcome = run(
        {yodel, "-c", "5", "-i", "100ms", "-W", "100ms", "udp://127.0.0.1:" + server.port()});
    CAPTURE(outcome.errors);
    // The last ones are lost, because nothing awaits them any more.
    CHECK(contains(outcome.errors, " late, 0 duplicate"));
    CHECK(contains(outcome.output, ", late\n"));
    CHECK(contains(outcome.output, "no reply, seq 1\n"));
}

TEST_CASE("a damaged reply is wrong, and matched with its message") {
    Echo server({yodeld, "-u", "--corrupt", "1", "--seed", "3", "127.0.0.1:0"});
    const std::string target = "udp://127.0.0.1:" + server.port();
    const Outcome piped = run({yodel, target}, "hello\n");
    CHECK(piped.status == 1);
    CHECK(contains(piped.errors, "1 sent, 0 echoed, 1 bad, 0 lost, 0 duplicate"));
}

TEST_CASE("a conversation with duplicate replies is replayed with the same replies") {
    const std::string pace = GENERATE("--fast", "-v");
    Echo server({yodeld, "-u", "--dup", "100%", "127.0.0.1:0"});
    const std::string target = "udp://127.0.0.1:" + server.port();
    const test::Folder folder;
    const std::string file = folder.path("r.json");
    std::ofstream(file) << run({yodel, "--json", "--payload", target}, lines(9)).output;
    const Outcome outcome = run({yodel, "--replay", file, pace, target});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "9 replayed, 9 matched, 0 different, 0 lost"));
}

TEST_CASE("a port without a server is reported as a refused connection") {
    const std::string port = std::to_string(test::free_port());
    const Outcome outcome = run({yodel, "-u", "127.0.0.1", port}, "a\n");
    CHECK(outcome.status == 7);
    CHECK(contains(outcome.errors,
                   "yodel: cannot connect to 127.0.0.1:" + port + ": Connection refused\n"));
    CHECK(contains(outcome.errors, "1 sent, 0 echoed, 0 bad, 1 lost"));
}

// In a separate network with ten ports, if the system allows one.
TEST_CASE("running out of source ports for datagrams is reported, also with -s") {
    if (run({"unshare", "-rn", "sh", "-c", "ip link set lo up"}).status != 0) return;
    const std::string source = GENERATE("", "-s 127.0.0.1");
    const test::Folder folder;
    const std::string script =
        "ip link set lo up; echo '40000 40009' > /proc/sys/net/ipv4/ip_local_port_range; "
        "\"$1\" -u --port-file \"$2\" 39000 >/dev/null 2>&1 & server=$!; "
        "while [ ! -s \"$2\" ]; do sleep 0.01; done; "
        "\"$0\" -u --connections 15 -c 100 $3 127.0.0.1 39000; status=$?; "
        "kill $server; exit $status";
    const Outcome outcome = run({"unshare", "-rn", "sh", "-c", script, yodel_load, yodeld,
                                 folder.path("port"), source});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 7);
    if (!test::system_counts_source_ports()) return;
    CHECK(contains(outcome.errors,
                   "no ephemeral port is left: the system has 10 for each destination"));
    CHECK(contains(outcome.errors, "(5 times)"));
}

TEST_CASE("options that datagrams don't support are refused in one sentence") {
    const auto [arguments, status,
                sentence] = GENERATE(table<std::vector<std::string>, int, std::string>({
        {{"-u", "-z", "h", "7"}, 2, "-z cannot be combined with -u"},
        {{"-u", "--tls", "h", "7"}, 2, "--tls cannot be combined with -u"},
        {{"-u", "-k", "h", "7"}, 2, "-k cannot be combined with -u"},
        {{"-u", "tls://h:7"}, 2, "tls:// cannot be combined with -u"},
        {{"-u", "tcp://h:7"}, 2, "tcp:// cannot be combined with -u"},
        {{"-u", "-f", "line", "h", "7"}, 2, "-f cannot be combined with -u: each datagram is"},
        {{"-C", "udp://h:7"}, 2, "-C cannot be combined with udp://: each datagram is"},
        {{"-u", "-U", "/tmp/path"}, 2, "-U cannot be combined with -u"},
        {{"-u", "-c", "1", "--size", "65508"}, 2, "--size 65508 does not fit into a datagra"},
        {{"-u", "127.255.255.255", "7"}, 7, "broadcast and multicast addresses are not sup"},
        {{"-u", "-4", "224.0.0.1", "7"}, 7, "broadcast and multicast addresses are not sup"},
    }));
    std::vector<std::string> command{yodel};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == status);
    CHECK(contains(outcome.errors, sentence));
}

TEST_CASE(
    "option -f raw is accepted, and a datagram that is too long is refused before it is sent") {
    CHECK(run({yodel, "-u", "-f", "raw"}, "a\n").output == "a\n");
    const Outcome outcome = run({yodel, "-u"}, "a\n" + std::string(65508, 'x') + "\n");
    CHECK(outcome.status == 1);
    CHECK(outcome.output == "a\n");
    CHECK(contains(outcome.errors, "a message of 65508 bytes does not fit into a datagram"));
    CHECK(contains(outcome.errors, "1 sent, 1 echoed"));
}

TEST_CASE("the screen supports datagrams, and shows duplicates") {
    Echo server({yodeld, "-u", "--dup", "1", "127.0.0.1:0"});
    test::Tty tty(
        {.arguments = {yodel, "udp://127.0.0.1:" + server.port()}, .size = {24, 110}});
    REQUIRE(tty.wait_for("○ ready 00:"));
    REQUIRE(
        tty.wait_for("sending to udp://127.0.0.1:" + server.port() + "; only a reply shows"));
    REQUIRE(tty.wait_for("udp://127.0.0.1:" + server.port()));
    tty.send("hello\r");
    REQUIRE(tty.wait_for("hello ✓"));
    REQUIRE(tty.wait_for("● up 00:"));
    REQUIRE(tty.wait_for("hello - a duplicate reply"));
    REQUIRE(tty.wait_for("1 duplicate"));
    tty.send("\x1bs");
    REQUIRE(tty.wait_for("jitter"));
    tty.send("\x1bi");
    REQUIRE(tty.wait_for("took        look-up"));
    CHECK_FALSE(contains(tty.screen(), "TCP"));
    tty.send("\x03\x03\x03");
    CHECK(tty.wait_exit() == 0);
}

TEST_CASE("on the screen, a port without a server is refused, and tried again") {
    const std::string port = std::to_string(test::free_port());
    test::Tty tty({.arguments = {yodel, "udp://127.0.0.1:" + port}});
    REQUIRE(tty.wait_for("ready 00:"));
    tty.send("hello\r");
    REQUIRE(tty.wait_for("Connection refused"));
    REQUIRE(tty.wait_for("○ refused; send to try again"));
    CHECK_FALSE(contains(tty.screen(), "connected to"));
    tty.send("\x04");
    CHECK(tty.wait_exit() == 7);
    CHECK(contains(tty.screen(),
                   "yodel: cannot connect to 127.0.0.1:" + port + ": Connection refused"));
}
