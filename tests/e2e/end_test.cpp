// The end of a connection, as the pipe client reports it: which side ended it, how, and
// whether all messages were answered.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <csignal>

using test::contains;
using test::Outcome;
using test::Peer;
using test::run;
using test::Server;
using test::yodel;
using test::yodel_load;

namespace {

std::vector<std::string> scripted(const std::vector<std::string>& steps) {
    std::vector<std::string> command{"python3", test::peers + "/scripted.py", "PORT"};
    command.insert(command.end(), steps.begin(), steps.end());
    return command;
}

// A client with an input that stays open until the program ends.
struct Open {
    Open(const Peer& peer, std::vector<std::string> options, const std::string& input,
         const std::string& program = yodel)
        : client([&] {
              options.insert(options.begin(), program);
              options.insert(options.end(), {"127.0.0.1", peer.port()});
              return options;
          }()) {
        client.write(input);
    }
    test::Process client;
};

}  // namespace

TEST_CASE("a server that closes before the end of the input ends the run with a sentence") {
    const std::vector<std::string> options = GENERATE(
        std::vector<std::string>{}, std::vector<std::string>{"-f", "raw"},
        std::vector<std::string>{"--expect", "any"}, std::vector<std::string>{"--json"});
    const std::string end = GENERATE("close", "shut");
    Peer peer(scripted({"echo", end, "wait"}));
    Open open(peer, options, "one\n");
    CHECK(open.client.wait_exit() == 56);
    CHECK(contains(open.client.errors(), "the server closed before the end of the input"));
}

TEST_CASE("a server that closes after the end of the input is in order") {
    Peer peer(scripted({"echo", "echo", "close"}));
    const Outcome outcome = run({yodel, "127.0.0.1", peer.port()}, "one\ntwo\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output == "one\ntwo\n");
}

TEST_CASE("a server that does not close is reported by every kind of run") {
    std::vector<std::string> command =
        GENERATE(std::vector<std::string>{yodel}, std::vector<std::string>{yodel, "-c", "1"},
                 std::vector<std::string>{yodel_load});
    Peer peer(scripted({"echo", "stay"}));
    command.insert(command.end(), {"-q", "50ms", "--json", "127.0.0.1", peer.port()});
    const Outcome outcome = run(command, "one\n");
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "the server did not close within 50ms (-q)"));
    CHECK(contains(outcome.output, R"("reason":"the server did not close within 50ms)"));
}

TEST_CASE("a probe does not wait for the server's end") {
    std::vector<std::string> command =
        GENERATE(std::vector<std::string>{yodel}, std::vector<std::string>{yodel_load});
    Peer peer(scripted({"stay"}));
    command.insert(command.end(), {"-z", "127.0.0.1", peer.port()});
    const Outcome outcome = run(command);
    CHECK(outcome.status == 0);
    CHECK_FALSE(contains(outcome.errors, "did not close"));
}

TEST_CASE("with --retry a closed connection is opened again for the rest of the input") {
    Peer peer(scripted({"echo", "close"}));
    Open open(peer, {"--retry", "3", "--retry-delay", "10ms"}, "one\n");
    REQUIRE(open.client.wait_for_output("one\n"));
    REQUIRE(open.client.wait_for_errors("the server closed before the end of the input"));
    open.client.write("two\n");
    REQUIRE(open.client.wait_for_output("two\n"));
    open.client.close_input();
    CHECK(open.client.wait_exit() == 0);
}

TEST_CASE("a run of generated messages reports at once that the server has closed") {
    Peer peer(scripted({"echo", "close"}));
    const Outcome outcome =
        run({yodel, "-c", "1000", "-i", "20ms", "-W", "15s", "127.0.0.1", peer.port()});
    CAPTURE(outcome.output);
    CHECK(outcome.status == 56);
    CHECK(contains(outcome.errors, "the server closed before the end of the run"));
}

