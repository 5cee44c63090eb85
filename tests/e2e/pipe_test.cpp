// yodel between two pipes, against yodeld and against other people's servers.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <sys/stat.h>

#include <csignal>
#include <filesystem>

using test::Certificates;
using test::contains;
using test::Outcome;
using test::Peer;
using test::run;
using test::Server;
using test::yodel;

namespace {

std::string many_lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
}

// Returns bytes of every kind, the same in each run.
std::string noise(std::size_t count) {
    std::string bytes(count, '\0');
    std::uint32_t state = 1;
    for (char& byte : bytes)
        byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
}

// Runs a client of the server by a shell that redirects its descriptors.
Outcome shell(const Server& server, const std::string& redirection) {
    return run(
        {"sh", "-c", "exec \"$0\" 127.0.0.1 \"$1\" " + redirection, yodel, server.port()},
        "a\n");
}

}  // namespace

TEST_CASE("lines come back from yodeld as they were piped in") {
    Server server;
    const Outcome outcome = run({yodel, "127.0.0.1", server.port()}, "a\nb\n");
    CHECK(outcome.output == "a\nb\n");
    CHECK(
        contains(outcome.errors, "2 sent, 2 echoed, 0 bad, 0 lost; rtt min/p50/p95/p99/max "));
    CHECK(outcome.status == 0);
}

TEST_CASE("a last line without a newline is a message, and comes back without one") {
    Server server;
    const std::string framing = GENERATE("line", "len4", "crlf");
    for (const std::string input : {"a\nb", "b", "a\nb\n"})
        CHECK(run({yodel, "-f", framing, "localhost:" + server.port()}, input).output == input);
}

TEST_CASE("a last line of several messages without a newline comes back without one") {
    Server server;
    const std::string port = server.port();
    CHECK(run({yodel, "--escapes", "127.0.0.1", port}, "a\\nb").output == "a\nb");
    CHECK(run({yodel, "-f", "nul", "127.0.0.1", port}, std::string("a\0b", 3)).output ==
          "a\nb");
}

TEST_CASE("no input is an orderly end") {
    Server server;
    const Outcome outcome = run({yodel, "127.0.0.1", server.port()});
    CHECK(outcome.status == 0);
    CHECK(outcome.output.empty());
}

