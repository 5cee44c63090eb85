// yodel as a WebSocket client: of yodeld, of servers that break the protocol, and of servers
// made with two libraries.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using test::Certificates;
using test::contains;
using test::Outcome;
using test::Peer;
using test::Process;
using test::run;
using test::Server;
using test::Tty;
using test::yodel;
using test::yodel_load;
using test::yodeld;

namespace {

using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// yodeld --ws, plain or with TLS.
class Echo {
public:
    explicit Echo(bool tls, const Words& options = {})
        : server_(Words{"--ws"} + options + Words(tls ? 1 : 0, "--self-signed")),
          target_((tls ? "wss://127.0.0.1:" : "ws://127.0.0.1:") + server_.port()),
          trust_(tls ? 1 : 0, "-k") {}
    // Return a client with its options and target.
    Words client(const Words& options = {}) const {
        return Words{yodel} + options + trust_ + Words{target_};
    }
    Words load(const Words& options) const {
        return Words{yodel_load} + options + trust_ + Words{target_};
    }

private:
    Server server_;
    std::string target_;
    Words trust_;
};

Words steps(const Words& words) {
    return Words{"python3", test::peers + "/websocket_server_steps.py", "PORT"} + words;
}

std::string url(const Peer& peer, const std::string& rest = "") {
    return "ws://127.0.0.1:" + peer.port() + rest;
}

constexpr std::size_t megabyte = 1024 * 1024;

// Lines of all kinds, with the frames that they become.
const std::string lines =
    "hello\n\nh\xc3\xbc\n\xff\xfe\nb\xc3\n" + std::string(megabyte, 'x') + "\n";
const std::string frames = "text hello\ntext \ntext h\xc3\xbc\nbinary fffe\nbinary 62c3\n"
                           "text of 1048576 bytes\n";

}  // namespace

TEST_CASE("each line is a WebSocket message, text if it is UTF-8") {
    Peer peer(steps({"open", "rest"}));
    const Outcome outcome = run({yodel, "--quiet", url(peer)}, lines);
    CHECK(outcome.errors.empty());
    CHECK(outcome.output == lines);
    CHECK(outcome.status == 0);
    REQUIRE(peer.process().wait_for_output("close"));
    CHECK(peer.process().output() == frames + "close 1000\n");
}

TEST_CASE("lines come back over WebSocket and TLS from a server that is known") {
    const bool pinned = GENERATE(false, true);
    Certificates certificates;
    certificates.issue("server", "IP:127.0.0.1");
    Server server(Words{"--ws"} +
                  (pinned ? Words{"--self-signed"} : certificates.server_options("server")));
    Words trust{"--cacert", certificates.authority()};
    if (pinned) {
        REQUIRE(server.process().wait_for_output("sha256//"));
        REQUIRE(server.process().wait_for_output("=\n"));
        const std::string& told = server.process().output();
        const auto at = told.find("sha256//");
        trust = {"--pinnedpubkey", told.substr(at, told.find('\n', at) - at)};
    }
    const std::string target = "wss://127.0.0.1:" + server.port();
    const Outcome outcome = run(Words{yodel, "--quiet"} + trust + Words{target}, lines);
    CHECK(outcome.errors.empty());
    CHECK(outcome.output == lines);
    CHECK(outcome.status == 0);
    CHECK(run({yodel, target}, "a\n").status == 60);  // no option trusts it
}

TEST_CASE("the times of the WebSocket handshake are reported, with TLS included") {
    const bool tls = GENERATE(false, true);
    const Echo echo(tls);
    const std::string name = tls ? ", TLS and WebSocket " : ", WebSocket ";
    CHECK(contains(run(echo.client({"-v"}), "a\n").errors, name));
    CHECK(contains(run(echo.client({"--json"}), "a\n").output, ",\"handshake_us\":"));
    const Outcome opened = run(echo.load({"-z", "--connections", "3", "-m", "100ms"}));
    CHECK(contains(opened.errors, "3 connections opened, 0 failed"));
    CHECK(contains(opened.errors, ", handshake "));
}

TEST_CASE("loads run over WebSocket") {
    const bool tls = GENERATE(false, true);
    const Words options =
        GENERATE(Words{}, Words{"--connections", "3"},
                 Words{"--connections", "4", "--threads", "2"}, Words{"--rate", "3k"},
                 Words{"--connections", "2", "--churn", "50"}, Words{"--warm-up", "10ms"},
                 Words{"--size", "0"}, Words{"--size", "100k", "--connections", "2"});
    const Echo echo(tls);
    const Outcome outcome = run(echo.load(Words{"-c", "300"} + options));
    CAPTURE(tls, options, outcome.errors);
    CHECK(contains(outcome.errors, "yodel-load: 300 sent, 300 echoed, 0 bad, 0 lost"));
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "; warm-up: ") == (options == Words{"--warm-up", "10ms"}));
}