TEST_CASE("a greeting is no reply") {
    Server server({"--banner", "hello\\n"});
    const Outcome outcome = run({yodel, "127.0.0.1", server.port()}, "one\ntwo\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output == "hello\none\ntwo\n");
    CHECK(contains(outcome.errors, "2 sent, 2 echoed, 0 bad, 0 lost, 1 unsolicited"));
}

TEST_CASE("a greeting is no reply, even if the reply is slow") {
    Server server({"--banner", "hello\\n", "--delay", "800ms"});
    const Outcome piped = run({yodel, "127.0.0.1", server.port()}, "one\n");
    CHECK(piped.output == "hello\none\n");
    CHECK(contains(piped.errors, "1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited"));
    const Outcome made_up = run({yodel, "-c", "1", "-i", "0", "127.0.0.1", server.port()});
    CHECK(contains(made_up.errors, "1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited"));
}

TEST_CASE("the wait for the server's end counts from the end of the input") {
    const std::string expect = GENERATE("none", "any");
    Peer peer(scripted({"talk:tick\\n"}));
    const Outcome outcome =
        run({yodel, "--expect", expect, "-q", "200ms", "127.0.0.1", peer.port()});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.output, "tick\n"));
}

TEST_CASE("a server that floods a slow reader is left in time") {
    const bool answers = GENERATE(true, false);
    const std::string flood = "flood:" + std::string(99, 'x') + "\\n";
    Peer peer(answers ? scripted({"echo", flood}) : scripted({flood}));
    const std::string input = answers ? "echo" : "yes";  // "yes" is never read
    test::Process client(
        {"sh", "-c",
         "$1 | \"$0\" -f raw --expect none -W 200ms -q 200ms 127.0.0.1 \"$2\" | "
         "dd bs=4k status=none",
         yodel, input, peer.port()});
    REQUIRE(client.wait_for_output(1 << 20));
    REQUIRE(client.wait_for_errors(answers ? "1 sent" : "the server has stopped reading"));
}

TEST_CASE("a server that reads nothing is given up after the reply timeout", "[slow]") {
    const std::string framing = GENERATE("line", "raw", "len4le");
    const std::string expect = GENERATE("echo", "none");
    Server server({"--no-read"});
    test::Process client({"sh", "-c",
                          "yes \"$4\" | \"$0\" -f \"$1\" --expect \"$2\" -W 200ms -q 200ms "
                          "127.0.0.1 \"$3\"",
                          yodel, framing, expect, server.port(), std::string(100, 'x')});
    CHECK(client.wait_exit() == 28);
    CHECK(contains(client.errors(), "the server has stopped reading"));
}

TEST_CASE("a close by the server is noticed by the next write and by the next read alike") {
    const std::string end = GENERATE("close", "reset");
    Peer peer({"python3", "-c",
               "import socket, struct, sys\n"
               "listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
               "while True:\n"
               "    client = listener.accept()[0]\n"
               "    client.sendall(client.recv(65536))\n"
               "    hard = struct.pack('ii', 1, 0)\n"
               "    if sys.argv[2] == 'reset':\n"
               "        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, hard)\n"
               "    client.close()\n",
               "PORT", end});
    const Outcome outcome =
        run({yodel, "-c", "100000", "-i", "0", "--quiet", "127.0.0.1", peer.port()});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 56);
}

TEST_CASE("a generated run does not wait for each window of a server that answers nothing") {
    Peer peer(scripted({"wait"}));
    const Outcome outcome = run({yodel, "-c", "3000", "-i", "0", "-W", "300ms", "-m", "12s",
                                 "--quiet", "127.0.0.1", peer.port()});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 1);
}

TEST_CASE("messages due while too many bytes await replies are unsent") {
    Peer peer({"socat", "-u", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "OPEN:/dev/null"});
    test::Process client({yodel, "-c", "400", "-i", "1ms", "--size", "64k", "-W", "1s", "-q",
                          "1s", "--json", "127.0.0.1", peer.port()});
    REQUIRE(client.wait_for_output("\"seq\":400,"));
#ifndef YODEL_INSTRUMENTED
    CHECK(client.peak_memory() < (24 << 20));
#endif
    CHECK(client.wait_exit() == 1);
    const auto count = [&](const std::string& name) {
        const std::string end =
            client.output().substr(client.output().rfind("\"type\":\"end\""));
        return std::stoi(end.substr(end.find("\"" + name + "\":") + name.size() + 3));
    };
    CHECK(count("echoed") == 0);
    CHECK(count("unsent") > 0);
    CHECK(count("lost") == count("sent"));
    CHECK(count("sent") + count("unsent") == 400);
}

TEST_CASE("a run of generated messages ends even if the server reads nothing") {
    Server server({"--no-read"});
    const Outcome outcome = run({yodel, "-c", "200", "-i", "0", "--size", "1M", "-W", "300ms",
                                 "--quiet", "127.0.0.1", server.port()});
    CHECK(outcome.status == 28);
    CHECK(contains(outcome.errors, "the server has stopped reading"));
}