TEST_CASE("a great many lines keep their order") {
    Server server;
    const std::string lines = many_lines(100'000);
    const Outcome outcome = run({yodel, "--quiet", "127.0.0.1", server.port()}, lines);
    CHECK(outcome.status == 0);
    CHECK(outcome.errors.empty());
    CHECK((outcome.output == lines));
}

TEST_CASE("raw passes every byte both ways") {
    Server server;
    const std::string bytes = noise(20'000'000);
    const Outcome outcome = run({yodel, "-f", "raw", "127.0.0.1", server.port()}, bytes);
    CHECK(outcome.status == 0);
    CHECK((outcome.output == bytes));
}

TEST_CASE("each framing brings back the piped lines") {
    Server server;
    const std::string framing =
        GENERATE("line", "crlf", "nul", "len1", "len2", "len4", "len2le", "len4le");
    CHECK(run({yodel, "-f", framing, "127.0.0.1", server.port()}, "hello\n\nworld\n").output ==
          "hello\n\nworld\n");
}

TEST_CASE("raw passes any number of bytes") {
    const bool tls = GENERATE(false, true);
    Server server(tls ? std::vector<std::string>{"--self-signed"} : std::vector<std::string>{});
    std::vector<std::string> command{yodel, "-f", "raw", "127.0.0.1", server.port()};
    if (tls) command.insert(command.begin() + 1, {"--tls", "-k"});
    const std::string bytes = noise(3'000'000);
    for (const std::size_t size : std::initializer_list<std::size_t>{
             1, 2, 16383, 65535, 65536, 65537, 262'144, 2'718'281}) {
        const Outcome outcome = run(command, bytes.substr(0, size));
        CAPTURE(size, outcome.errors);
        CHECK(outcome.status == 0);
        CHECK((outcome.output == bytes.substr(0, size)));
    }
}

TEST_CASE("slow input is sent as it comes") {
    Server server;
    const std::string framing = GENERATE("line", "raw");
    test::Process client({yodel, "-f", framing, "127.0.0.1", server.port()});
    for (const std::string piece : {"a", "b\n", "c\nd", "\n"}) {
        client.write(piece);
        const bool passed = framing == "raw" || piece.ends_with('\n');
        if (passed) REQUIRE(client.wait_for_output(piece));
    }
    client.close_input();
    CHECK(client.wait_exit() == 0);
    CHECK(client.output() == "ab\nc\nd\n");
}

TEST_CASE("a line longer than a terminal's limit is one message") {
    Server server;
    const std::string line(1'000'000, 'x');
    const Outcome outcome = run({yodel, "127.0.0.1", server.port()}, line + "\n");
    CHECK((outcome.output == line + "\n"));
    CHECK(contains(outcome.errors, "1 sent, 1 echoed"));
}

TEST_CASE("other people's echo servers bring back every line") {
    const std::vector<std::string> command = GENERATE(
        std::vector<std::string>{"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "PIPE"},
        std::vector<std::string>{"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "EXEC:cat"},
        std::vector<std::string>{"ncat", "-l", "-k", "-e", "/bin/cat", "127.0.0.1", "PORT"});
    Peer peer(command);
    const Outcome outcome = run({yodel, "127.0.0.1", peer.port()}, "a\nb\n");
    CAPTURE(command.front(), outcome.errors);
    CHECK(outcome.output == "a\nb\n");
    CHECK(outcome.status == 0);
}

TEST_CASE("a service that answers only at the end of input receives that end") {
    Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "EXEC:sort,pipes"});
    const Outcome outcome = run({yodel, "--expect", "any", "127.0.0.1", peer.port()}, "b\na\n");
    CHECK(outcome.output == "a\nb\n");
    CHECK(outcome.status == 0);
}

TEST_CASE("a server that does not echo is recognized") {
    Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "EXEC:tr l 1,pipes"});
    const Outcome outcome = run({yodel, "127.0.0.1", peer.port()}, "hello\n");
    CHECK(outcome.output == "he11o\n");
    CHECK(contains(outcome.errors, "differs from its message at byte 2"));
    CHECK(contains(outcome.errors, "1 sent, 0 echoed, 1 bad, 0 lost"));
    CHECK(outcome.status == 1);
}

TEST_CASE("a reply that does not come is lost after the reply timeout") {
    Peer peer({"socat", "-u", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "OPEN:/dev/null"});
    const Outcome outcome =
        run({yodel, "-W", "50ms", "-q", "50ms", "127.0.0.1", peer.port()}, "hello\n");
    CHECK(contains(outcome.errors, "1 sent, 0 echoed, 0 bad, 1 lost"));
    CHECK(outcome.status == 1);
}

TEST_CASE("a server that has echoed all and stays open is left gracefully after -q") {
    Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "SYSTEM:head -n 1; sleep 60"});
    const std::string wait = GENERATE("0", "50ms");
    const Outcome outcome = run({yodel, "-q", wait, "127.0.0.1", peer.port()}, "hello\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.output == "hello\n");
    CHECK(outcome.status == 0);
}

TEST_CASE("a peer that stops reading is reported as such") {
    const test::Folder folder;
    const std::string path = folder.path("socket");
    test::Process peer({"python3", "-c",
                        "import socket, sys\n"
                        "listener = socket.socket(socket.AF_UNIX)\n"
                        "listener.bind(sys.argv[1])\n"
                        "listener.listen()\n"
                        "print('up', flush=True)\n"
                        "client = listener.accept()[0]\n"
                        "client.shutdown(socket.SHUT_RD)\n"
                        "client.sendall(b'deaf\\n')\n"
                        "sys.stdin.read()\n",
                        path});
    REQUIRE(peer.wait_for_output("up"));
    test::Process client({yodel, "-U", path});
    REQUIRE(client.wait_for_output("deaf\n"));
    client.write("hello\n");
    CHECK(client.wait_exit() == 56);
    CHECK(contains(client.errors(), "the server closed the connection after 0 of 1 replies"));
}