TEST_CASE("connections without messages run over WebSocket") {
    const auto [options, part] = GENERATE(table<Words, std::string>({
        {{"--connections", "5", "-m", "1s"}, "5 connections opened, 0 failed"},
        {{"--connections", "2", "--churn", "0s", "-m", "200ms"},
         " connections opened, 0 failed"},
        {{"--connections", "5", "--connect-rate", "100", "-m", "200ms"},
         " connections opened, 0 failed"},
    }));
    const Echo echo(GENERATE(false, true));
    const Outcome outcome = run(echo.load(Words{"-z"} + options));
    CAPTURE(options, outcome.errors);
    CHECK(contains(outcome.errors, part));
    CHECK(outcome.status == 0);
}

TEST_CASE("requirements are judged over WebSocket") {
    const auto [options, status, part] = GENERATE(table<Words, int, std::string>({
        {{"--require", "p99<100s,lost=0"}, 0, "yodel-load: 10 sent"},
        {{"--require", "p99<1us"}, 1, "p99<1us"},
        {{"--match", "bcdef"}, 0, "yodel-load: 10 sent, 10 answered"},
        {{"--expect", "any"}, 0, "yodel-load: 10 sent, 10 answered"},
    }));
    const Echo echo(false);
    const Outcome outcome = run(echo.load(Words{"-c", "10"} + options));
    CAPTURE(options, outcome.errors);
    CHECK(outcome.status == status);
    CHECK(contains(outcome.errors, part));
}

TEST_CASE("replies over WebSocket are matched and shown as those over TCP") {
    const auto [options, output, status] = GENERATE(table<Words, std::string, int>({
        {{"--expect", "any"}, "abc\n\xff\n", 0},
        {{"--match", "^(a.c|\xff)$"}, "abc\n\xff\n", 0},
        {{"--match", "^x"}, "abc\n\xff\n", 1},
        {{"-x"},
         "00000000  61 62 63                                         |abc|\n"
         "00000000  ff                                               |.|\n",
         0},
    }));
    const Echo echo(false);
    const Outcome outcome = run(echo.client(options), "abc\n\xff\n");
    CAPTURE(options, outcome.errors);
    CHECK(outcome.output == output);
    CHECK(outcome.status == status);
}

TEST_CASE("a WebSocket conversation is recorded, replayed and merged") {
    const Echo echo(GENERATE(false, true));
    test::Folder folder;
    const std::string first = folder.path("1.json");
    const std::string second = folder.path("2.json");
    for (const std::string& file : {first, second}) {
        const Outcome outcome = run(echo.client({"--json", "--payload"}), lines);
        REQUIRE(outcome.status == 0);
        std::ofstream(file) << outcome.output;
    }
    const Outcome again = run(echo.client({"--replay", first}));
    CHECK(contains(again.errors, "6 replayed, 6 matched, 0 different, 0 lost"));
    CHECK(again.status == 0);
    const Outcome merged = run({yodel_load, "--merge", first, second});
    CHECK(contains(merged.output, "12 sent, 12 echoed, 0 bad, 0 lost"));
    CHECK(merged.status == 0);
}

TEST_CASE("a recording is replayed only over the protocol that it was made with") {
    const Echo echo(false);
    Server tcp;
    test::Folder folder;
    const std::string file = folder.path("r.json");
    const Words plain{yodel, "127.0.0.1", tcp.port()};
    const bool websocket = GENERATE(false, true);
    std::ofstream(file) << run((websocket ? echo.client() : plain) +
                                   Words{"--json", "--payload"},
                               "a\n")
                               .output;
    const Outcome outcome = run((websocket ? plain : echo.client()) + Words{"--replay", file});
    const std::string hint = " (yodel -h shows the options)\n";
    CHECK(outcome.errors ==
          "yodel: " + file +
              (websocket ? " was recorded with WebSocket (ws:// or wss://), not with -f line"
                         : " was recorded with -f line, not with WebSocket (ws:// or wss://)") +
              hint);
    CHECK(outcome.status == 2);
}