TEST_CASE("with --expect any, a missing reply costs one reply timeout") {
    Peer peer(scripted({"line", "rest"}));
    const Outcome outcome = run(
        {yodel, "--expect", "any", "--window", "1", "-W", "300ms", "127.0.0.1", peer.port()},
        "a\nb\nc\nd\n");
    CHECK(outcome.status == 1);
    CHECK(outcome.output == "b\nc\nd\n");
    CHECK(contains(outcome.errors, "4 sent, 3 answered, 0 bad, 1 lost"));
}

TEST_CASE("an end inside a message is a truncation with any --expect") {
    const std::string expect = GENERATE("none", "any", "echo");
    Peer peer(scripted({"echo", "send:half", "close"}));
    const Outcome outcome = run({yodel, "--expect", expect, "127.0.0.1", peer.port()}, "one\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 56);
    CHECK(contains(outcome.errors, "the server closed inside a message, after 4 bytes"));
}

TEST_CASE("a length prefix that looks like a TLS alert is a length") {
    Server server({"-f", "len4le"});
    const std::string line(0x315, 'x');  // the prefix is 15 03 00 00
    const Outcome outcome =
        run({yodel, "-f", "len4le", "127.0.0.1", server.port()}, line + "\n");
    CHECK(outcome.status == 0);
    CHECK(outcome.output == line + "\n");
    Peer peer(scripted({"send:\\x15\\x03\\x00\\x00" + line, "wait"}));
    const Outcome any =
        run({yodel, "-f", "len4le", "--expect", "any", "127.0.0.1", peer.port()}, "a\n");
    CAPTURE(any.errors);
    CHECK(any.output == line + "\n");
}

TEST_CASE("raw with --expect any reports the size of each reply") {
    Peer peer(scripted({"line", "send:longer than that", "close"}));
    const Outcome outcome =
        run({yodel, "-f", "raw", "--expect", "any", "--json", "127.0.0.1", peer.port()}, "x\n");
    CHECK(contains(outcome.output, "\"sent_bytes\":2,\"received_bytes\":16"));
}

TEST_CASE("caret with --expect any prints each reply") {
    Peer peer({"python3", test::peers + "/scripted.py", "PORT", "send:*", "send:xyz", "wait"});
    const Outcome outcome =
        run({yodel, "-f", "caret", "--expect", "any", "127.0.0.1", peer.port()}, "abc\n");
    CHECK(outcome.output == "xyz\n");
}

TEST_CASE("the first wrong reply is reported with the option that accepts it") {
    Peer peer(scripted({"line", "send:HTTP/1.1 400 Bad Request\\r\\n", "close"}));
    const Outcome outcome = run({yodel, "127.0.0.1", peer.port()}, "GET / HTTP/1.0\n");
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "differs from its message at byte 0 (G, got H); if the "
                                   "service does not echo, use --expect any"));
}