TEST_CASE("with TLS and a trusted certificate, lines come back") {
    Certificates certificates;
    certificates.issue("good", "DNS:localhost,IP:127.0.0.1");
    Server server(certificates.server_options("good"));
    const std::string host = GENERATE("localhost", "127.0.0.1");
    const Outcome outcome = run(
        {yodel, "--tls", "--cacert", certificates.authority(), host, server.port()}, "a\nb\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.output == "a\nb\n");
    CHECK(outcome.status == 0);
}

TEST_CASE("other people's TLS servers bring back every line") {
    Certificates certificates;
    certificates.issue("good", "DNS:localhost");
    const std::string pem = certificates.file("good.pem");
    const std::string key = certificates.file("good.key");
    const std::vector<std::string> client{yodel, "--tls", "--cacert", certificates.authority()};
    SECTION("ncat") {
        Peer peer({"ncat", "--ssl", "--ssl-cert", pem, "--ssl-key", key, "-l", "-k", "-e",
                   "/bin/cat", "127.0.0.1", "PORT"});
        std::vector<std::string> command = client;
        command.insert(command.end(), {"localhost", peer.port()});
        const Outcome outcome = run(command, "a\nb\n");
        CAPTURE(outcome.errors);
        CHECK(outcome.output == "a\nb\n");
        CHECK(outcome.status == 0);
    }
    SECTION("socat") {
        Peer peer(
            {"socat",
             "OPENSSL-LISTEN:PORT,fork,bind=127.0.0.1,verify=0,cert=" + pem + ",key=" + key,
             "PIPE"});
        std::vector<std::string> command = client;
        command.insert(command.end(), {"localhost", peer.port()});
        const Outcome outcome = run(command, "a\nb\n");
        CAPTURE(outcome.errors);
        CHECK(outcome.output == "a\nb\n");
        CHECK(outcome.status == 0);
    }
    SECTION("openssl s_server -rev") {
        Peer peer({"openssl", "s_server", "-rev", "-quiet", "-accept", "127.0.0.1:PORT",
                   "-cert", pem, "-key", key});
        std::vector<std::string> command = client;
        command.insert(command.end(), {"--expect", "any", "localhost", peer.port()});
        const Outcome outcome = run(command, "abc\n123\n");
        CAPTURE(outcome.errors);
        CHECK(outcome.output == "cba\n321\n");
        CHECK(outcome.status == 0);
    }
}

TEST_CASE("a refused certificate is reported with its reason and its remedy") {
    struct Case {
        const char* name;
        const char* reason;
    };
    const Case each =
        GENERATE(Case{"expired", "expired on 20"},
                 Case{"other", "is for example.org, not for localhost"},
                 Case{"strange", "was sent without the certificate of its issuer "},
                 Case{"self", "is self-signed"});
    Certificates certificates;
    const std::string name = each.name;
    if (name == "expired") certificates.issue(name, "DNS:localhost", -1);
    if (name == "other") certificates.issue(name, "DNS:example.org");
    Certificates strangers;
    if (name == "strange") {
        strangers.issue(name, "DNS:localhost");
        for (const std::string end : {".pem", ".key"})
            std::filesystem::copy(strangers.file(name + end), certificates.file(name + end));
    }
    if (name == "self") certificates.self_sign(name, "DNS:localhost");
    Server server(certificates.server_options(name));
    const std::string port = server.port();

    const Outcome refused =
        run({yodel, "--tls", "--cacert", certificates.authority(), "localhost", port}, "a\n");
    CAPTURE(refused.errors);
    CHECK(refused.status == 60);
    CHECK(refused.output.empty());
    CHECK(contains(refused.errors, "the certificate of localhost " + std::string(each.reason)));

    const std::string remedy =
        name == "strange" ? strangers.authority() : certificates.file(name + ".pem");
    const Outcome trusting =
        run({yodel, "--tls", "--cacert", remedy, "localhost", port}, "a\n");
    CHECK(contains(refused.errors, "--cacert FILE") == (trusting.status == 0));

    const auto at = refused.errors.find("--pinnedpubkey sha256//");
    REQUIRE(at != std::string::npos);
    const std::string pin = refused.errors.substr(at + 15, 52);
    CHECK(run({yodel, "--pinnedpubkey", pin, "tls://localhost:" + port}, "a\n").status == 0);
    CHECK(run({yodel, "-k", "--tls", "localhost", port}, "a\n").status == 0);
    const std::string other_pin = "sha256//" + std::string(43, 'A') + "=";
    CHECK(run({yodel, "-k", "--pinnedpubkey", other_pin, "tls://localhost:" + port}, "a\n")
              .status == 90);
}

TEST_CASE("a key log that can't be written is reported") {
    Certificates certificates;
    certificates.issue("good", "DNS:localhost");
    Server server(certificates.server_options("good"));
    const std::string fifo = certificates.file("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    for (const std::string& log :
         {std::string("/dev/full"), std::string("/nowhere/log"), fifo}) {
        const Outcome outcome = run({"env", "SSLKEYLOGFILE=" + log, yodel, "--tls", "--cacert",
                                     certificates.authority(), "localhost", server.port()},
                                    "a\n");
        CAPTURE(outcome.errors);
        CHECK(outcome.status == 23);
        CHECK(contains(outcome.errors, "key log " + log));
    }
}

TEST_CASE("TLS to a plain port and plain text to a TLS port are both named") {
    Certificates certificates;
    certificates.issue("good", "DNS:localhost");
    Server plain;
    Server tls(certificates.server_options("good"));
    const Outcome to_plain = run({yodel, "--tls", "-k", "localhost", plain.port()}, "a\n");
    CHECK(to_plain.status == 35);
    CHECK(contains(to_plain.errors, "does not speak TLS"));
    for (const std::string line : {"a\n", "hello\n", "GET / HTTP/1.0\n"}) {
        const Outcome to_tls = run({yodel, "localhost", tls.port()}, line);
        CAPTURE(line, to_tls.errors);
        CHECK(to_tls.status == 35);
        CHECK(to_tls.output.empty());
        CHECK(contains(to_tls.errors, "the server speaks TLS; use --tls"));
    }
}

TEST_CASE("a server that demands a client certificate gets it, or the user is asked for one") {
    Certificates certificates;
    certificates.issue("good", "DNS:localhost");
    auto options = certificates.server_options("good");
    options.insert(options.end(), {"--cacert", certificates.authority()});
    Server server(options);
    std::vector<std::string> command{
        yodel, "--tls", "--cacert", certificates.authority(), "localhost", server.port()};
    const Outcome without = run(command, "a\n");
    CHECK(without.status == 58);
    CHECK(contains(without.errors, "requires a client certificate"));
    auto probe = command;
    probe.insert(probe.begin() + 1, "-z");
    CHECK(run(probe).status == 58);
    command.insert(command.end(), {"--cert", certificates.file("good.pem"), "--key",
                                   certificates.file("good.key")});
    CHECK(run(command, "a\n").output == "a\n");
}

TEST_CASE("bad input of each kind is reported with one sentence and its exit status") {
    struct Case {
        std::vector<std::string> arguments;
        int status;
        std::string sentence;
    };
    const std::string refused = std::to_string(test::free_port());
    const Case each = GENERATE_REF(
        Case{{"--nonsense"}, 2, "unknown option --nonsense"},
        Case{{"-j"}, 2, "unknown option -j"},
        Case{{"-P", "work", "h", "1"}, 2, "unknown option -P"},
        Case{{"--telepathy", "h", "1"}, 2, "unknown option --telepathy"},
        Case{{"-w"}, 2, "-w needs an argument"},
        Case{{"-U", ""}, 2, "-U needs a non-empty argument"},
        Case{{"--tls", "--cacert", "", "h", "1"}, 2, "--cacert needs a non-empty argument"},
        Case{{"-f", "raw", "--max-frame", "0", "h", "1"}, 2, "--max-frame 0 allows no"},
        Case{{"--size", "2k", "--max-frame", "1k", "h", "1"},
             2,
             "exceeds the limit of 1024 (--m"},
        Case{{"--tls", "--cacert", "/no/such/file", "h", "1"}, 77, "/no/such/file: No s"},
        Case{{"-w", "soon", "h", "1"}, 2, "is not a duration"},
        Case{{"127.0.0.1", "0"}, 2, "is not a port"},
        Case{{"127.0.0.1", "99999"}, 2, "is not a port"},
        Case{{"127.0.0.1:99999"}, 2, "is not a port"},
        Case{{"127.0.0.1", "-1"}, 2, "unknown option"}, Case{{"nonsense"}, 2, "needs a port"},
        Case{{"http://localhost:80"}, 2, "is not supported"},
        Case{{"::1:7"}, 2, "with a port as [::1]:7"},
        Case{{"a", "1", "b"}, 2, "unexpected argument"},
        Case{{"localhost", "no-such-service"}, 2, "neither a port nor"},
        Case{{":7"}, 2, "a host is missing"},
        Case{{"-f", "morse", "h", "1"}, 2, "is not a framing"},
        Case{{"-k", "h", "1"}, 2, "-k needs --tls"},
        Case{{"--tls", "tcp://h:1"}, 2, "tcp:// cannot be combined with --tls"},
        Case{{"unix:"}, 2, "needs a path"},
        Case{{"--tls", "--cacert", "/no/such/file", "h", "1"}, 77, "/no/such/file"},
        Case{{"--tls", "--cert", "/no/such/file", "h", "1"}, 58, "/no/such/file"},
        Case{{"name.invalid", "7"}, 6, "cannot resolve name.invalid"},
        Case{{"-n", "localhost", "7"}, 2, "-n: \"localhost\" is not a numeric address"},
        Case{{"127.0.0.1", refused}, 7, "Connection refused"},
        Case{{"unix:/no/such/socket"}, 7, "No such file"},
        Case{{"\x1b]0;title\x07", "1"}, 6, "^[]0;title^G"});
    std::vector<std::string> command{yodel};
    command.insert(command.end(), each.arguments.begin(), each.arguments.end());
    const Outcome outcome = run(command, "a\n");
    CAPTURE(each.arguments, outcome.errors);
    CHECK(outcome.status == each.status);
    CHECK(contains(outcome.errors, each.sentence));
    CHECK(outcome.errors.starts_with("yodel: "));
    // A run that reached nobody also prints its summary.
    const bool ran = outcome.status == 6 || outcome.status == 7;
    CHECK(std::count(outcome.errors.begin(), outcome.errors.end(), '\n') == (ran ? 2 : 1));
    CHECK(outcome.errors.ends_with("\nyodel: 0 sent, 0 echoed, 0 bad, 0 lost\n") == ran);
    CHECK(outcome.output.empty());
}

TEST_CASE("a server that hangs in the TLS handshake is given up") {
    Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "EXEC:sleep 60"});
    const Outcome outcome =
        run({yodel, "--tls", "-w", "100ms", "localhost", peer.port()}, "a\n");
    CHECK(outcome.status == 28);
    CHECK(contains(outcome.errors,
                   "within 100ms: still in the TLS handshake with 127.0.0.1:" + peer.port()));
}