TEST_CASE("a server that opens no WebSocket is reported in one sentence") {
    struct Case {
        Words steps;
        int status;
        std::string sentence;
    };
    const std::string invalid = "the server's upgrade is invalid: ";
    const Case each = GENERATE_COPY(
        Case{{"send:HTTP/1.1 404 Not Found\\r\\nX: y\\r\\n\\r\\nno such page"},
             7,
             "the server refused the upgrade: 404 Not Found"},
        Case{{"send:HTTP/1.1 301 Moved\\r\\nLocation: ws://h/x\\r\\n\\r\\n"},
             7,
             "the server refused the upgrade: 301 Moved, to ws://h/x"},
        Case{{"send:HTTP/1.1 101\\r\\n\\r\\n"}, 7, invalid + "it does not switch to WebSocket"},
        Case{{"send:+OK hello\\r\\n"},
             7,
             "the server does not speak HTTP, which WebSocket needs"},
        Case{{"send:HTTP/1.1 OK\\r\\n\\r\\n"}, 7, "the server's response is not HTTP"},
        Case{{"send:HTTP/1.1 200 OK\\r\\nX: ", "send:20000*x"},
             7,
             "the server's response exceeds 16384 bytes"},
        Case{{"send:HTTP/1.1 101 Yes\\r\\nUpgr", "shut"},
             7,
             "the server closed the connection during the WebSocket handshake"},
        Case{{"shut"}, 7, "the server closed the connection during the WebSocket handshake"},
        Case{{"reset"}, 7, "WebSocket handshake: Connection reset by peer"},
        Case{{"send:\\x15\\x03\\x01\\0\\2\\2\\x46"}, 35, "the server speaks TLS; use wss://"});
    const bool resets = each.steps[0] == "reset";
    Peer peer(steps(Words{"request"} + each.steps + Words(resets ? 0 : 1, "end")));
    const Outcome outcome = run({yodel, "--quiet", url(peer)}, "a\n");
    CAPTURE(each.steps);
    CHECK(outcome.errors == "yodel: " + each.sentence + "\n");
    CHECK(outcome.output.empty());
    CHECK(outcome.status == each.status);
    if (!resets) CHECK(peer.process().wait_for_output("ended\n"));
}

TEST_CASE("an upgrade to something else is reported in one sentence") {
    const auto [field, why] = GENERATE(table<std::string, std::string>({
        {"Upgrade: h2c", "it does not switch to WebSocket"},
        {"Connection: close", "it does not switch to WebSocket"},
        {"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
         "Sec-WebSocket-Accept does not match the key"},
        {"Sec-WebSocket-Extensions: permessage-deflate",
         "it selects an extension that was not offered"},
        {"Sec-WebSocket-Protocol: chat", "it selects a subprotocol that was not offered"},
    }));
    Peer peer(steps({"open:" + field, "end"}));
    const Outcome outcome = run({yodel, "--quiet", "--subprotocol", "other", url(peer)}, "a\n");
    CHECK(outcome.errors == "yodel: the server's upgrade is invalid: " + why + "\n");
    CHECK(outcome.status == 7);
}

TEST_CASE("an upgrade that does not come in time is reported") {
    const bool begun = GENERATE(false, true);
    Peer peer(steps({"request", begun ? "send:HTTP/1.1 101 Y" : "send:", "end"}));
    const Outcome outcome = run({yodel, "--quiet", "-w", "500ms", url(peer)}, "a\n");
    CAPTURE(outcome.errors);
    CHECK(contains(outcome.errors, "within 500ms"));
    CHECK(outcome.status == 28);
}

