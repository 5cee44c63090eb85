// yodeld with datagrams, as its users and its abusers see it.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <csignal>

using test::contains;
using test::contents;
using test::Outcome;
using test::Process;
using test::run;
using test::yodel;
using test::yodel_load;
using test::yodeld;

namespace {

std::string port_of(const std::string& line) {
    return line.substr(line.rfind(':') + 1,
                       line.find('\n', line.rfind(':')) - line.rfind(':') - 1);
}

}  // namespace

TEST_CASE("yodeld -u answers connections and datagrams on the same port, in both families") {
    const bool v6 = GENERATE(false, true);
    const test::Folder folder;
    const std::string file = folder.path("ports");
    Process server({yodeld, "-u", "--port-file", file, v6 ? "[::1]:0" : "127.0.0.1:0"});
    REQUIRE(server.wait_for_output("listening udp "));
    REQUIRE(server.wait_for_output(v6 ? "udp [::1]:" : "udp 127.0.0.1:"));
    const std::string port = port_of(server.output());
    CHECK(server.output().starts_with(v6 ? "listening [::1]:" + port + "\n"
                                         : "listening 127.0.0.1:" + port + "\n"));
    const std::string host = v6 ? "::1" : "127.0.0.1";
    CHECK(run({yodel, host, port}, "a\n").output == "a\n");
    const std::string to = v6 ? "UDP6:[::1]:" + port : "UDP:127.0.0.1:" + port;
    CHECK(run({"socat", "-t0.5", "-", to}, "datagram").output == "datagram");
    CHECK(contents(file) == port + "\n");
    server.kill(SIGTERM);
    CHECK(server.wait_exit() == 0);
}

TEST_CASE("yodeld -u reports and counts its datagrams in JSON") {
    Process server({yodeld, "-u", "--json", "-v", "127.0.0.1:0"});
    REQUIRE(server.wait_for_output("\"protocol\":\"udp\"}\n"));
    const std::string& lines = server.output();
    const std::string key = "\"port\":";
    const std::size_t begin = lines.find(key) + key.size();
    const std::string port = lines.substr(begin, lines.find_first_of(",}", begin) - begin);
    run({"socat", "-t0.5", "-", "UDP:127.0.0.1:" + port + ",shut-none"}, "hello");
    REQUIRE(server.wait_for_errors("\"text\":\"datagram of 5 bytes: hello\"}"));
    server.kill(SIGUSR1);
    CHECK(server.wait_for_errors("\"datagrams_in\":1,\"datagrams_out\":1,"
                                 "\"datagrams_unanswered\":0,\"datagrams_dropped\":0,"
                                 "\"datagram_bytes_in\":5,\"datagram_bytes_out\":5}\n"));
}

TEST_CASE("options that exclude datagrams are refused in one sentence") {
    const auto [options, sentence] = GENERATE(table<std::vector<std::string>, std::string>({
        {{"-u", "--self-signed", "0"}, "--self-signed cannot be combined with -u"},
        {{"-u", "--chunk", "5", "0"}, "--chunk cannot be combined with -u"},
        {{"-u", "--banner", "x", "0"}, "--banner cannot be combined with -u"},
        {{"-u", "-U", "/tmp/none"}, "-u needs a port"},
        {{"-u", "--cert", "f", "0"}, "--cert cannot be combined with -u"},
        {{"-u", "224.0.0.1:0"}, "-u cannot listen on the broadcast or multicast address"},
        {{"-u", "127.255.255.255:0"}, "multicast address 127.255.255.255"},
        {{"--reorder", "10%", "0"}, "--reorder needs -u"},
        {{"--reflect-any", "0"}, "--reflect-any needs -u"},
    }));
    std::vector<std::string> command{yodeld};
    command.insert(command.end(), options.begin(), options.end());
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors, sentence));
}

TEST_CASE("a datagram port in use is reported in one sentence") {
    Process first({yodeld, "-u", "127.0.0.1:0"});
    REQUIRE(first.wait_for_output("listening udp "));
    const std::string port = port_of(first.output());
    const Outcome outcome = run({yodeld, "-u", "127.0.0.1:" + port});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "cannot listen on udp 127.0.0.1:" + port + ": Address"));
}

TEST_CASE("a forged sender can't make the server answer others, itself, or for ever") {
    const std::vector<std::string> alone{"unshare", "--user", "--map-root-user", "--net"};
    std::vector<std::string> command = alone;
    command.push_back("true");
    if (run(command).status != 0) {
        WARN("skipped: a network namespace of one's own is not allowed here");
        return;
    }
    const std::string threads = test::server_threads(GENERATE("1", "3"));
    // The system delivers a broadcast datagram to each thread, and none answers it.
    const bool told = test::system_tells_target();
    const std::string to_all = told ? threads + " in, 0 out, " + threads + " unanswered\n"
                                    : "1 in, 1 out, 0 unanswered\n";
    const std::string route = told ? "127.0.0.9" : "127.0.0.1";
    command = alone;
    command.insert(command.end(),
                   {"python3", test::peers + "/udp_forger.py", yodeld, "--threads", threads});
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output == "an ordinary sender: 1 in, 1 out, 0 unanswered\n"
                            "a privileged port: 1 in, 0 out, 1 unanswered\n"
                            "itself: 1 in, 0 out, 1 unanswered\n"
                            "itself, by its other port: 1 in, 0 out, 1 unanswered\n"
                            "a broadcast sender: 1 in, 0 out, 0 unanswered\n"
                            "a broadcast target: " +
                                to_all +
                                "a privileged port, reflected: 1 in, 1 out, 0 unanswered\n"
                                "asked at 127.0.0.9, answered by " +
                                route +
                                "\n"
                                "two servers: stopped and reported once\n"
                                "two servers, reflecting: going on\n");
}

// The system queues the datagrams that come while the server is stopped, and then delivers all
// at once.
TEST_CASE("a burst of datagrams takes bounded memory") {
    Process server({yodeld, "-u", "--delay", "1ms~1ms", "--reorder", "2%", "127.0.0.1:0"});
    REQUIRE(server.wait_for_output("listening udp "));
    const std::string port = port_of(server.output().substr(server.output().find("udp")));
    const std::string target = "udp://127.0.0.1:" + port;
    for (int i = 0; i < 3; ++i) {
        server.kill(SIGSTOP);
        run({yodel_load, "--connections", "10", "--size", "60000", "-c", "200", "--window", "4",
             "-W", "50ms", target});
        server.kill(SIGCONT);
        run({yodel, "-c", "1", target});
    }
    if (test::measures_memory()) CHECK(server.peak_memory() < 48 << 20);
}