TEST_CASE("an idle connection ends with the idle timeout") {
    Server server;
    test::Process client({yodel, "--idle-timeout", "50ms", "127.0.0.1", server.port()});
    CHECK(client.wait_exit() == 28);
    CHECK(contains(client.errors(), "nothing sent or received for 50ms"));
}

TEST_CASE("a limit of 0 means none, in the client and in the server") {
    Server server({"--idle-timeout", "0"});
    const Outcome outcome = run(
        {yodel, "--idle-timeout", "0", "--max-time", "0", "127.0.0.1", server.port()}, "a\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output == "a\n");
}

TEST_CASE("a signal ends the program gracefully, and appears as its end") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    Server server;
    test::Process client({yodel, "127.0.0.1", server.port()});
    client.write("a\n");
    REQUIRE(client.wait_for_output("a\n"));
    client.kill(signal);
    CHECK(client.wait_exit() == 128 + signal);
    CHECK(contains(client.errors(), "1 sent, 1 echoed"));
    CHECK(contains(client.errors(), "yodel: ended by "));
}

TEST_CASE("a reader that goes away ends the program with a sentence") {
    Server server;
    test::Process client({yodel, "127.0.0.1", server.port()});
    client.write("a\n");
    REQUIRE(client.wait_for_output("a\n"));
    client.close_output();
    client.write("b\n");
    CHECK(client.wait_exit() == 23);
    CHECK(contains(client.errors(), "standard output: Broken pipe"));
}