TEST_CASE("a server that breaks or leaves a WebSocket is reported in one sentence") {
    struct Case {
        Words steps;           // after two messages have arrived
        std::string sentence;  // none: it is no failure
        std::string seen;      // by the server
    };
    const std::string broken = "the server violated the WebSocket protocol: ";
    const std::string closed = "the server closed the connection after 0 of 2 replies ";
    const Words replies{"frame:81:a", "frame:81:b"};
    const Case each = GENERATE_COPY(
        Case{{"frame:88:\\x03\\xe8"}, closed + "(1000 normal closure)", "close 1000"},
        Case{{"frame:88:\\x03\\xe9bye"}, closed + "(1001 going away: bye)", "close 1001"},
        Case{{"frame:88:"}, closed + "(no status)", "close without a code"},
        Case{{"frame:88:\\x03\\xf3oops"},
             "the server closed with 1011 internal error: oops",
             "close 1011"},
        Case{{"frame:88:\\x0f\\xa1"},
             "the server closed with 4001 application code",
             "close 4001"},
        Case{{"masked:81:a"}, broken + "a frame is masked", "close 1002"},
        Case{{"frame:c1:a"}, broken + "a reserved bit is set", "close 1002"},
        Case{{"frame:83:a"}, broken + "an unknown opcode", "close 1002"},
        Case{{"frame:80:a"}, broken + "a continuation without a message", "close 1002"},
        Case{{"frame:01:a", "frame:81:b"},
             broken + "a message inside another one",
             "close 1002"},
        Case{{"frame:09:a"}, broken + "a control frame is fragmented", "close 1002"},
        Case{{"frame:89:126*a"}, broken + "a control frame is too long", "close 1002"},
        Case{{"frame:81:\\xff"}, broken + "a text message is not UTF-8", "close 1007"},
        Case{{"frame:01:\\xc3", "frame:80:a"},
             broken + "a text message is not UTF-8",
             "close 1007"},
        Case{{"frame:88:\\x03"}, broken + "a close code is truncated", "close 1002"},
        Case{{"frame:88:\\x03\\xed"}, broken + "invalid close code 1005", "close 1002"},
        Case{{"frame:88:\\x03\\xe8\\xff"},
             broken + "the reason of a close frame is not UTF-8",
             "close 1007"},
        Case{{"frame:82:2001*x"},
             "a message of 2001 bytes or more exceeds the limit of 2000 (--max-frame)",
             "close 1009"},
        Case{{"send:\\x81\\1", "shut"},
             "the server ended the connection inside a message without a close frame",
             ""},
        Case{{"frame:01:a", "shut"},
             "the server ended the connection inside a message without a close frame",
             ""},
        Case{{"shut"}, "the server ended the connection without a close frame", ""},
        Case{{"reset"}, "receiving: Connection reset by peer", ""},
        Case{replies + Words{"read", "shut"},
             "the server ended the connection without a close frame", "close 1000"},
        Case{replies + Words{"frame:88:\\x0f\\xa1no"},
             "the server closed with 4001 application code: no", "close "},
        Case{replies + Words{"frame:88:\\x03\\xe8"}, "", "close 1000"},
        Case{replies + Words{"frame:88:\\x03\\xe9"}, "", "close 100"},
        Case{replies + Words{"rest"}, "", "close 1000"},
        Case{{"frame:01:a", "frame:89:pp", "read", "frame:80:", "frame:82:b", "rest"},
             "",
             "pong 7070\n"},
        Case{{"frame:8a:unasked", "frame:01:", "frame:00:a", "frame:80:", "frame:02:b",
              "frame:80:", "rest"},
             "",
             "close 1000"});
    const bool resets = each.steps[0] == "reset";
    Peer peer(steps(Words{"open", "read", "read"} + each.steps + Words(resets ? 0 : 1, "end")));
    const Outcome outcome = run({yodel, "--quiet", "--max-frame", "2000", url(peer)}, "a\nb\n");
    CAPTURE(each.steps, outcome.output);
    CHECK(outcome.errors == (each.sentence.empty() ? "" : "yodel: " + each.sentence + "\n"));
    CHECK(outcome.status == (each.sentence.empty() ? 0 : 56));
    CHECK(peer.process().wait_for_output(resets ? "text b\n" : "ended\n"));
    CHECK(contains(peer.process().output(), "text a\ntext b\n" + each.seen));
}

// The peer sends them in the packet of its response, and so before it knows any message.
TEST_CASE("messages that come with the upgrade answer nothing") {
    const std::string greeting = GENERATE("welcome", "9000*w");
    const Words options = GENERATE(Words{}, Words{"--expect", "any"});
    Peer peer(steps({"open with 81:" + greeting, "rest"}));
    const Outcome outcome = run(Words{yodel, "--json"} + options + Words{url(peer)}, "a\nb\n");
    CHECK(contains(outcome.output, "\"echoed\":2,"));
    CHECK(contains(outcome.output, "\"unsolicited\":1,"));
    CHECK(outcome.status == 0);
}

TEST_CASE("interim responses before the upgrade are skipped") {
    Peer peer(steps({"request", "send:HTTP/1.1 103 Early Hints\\r\\nLink: </a>\\r\\n\\r\\n",
                     "accept", "rest"}));
    const Outcome outcome = run({yodel, "--quiet", url(peer)}, "a\n");
    CHECK(outcome.errors.empty());
    CHECK(outcome.output == "a\n");
    CHECK(outcome.status == 0);
}