TEST_CASE("each broken reply is reported with its sentence and its status") {
    struct Broken {
        const char* framing;
        std::vector<std::string> steps;  // after the message "hello" has come
        const char* sentence;
        int status;
    };
    const auto broken = GENERATE(values<Broken>({
        {"len4le",
         {"send:\\0\\0\\0\\x05hello", "wait"},
         "the length prefix reads 83886080; as big-endian it is 5: use -f len4",
         56},
        {"len2",
         {"send:\\x05\\0hello", "wait"},
         "the reply differs at byte 5; 5 of 1280 bytes received; the length prefix reads 1280; "
         "as "
         "little-endian it is 5: use -f len2le\n",
         56},
        {"len4",
         {"send:hello", "wait"},
         "the length prefix reads 1751477356, the text \"hell\"; is the length prefix missing?",
         56},
        {"len4",
         {"send:\\0\\0\\0\\x09hello", "close"},
         "after 5 of 9 bytes; the length prefix reads 9; does it include its own 4 bytes?",
         56},
        {"len4",
         {"send:\\0\\0\\0\\x05he", "wait"},
         "no reply to message 1 within 200ms; 2 of 5 bytes received\n",
         56},
        {"len4", {"wait"}, "no reply to message 1 within 200ms\n", 1},
        {"line",
         {"send:hello", "wait"},
         "within 200ms; 5 of 5 bytes received, without a newline\n",
         56},
        {"line",
         {"send:helloworld", "wait"},
         "message 1: the reply differs at byte 5; 10 bytes received\n",
         56},
        {"crlf",
         {"send:he", "wait"},
         "within 200ms; 2 of 5 bytes received, without CRLF\n",
         56},
        {"line", {"close"}, "the server closed the connection after 0 of 1 replies", 56},
        {"line", {"send:hello\\r\\n", "wait"}, "if lines end with CRLF, use -C", 1},
        {"line", {"send:hello\\nhello\\n", "wait"}, "the server sent a duplicate reply\n", 1},
        {"line",
         {"send:hello\\nworld\\n", "wait"},
         "\"world\" followed a right reply and answers no message\n",
         1},
        {"len4",
         {"send:\\0\\0\\0\\x05hello\\0\\0\\0\\x02ab", "wait"},
         "\"ab\" followed a right reply and answers no message\n",
         1},
        {"line", {"send:hi\\nhello\\n", "wait"}, "1 sent, 1 echoed, 0 bad, 0 lost, 1 uns", 0},
        {"line", {"send:hel", "reset"}, "reset inside message 1, after 3 bytes\n", 56},
        {"raw",
         {"send:+PO", "wait"},
         "the reply differs at byte 0; 3 of 6 bytes received; if the service does not echo",
         1},
        {"caret", {"send:*i", "close"}, "the server closed inside a message, after 1 byte", 56},
    }));
    std::vector<std::string> steps = broken.steps;
    steps.insert(steps.begin(), "some");
    Peer peer(scripted(steps));
    const Outcome outcome =
        run({yodel, "-W", "200ms", "-f", broken.framing, "127.0.0.1", peer.port()}, "hello\n");
    CAPTURE(broken.framing, broken.steps, outcome.errors);
    CHECK(contains(outcome.errors, broken.sentence));
    CHECK(outcome.status == broken.status);
}

TEST_CASE("late bytes behind a right reply are a fault, unless a requirement decides") {
    const auto [second, require, status] = GENERATE(table<const char*, const char*, int>(
        {{"one", "lost=0", 1}, {"two", "lost=0", 1}, {"two", "unsolicited<2", 0}}));
    Peer peer(scripted({"echo", std::string("send:") + second + "\\n", "wait"}));
    Open open(peer, {"-v", "--require", require}, "one\n", yodel_load);
    REQUIRE(open.client.wait_for_output(std::string("1: one\n1: ") + second + "\n"));
    open.client.close_input();
    CHECK(open.client.wait_exit() == status);
}

TEST_CASE("unsent input is not reported as the server's fault") {
    Peer peer(scripted({"wait"}));
    const Outcome outcome = run({yodel, "-c", "3", "-i", "10ms", "--size", "20M", "-W", "300ms",
                                 "127.0.0.1", peer.port()});
    CAPTURE(outcome.errors);
    CHECK(contains(outcome.errors, "not sent: 20971521 bytes waited for the server (2 times)"));
    CHECK(contains(outcome.errors, "1 sent, 0 echoed, 0 bad, 1 lost, 2 unsent"));
    CHECK(outcome.status == 1);
}

TEST_CASE("the status that json reports is the exit status") {
    Peer peer(scripted({"rest"}));
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    Open open(peer, {"--json"}, "one\n");
    REQUIRE(open.client.wait_for_output("echoed"));
    open.client.kill(signal);
    CHECK(open.client.wait_exit() == 128 + signal);
    CHECK(contains(open.client.output(), "\"status\":" + std::to_string(128 + signal)));
}

TEST_CASE("a connection ended by a signal or a limit sends close_notify") {
    const auto [signal, option, limit, status] =
        GENERATE(table<int, const char*, const char*, int>({
            {0, "-m", "1s", 28},
            {0, "--idle-timeout", "500ms", 28},
            {SIGINT, "-m", "1h", 128 + SIGINT},
            {SIGTERM, "-m", "1h", 128 + SIGTERM},
            {SIGHUP, "-m", "1h", 128 + SIGHUP},
        }));
    Server server({"--self-signed", "-v"});
    test::Process client({yodel, option, limit, "-k", "--tls", "127.0.0.1", server.port()});
    client.write("a\n");
    REQUIRE(client.wait_for_output("a\n"));
    if (signal != 0) client.kill(signal);
    CHECK(client.wait_exit() == status);
    REQUIRE(server.process().wait_for_errors("closed, 2 bytes in"));
    CHECK_FALSE(contains(server.process().errors(), "close_notify"));
}