TEST_CASE("hostile bytes reach a pipe unchanged, but no diagnostic") {
    Server server;
    const std::string hostile = "\x1b[2J\x1b]52;c;AAAA\x07\x9b"
                                "31m\n";
    CHECK(run({yodel, "127.0.0.1", server.port()}, hostile).output == hostile);
}

TEST_CASE("json prints one object for the connection, each message and the end") {
    Server server({"-f", "line", "--corrupt", "0.5", "--seed", "3"});
    const std::string tls = GENERATE("", "--tls");
    const Outcome outcome = run({yodel, "--json", "-f", "line", tls.empty() ? "-4" : tls},
                                "hello\n\x1b]0;x\x07\n\n" + many_lines(200));
    const Outcome checked = run({"python3", test::peers + "/check_json.py"}, outcome.output);
    CAPTURE(outcome.output.substr(0, 2000), checked.errors);
    CHECK(checked.output == "203 messages: 203 echoed\n");
    CHECK(outcome.status == 0);
    const Outcome wrong = run({yodel, "--json", "127.0.0.1", server.port()}, many_lines(50));
    const Outcome told = run({"python3", test::peers + "/check_json.py"}, wrong.output);
    CAPTURE(told.errors);
    CHECK(contains(told.output, "50 messages: "));
    CHECK(contains(told.output, " bad"));
    CHECK(wrong.status == 1);
}