// The input stays open, so that the close frame has to end the run.
TEST_CASE("a close frame ends a run without replies, and is answered") {
    const auto [code, sentence, seen] = GENERATE(table<std::string, std::string, std::string>({
        {"\\x03\\xe8", "1000 normal closure", "close 1000"},
        {"", "no status", "close without a code"},
    }));
    Peer peer(steps({"open", "read", "frame:88:" + code, "end"}));
    Process client({yodel, "--quiet", "--expect", "none", url(peer)});
    client.write("a\n");
    CHECK(client.wait_exit() == 56);
    CHECK(client.errors() ==
          "yodel: the server closed before the end of the input (" + sentence + ")\n");
    CHECK(peer.process().wait_for_output("text a\n" + seen + "\nended\n"));
}

TEST_CASE("without replies too, a WebSocket must be closed by a close frame") {
    Peer peer(steps({"open", "read", "read", "shut"}));
    const Outcome outcome = run({yodel, "--quiet", "--expect", "none", url(peer)}, "a\n");
    CHECK(outcome.errors == "yodel: the server ended the connection without a close frame\n");
    CHECK(outcome.status == 56);
}

TEST_CASE("servers made with libraries return all WebSocket messages") {
    const auto [program, file, probe] = GENERATE(table<std::string, std::string, std::string>({
        {"/usr/bin/python3", "websockets_server.py", "/usr/bin/python3 -c 'import websockets'"},
        {"node", "ws_server.js", "node -e \"require('/usr/share/nodejs/ws')\""},
    }));
    const bool tls = GENERATE(false, true);
    if (run({"sh", "-c", probe}).status != 0) {
        WARN("skipped: there is no library for " << file << " (python3-websockets, node-ws)");
        return;
    }
    Certificates certificates;
    certificates.issue("server", "IP:127.0.0.1");
    Words words{program, test::peers + "/" + file, "PORT"};
    if (tls)
        words = words + Words{certificates.file("server.pem"), certificates.file("server.key")};
    Peer peer(words);
    const std::string target = (tls ? "wss" : "ws") + url(peer, "/chat?room=1").substr(2);
    Words client{yodel,           "--quiet",
                 "--header",      "Origin: https://example.com",
                 "--header",      "Authorization: Bearer x",
                 "--subprotocol", "first",
                 "--subprotocol", "second"};
    if (tls) client = client + Words{"--cacert", certificates.authority()};
    const Outcome outcome = run(client + Words{target}, lines);
    CAPTURE(file, tls, peer.process().errors());
    CHECK(outcome.errors.empty());
    CHECK(outcome.output == lines);
    CHECK(outcome.status == 0);
    REQUIRE(peer.process().wait_for_output("closed"));
    CHECK(peer.process().output() ==
          "path /chat?room=1\nOrigin https://example.com\nAuthorization Bearer x\n"
          "subprotocol second\ntext 5\ntext 0\ntext 2\nbinary 2\nbinary 2\ntext 1048576\n"
          "closed 1000\n");
}

TEST_CASE("a WebSocket on the screen shows its handshake, and is opened again") {
    auto server = std::make_unique<Server>(Words{"--ws"});
    const std::string port = server->port();
    Tty tty({.arguments = {yodel, "--header", "Origin: https://example.com",
                           "ws://127.0.0.1:" + port + "/chat"},
             .size = {50, 100}});
    REQUIRE(tty.wait_for("up 00:"));
    CHECK(tty.wait_for("ws://127.0.0.1:" + port));
    tty.send("hello\r");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    tty.send("\x1bi");
    CHECK(tty.wait_for("target      ws://127.0.0.1:" + port + "/chat"));
    for (const char* text :
         {"WebSocket request", "GET /chat HTTP/1.1", "Origin: https://example.com",
          "WebSocket response", "HTTP/1.1 101 Switching Protocols"})
        CHECK(tty.wait_for(text));
    tty.send("\r");
    server->process().kill(SIGTERM);
    REQUIRE(tty.wait_for("the server closed the connection"));
    server.reset();
    REQUIRE(tty.wait_for("refused; retry "));
    tty.send("later\r");
    REQUIRE(tty.wait_for("1 queued"));
    test::Process again({yodeld, "--ws", port});
    REQUIRE(tty.wait_for("‹ later ✓"));
    tty.send("\x04");
    CHECK(tty.wait_exit() == 0);
}