TEST_CASE("json reports how long TLS took, even if it was done at once") {
    test::Certificates certificates;
    certificates.issue("good", "DNS:localhost");
    Server server(certificates.server_options("good"));
    for (int i = 0; i < 20; ++i) {
        const Outcome outcome = run({yodel, "--json", "-z", "--tls", "--cacert",
                                     certificates.authority(), "localhost", server.port()});
        REQUIRE(outcome.status == 0);
        REQUIRE(contains(outcome.output, "\"handshake_us\":"));
        REQUIRE_FALSE(contains(outcome.output, "\"handshake_us\":0.000"));
    }
}

TEST_CASE("json reports messages for which no reply is awaited") {
    Server server;
    const Outcome outcome =
        run({yodel, "--json", "--expect", "none", "127.0.0.1", server.port()}, "a\nbc\n");
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    for (const char* const start : {"\"seq\":1,\"sent_bytes\":1,\"planned_us\":",
                                    "\"seq\":2,\"sent_bytes\":2,\"planned_us\":"})
        CHECK(contains(outcome.output, start));
    CHECK(contains(outcome.output, "\"fate\":\"sent\""));
}

TEST_CASE("json reports the end of a connection that was never established") {
    const Outcome refused =
        run({yodel, "--json", "127.0.0.1", std::to_string(test::free_port())}, "a\n");
    CHECK(contains(refused.output, "\"status\":7,\"sent\":0"));
    CHECK(refused.status == 7);
}

TEST_CASE("json reports late and lost replies") {
    Server server({"-f", "line", "--drop", "0.5", "--delay", "60ms"});
    const Outcome outcome =
        run({yodel, "--json", "-W", "20ms", "-q", "200ms", "127.0.0.1", server.port()},
            many_lines(10));
    const Outcome checked = run({"python3", test::peers + "/check_json.py"}, outcome.output);
    CAPTURE(outcome.output, checked.errors);
    CHECK(contains(checked.output, "10 messages: "));
    CHECK(contains(checked.output, " lost"));
}

TEST_CASE("with -x replies are printed in hex") {
    Server server;
    CHECK(run({yodel, "-x", "127.0.0.1", server.port()}, "hi\n").output ==
          "00000000  68 69                                            |hi|\n");
}

TEST_CASE("escapes stand for bytes that are hard to type, and a wrong one is reported") {
    Server server;
    const std::vector<std::string> command{yodel,  "--escapes", "-f",
                                           "len2", "127.0.0.1", server.port()};
    CHECK(run(command, "a\\x00\\tb\\\\\n").output == std::string("a\0\tb\\\n", 6));
    const Outcome wrong = run(command, "a\nb\\q\nc\n");
    CHECK(wrong.output == "a\n");
    CHECK(wrong.status == 1);
    CHECK(contains(wrong.errors, "a backslash must be followed by"));
}

TEST_CASE("a log contains every message with its time, made visible") {
    Server server;
    test::Folder folder;
    const std::string file = folder.path("log");
    run({yodel, "-o", file, "127.0.0.1", server.port()}, "a\x1b\n");
    const std::string log = run({"cat", file}).output;
    CHECK(contains(log, " > a^[\n"));
    CHECK(contains(log, " < a^[\n"));
    CHECK(contains(log, " - connected to 127.0.0.1:"));
    const Outcome none = run({yodel, "-o", "/no/such/log", "127.0.0.1", server.port()}, "a\n");
    CHECK(none.status == 23);
    CHECK(contains(none.errors, "cannot write the transcript /no/such/log: No such file"));
    const Outcome full = run({yodel, "-o", "/dev/full", "127.0.0.1", server.port()}, "a\n");
    CHECK(full.status == 23);
    CHECK(full.output == "a\n");
    CHECK(contains(full.errors, "cannot write the transcript /dev/full: No space left"));
}

TEST_CASE("a probe connects, reports it, and sends nothing") {
    Server server;
    const Outcome up = run({yodel, "-z", "127.0.0.1", server.port()}, "unread\n");
    CHECK(up.status == 0);
    CHECK(up.output.empty());
    CHECK(contains(up.errors, "connected to 127.0.0.1:" + server.port()));
    CHECK(run({yodel, "-z", "127.0.0.1", std::to_string(test::free_port())}).status == 7);
}

TEST_CASE("option --max-time limits a run as a whole") {
    Server server;
    test::Process client({yodel, "-m", "50ms", "127.0.0.1", server.port()});
    CHECK(client.wait_exit() == 28);
    CHECK(contains(client.errors(), "not finished within 50ms (--max-time)"));
    const std::string refused = std::to_string(test::free_port());
    test::Process persistent({yodel, "-m", "50ms", "--retry", "forever", "--retry-delay", "1ms",
                              "127.0.0.1", refused});
    CHECK(persistent.wait_exit() == 28);
}

TEST_CASE("a server that starts late is retried, and then gets all") {
    const std::string port = std::to_string(test::free_port());
    test::Process client(
        {yodel, "--retry", "forever", "--retry-delay", "10ms", "127.0.0.1", port});
    client.write("a\nb\n");
    client.close_input();
    REQUIRE(client.wait_for_errors("retry in "));
    test::Process server({test::yodeld, port});
    CHECK(client.wait_exit() == 0);
    CHECK(client.output() == "a\nb\n");
}

TEST_CASE("option --retry limits the number of tries") {
    const Outcome outcome = run({yodel, "--retry", "2", "--retry-delay", "1ms", "127.0.0.1",
                                 std::to_string(test::free_port())},
                                "a\n");
    CHECK(outcome.status == 7);
    CHECK(contains(outcome.errors, " (3 times)\n"));
    CHECK(std::count(outcome.errors.begin(), outcome.errors.end(), '\n') == 4);
}

TEST_CASE("a reset is no orderly end") {
    Server server({"--reset-after", "1"});
    const Outcome outcome = run({yodel, "127.0.0.1", server.port()}, "abc\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 56);
    CHECK(contains(outcome.errors, "Connection reset"));
}

TEST_CASE("no socket takes the number of a standard descriptor that is closed at the start") {
    Server server;
    CHECK(shell(server, "<&-").status == 0);
    CHECK(contains(shell(server, "<&-").errors, "0 sent"));
    CHECK(contains(shell(server, ">&-").errors, "1 sent, 1 echoed"));
    CHECK(contains(shell(server, ">&-").errors, "standard output: Bad file descriptor"));
    CHECK(shell(server, ">&-").status == 23);
    CHECK(shell(server, "2>&-").output == "a\n");
    CHECK(shell(server, "2>&-").status == 0);
    CHECK(shell(server, "<&- >&- 2>&-").status == 0);
}

TEST_CASE("an unreadable input and a full output end with a sentence and a status") {
    Server server;
    CHECK(shell(server, "</").status == 26);
    CHECK(contains(shell(server, "</").errors, "standard input: Is a directory"));
    CHECK(shell(server, ">/dev/full").status == 23);
    CHECK(contains(shell(server, ">/dev/full").errors, "standard output: No space left"));
    CHECK(shell(server, "2>/dev/full").output == "a\n");
    CHECK(shell(server, "2>/dev/full").status == 0);
}

TEST_CASE("a slow reader gets all of the output") {
    Server server;
    const std::string lines = many_lines(200'000);
    const Outcome outcome =
        run({"sh", "-c", "\"$0\" --quiet 127.0.0.1 \"$1\" | dd bs=64 status=none", yodel,
             server.port()},
            lines);
    CHECK((outcome.output == lines));
}

TEST_CASE("a blocked reader stops the input, and memory stays bounded") {
    Server server;
    const std::string framing = GENERATE("raw", "line");
    test::Process client({yodel, "--quiet", "-f", framing, "127.0.0.1", server.port()});
    const std::size_t size = 32 << 20;  // bytes
    std::string lines(size, 'x');
    for (std::size_t i = 99; i < size; i += 100) lines[i] = '\n';
    lines.back() = '\n';
    client.write(std::move(lines));
    client.close_input();
    REQUIRE(client.write_until_stuck());
    // The system's buffers hold some megabytes.
    CHECK(client.written() < size / 2);
    REQUIRE(client.wait_for_output(size / 2));
#ifndef YODEL_INSTRUMENTED
    CHECK(client.peak_memory() < (16 << 20));
#endif
    CHECK(client.wait_exit() == 0);
    CHECK(client.output().size() == size);
}

TEST_CASE("a blocked reader does not outlast --max-time") {
    Server server;
    const test::Folder folder;
    const Outcome outcome =
        run({"sh", "-c",
             "mkfifo \"$2\"; exec 3<>\"$2\"; "
             "exec \"$0\" -m 300ms -f raw 127.0.0.1 \"$1\" </dev/zero >\"$2\"",
             yodel, server.port(), folder.path("fifo")});
    CHECK(outcome.status == 28);
    CHECK(contains(outcome.errors, "not finished within 300ms (--max-time)"));
}

TEST_CASE("unread output does not prolong the run, and its loss is reported") {
    Server server;
    const test::Folder folder;
    struct Case {
        const char* options;
        const char* lines;  // more than a pipe can hold, but not enough for the client to pause
    };
    const Case each = GENERATE(Case{"", "15000"}, Case{"-f raw", "15000"},
                               Case{"-f len4", "15000"}, Case{"-x", "1200"});
    const Outcome outcome =
        run({"sh", "-c",
             "mkfifo \"$4\"; exec 3<>\"$4\"; seq $3 | \"$0\" $2 -m 1s 127.0.0.1 $1 >\"$4\"",
             yodel, server.port(), each.options, each.lines, folder.path("fifo")});
    CAPTURE(each.options, outcome.errors);
    CHECK(outcome.status == 28);
    CHECK(contains(outcome.errors, "standard output was not read within 1s (--max-time)"));
}

TEST_CASE("help and version go to standard output") {
    const Outcome help = run({yodel, "--help"});
    CHECK(help.status == 0);
    CHECK(contains(help.output, "usage: yodel"));
    CHECK(contains(help.output, "--cacert=FILE"));
    const std::string version = run({yodel, "-V"}).output;
    CHECK(version.starts_with("yodel "));
    CHECK(contains(version, "\nOpenSSL 3."));
    const Outcome full = run({"sh", "-c", "exec \"$0\" -V >/dev/full", yodel});
    CHECK(full.status == 23);
    CHECK(contains(full.errors, "standard output: No space left"));
}

TEST_CASE("a file that standard output goes to cannot be another output") {
    Server server;
    const test::Folder folder;
    const std::string file = folder.path("out");
    const std::string log = GENERATE(true, false) ? file : "/dev/stdout";
    const std::string command =
        yodel + " -c 1 127.0.0.1 " + server.port() + " -o " + log + " >" + file;
    const Outcome outcome = run({"sh", "-c", command});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors, "-o " + log + " is the same file as standard output"));
    CHECK(run({"sh", "-c", test::yodeld + " --port-file /dev/stdout 0 >" + file}).status == 2);
}
