// yodeld --ws and peers of many kinds: right and wrong ones of our own, and two libraries.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

using test::contains;
using test::Outcome;
using test::Process;
using test::run;
using test::Server;

namespace {

using Words = std::vector<std::string>;

const std::string system_python = "/usr/bin/python3";  // sees the packages of the system
const std::string upgraded = "HTTP/1.1 101 Switching Protocols\n";
const std::string closing = "frame:88:\\x03\\xe8";  // a close frame with the code 1000

Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Words client(const Server& server, const Words& steps) {
    return Words{"python3", test::peers + "/websocket_steps.py", server.port()} + steps;
}

Outcome talk(const Server& server, const Words& steps) { return run(client(server, steps)); }

// Ends the server, and returns what it logged.
std::string log_of(Server& server) {
    server.process().kill(SIGTERM);
    CHECK(server.process().wait_exit() == 0);
    return server.process().errors();
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

// Returns the start of a command of a client made with a library; empty if it is not installed.
Words library_client(const std::string& library) {
    const Words python{system_python, test::peers + "/websockets_client.py"};
    const Words node{"node", test::peers + "/ws_client.js"};
    const Words& command = library == "websockets" ? python : node;
    const std::string probe = library == "websockets"
                                  ? system_python + " -c 'import websockets'"
                                  : "node -e \"require('/usr/share/nodejs/ws')\"";
    return run({"sh", "-c", probe}).status == 0 ? command : Words{};
}

constexpr std::size_t megabyte = 1024 * 1024;

}  // namespace

TEST_CASE("WebSocket messages come back as they are, with the close code") {
    const Words options = GENERATE(Words{}, Words{"--delay", "1ms"}, Words{"--chunk", "1"},
                                   Words{"--threads", test::server_threads("2")},
                                   Words{"--self-signed"}, Words{"--max-buffer", "5"});
    const bool tls = options == Words{"--self-signed"};
    Server server(Words{"--ws"} + options);
    const Words steps{"open",           "frame:89:pp",    "read:1",
                      "frame:01:\\xc3", "frame:89:",      "read:1",
                      "frame:80:\\xbc", "frame:81:hello", "frame:82:\\xff\\0",
                      "frame:81:",      "frame:82:",      "frame:81:200*\\xc3\\xbc"};
    const Outcome outcome =
        talk(server, Words(tls ? 1 : 0, "tls") + steps + Words{"frame:88:\\x03\\xe9", "end"});
    CAPTURE(options, outcome.output, outcome.errors);
    CHECK(outcome.output == upgraded +
                                "pong 7070\npong \ntext ü\ntext hello\nbinary ff00\ntext \n"
                                "binary \ntext of 400 bytes\nclose 1001\nended\n");
    CHECK(log_of(server).empty());
}

TEST_CASE("a request that opens no WebSocket is refused with a reason") {
    struct Case {
        std::string step;
        std::string response;
    };
    const std::string no_request = "400 Bad Request: the request is not a GET of HTTP/1.1\n";
    const Case each = GENERATE_COPY(
        Case{"request:Upgrade: h2c", "426 Upgrade Required: this is a WebSocket echo server\n"},
        Case{"request:Connection: close",
             "426 Upgrade Required: this is a WebSocket echo server\n"},
        Case{"request:Sec-WebSocket-Version: 8",
             "426 Upgrade Required: the WebSocket version is not 13\n"},
        Case{"request:Sec-WebSocket-Key: short",
             "400 Bad Request: Sec-WebSocket-Key is invalid\n"},
        Case{"request:Connection: \x01", no_request}, Case{"send:hello\\n", no_request},
        Case{"send:POST / HTTP/1.1\\r\\n", no_request},
        Case{"send:GET / HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n", no_request},
        Case{"send:GET /20000*x",
             "431 Request Header Fields Too Large: the request's header exceeds 16 KiB\n"});
    Server server({"--ws"});
    const bool sends = each.step.starts_with("send");
    Words steps{each.step};
    if (contains(each.step, "20000*")) steps = {"send:GET /", "send:20000*x"};
    const Outcome outcome =
        talk(server, steps + Words(sends ? 1 : 0, "response") + Words{"end"});
    CAPTURE(outcome.errors);
    CHECK(outcome.output == "HTTP/1.1 " + each.response + "ended\n");
    const std::string reason = each.response.substr(each.response.find(": ") + 2);
    CHECK(contains(log_of(server), ": refused: " + reason));
}

TEST_CASE("a WebSocket client that breaks the protocol gets a code, and earlier replies") {
    const auto [step, code, logged] = GENERATE(table<std::string, std::string, std::string>({
        {"bare:81:b", "1002", "a frame is not masked"},
        {"frame:c1:b", "1002", "a reserved bit is set"},
        {"frame:83:b", "1002", "an unknown opcode"},
        {"frame:80:b", "1002", "a continuation without a message"},
        {"frame:09:b", "1002", "a control frame is fragmented"},
        {"frame:89:126*b", "1002", "a control frame is too long"},
        {"frame:81:\\xff", "1007", "a text message is not UTF-8"},
        {"frame:81:\\xe2\\x82", "1007", "a text message is not UTF-8"},
        {"frame:82:2001*x", "1009",
         ": a message of 2001 bytes or more exceeds the limit of "
         "2000 (--max-frame)"},
        {"frame:88:\\x03", "1002", "a close code is truncated"},
        {"frame:88:\\x03\\xed", "1002", "invalid close code 1005"},
        {"frame:88:\\x03\\xe8\\xff", "1007", "the reason of a close frame is not UTF-8"},
        {"frame:88:\\x0f\\xa0bye", "4000",
         ": the client closed with 4000 application code: bye"},
    }));
    Server server({"--ws", "--max-frame", "2000"});
    const Outcome outcome = talk(server, {"open", "frame:81:a", step, "end"});
    CAPTURE(step, outcome.errors);
    CHECK(outcome.output == upgraded + "text a\nclose " + code + "\nended\n");
    const std::string log = log_of(server);
    CHECK(contains(log, logged.starts_with(": ")
                            ? logged
                            : ": the client violated the WebSocket protocol: " + logged));
    CHECK(count(log, "\n") == 1);
}

// The client sends all before it reads, so that a reset would reach it first.
TEST_CASE("a WebSocket client that is still sending a long message gets the code 1009") {
    Server server({"--ws", "--max-frame", "2000"});
    const Outcome outcome =
        talk(server, {"open", "frame:81:a", "frame:82:8000000*x", "frame:82:x", "end"});
    CHECK(outcome.output == upgraded + "text a\nclose 1009\nended\n");
}

TEST_CASE("a WebSocket client that vanishes is logged in one sentence") {
    const auto [steps, logged] = GENERATE(table<Words, std::string>({
        {{"open", "leave"}, "the client ended the connection without a close frame"},
        {{"open", "frame:01:a", "leave"},
         "the client ended the connection inside a message without a close frame"},
        {{"open", "reset"}, "receiving: Connection reset by peer"},
        {{"send:GET / HT", "leave"},
         "the client closed the connection during the WebSocket handshake"},
        {{"send:\\x16\\x03\\x01\\0\\5hello", "response", "leave"},
         "refused: the client speaks TLS, and this port does not"},
    }));
    Server server({"--ws"});
    talk(server, steps);
    CHECK(server.process().wait_for_errors(logged));
}

TEST_CASE("time limits of WebSocket connections") {
    const auto [options, steps, output, logged] =
        GENERATE(table<Words, Words, std::string, std::string>({
            {{"--idle-timeout"},
             {"open", "end"},
             upgraded + "close 1000\nended\n",
             "idle for 50ms"},
            {{"--handshake-timeout"},
             {"send:GET / HT", "end"},
             "ended\n",
             "no WebSocket handshake within 50ms"},
            {{"--self-signed", "--handshake-timeout"},
             {"tls", "send:GET / HT", "end"},
             "ended\n",
             "no WebSocket handshake within 50ms"},
            {{"--self-signed", "--handshake-timeout"},
             {"end"},
             "ended\n",
             "no TLS handshake within 50ms"},
        }));
    Server server(Words{"--ws"} + options + Words{"50ms"});
    const Outcome outcome = talk(server, steps);
    CAPTURE(options, outcome.errors);
    CHECK(outcome.output == output);
    CHECK(contains(log_of(server), ": " + logged + "\n"));
}

TEST_CASE("faults act on WebSocket messages") {
    const auto [options, output] = GENERATE(table<Words, std::string>({
        {{"--drop", "1"}, "close 1000\n"},
        {{"--dup", "1"}, "text a\ntext a\nbinary ff\nbinary ff\nclose 1000\n"},
        {{"--delay", "20ms"}, "text a\nbinary ff\nclose 1000\n"},
        {{"--close-after", "1"}, "text a\nclose 1000\n"},
        {{"--half-close"}, "close 1000\n"},
        {{"--banner", "h\\xc3\\xbc"}, "text hü\ntext a\nbinary ff\nclose 1000\n"},
        {{"--banner", "\\xff"}, "binary ff\ntext a\nbinary ff\nclose 1000\n"},
    }));
    Server server(Words{"--ws"} + options);
    const Outcome outcome =
        talk(server, {"open", "frame:81:a", "frame:82:\\xff", closing, "end"});
    CAPTURE(options, outcome.errors);
    CHECK(outcome.output == upgraded + output + "ended\n");
    CHECK(log_of(server).empty());
}

TEST_CASE("with --reset-after a WebSocket is reset after the reply") {
    Server server({"--ws", "--reset-after", "1"});
    CHECK(talk(server, {"open", "frame:81:a", "end"}).output == upgraded + "text a\nreset\n");
}

TEST_CASE("corrupted text is sent as text only if it is UTF-8") {
    Server server({"--ws", "--corrupt", "1"});
    Words steps{"open"};
    for (int i = 0; i < 50; ++i) steps.emplace_back("frame:81:a\\xc3\\xbcb\\xe2\\x82\\xac");
    const Outcome outcome = talk(server, steps + Words{closing, "end"});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(count(outcome.output, "text ") + count(outcome.output, "binary ") == 50);
    CHECK(contains(outcome.output, "text "));
    CHECK(contains(outcome.output, "binary "));
    CHECK_FALSE(contains(outcome.output, "aüb€"));
}

TEST_CASE("with --stall-handshake the upgrade is never answered") {
    Server server({"--ws", "-v", "--stall-handshake"});
    talk(server, {"send:GET / HTTP/1.1\\r\\n", "leave"});
    REQUIRE(server.process().wait_for_errors(": closed, 16 bytes in, 0 out\n"));
}

TEST_CASE("with --no-read a WebSocket is opened, and nothing is read") {
    Server server({"--ws", "-v", "--no-read"});
    Process peer(client(server, {"open", "flood:81:100*x", "input"}));
    REQUIRE(peer.wait_for_output("flooded"));
    CHECK(contains(log_of(server), ": closed, 0 bytes in, 0 out\n"));
}

TEST_CASE("on TERM each WebSocket gets its replies and a close frame") {
    const bool tls = GENERATE(false, true);
    Server server(Words{"--ws", "-v", "--delay", "20ms", "--grace", "1h"} +
                  Words(tls ? 1 : 0, "--self-signed"));
    Process peer(
        client(server, Words(tls ? 1 : 0, "tls") +
                           Words{"open", "frame:81:a", "read:1", "frame:81:bb", "end"}));
    REQUIRE(server.process().wait_for_errors("read 7 bytes\n"));
    server.process().kill(SIGTERM);
    CHECK(peer.wait_exit() == 0);
    CHECK(server.process().wait_exit() == 0);
    CHECK(peer.output() == upgraded + "text a\ntext bb\nclose 1000\nended\n");
}

TEST_CASE("a WebSocket message in fragments may end within the grace") {
    Server server({"--ws"});
    Process peer(client(
        server, {"open", "frame:81:a", "frame:01:b", "read:1", "input", "frame:80:c", "end"}));
    REQUIRE(peer.wait_for_output("text a\n"));
    server.process().kill(SIGTERM);
    while (talk(server, {"open", "leave"}).status == 0) {
    }  // until the drain has begun
    peer.close_input();
    CHECK(peer.wait_exit() == 0);
    CHECK(peer.output() == upgraded + "text a\ntext bc\nclose 1000\nended\n");
}

TEST_CASE("when the grace is over no close frame follows a part of a message") {
    Server server({"--ws", "-v", "--chunk", "1", "--grace", "0s"});
    Process peer(client(server, {"open", "frame:82:1000000*x", "receive:100", "end"}));
    REQUIRE(peer.wait_for_output("received\n"));
    server.process().kill(SIGTERM);
    CHECK(peer.wait_exit() == 0);
    CHECK(peer.output() == upgraded + "received\nended inside a frame, after 78787878\n");
    CHECK(server.process().wait_exit() == 0);
}

TEST_CASE("a WebSocket server logs and counts messages with 5 bytes each") {
    Server server({"--ws", "-v", "-m", "1"});
    Process first(client(server, {"open", "frame:81:hi", "read:1", "input", closing, "end"}));
    REQUIRE(first.wait_for_output("text hi\n"));
    CHECK(talk(server, {"end"}).output == "ended\n");
    server.process().kill(SIGUSR1);
    CHECK(
        server.process().wait_for_errors("1 connections, 2 accepted, 1 turned away, 0 failed, "
                                         "7 bytes in, 7 bytes out\n"));
    first.close_input();
    CHECK(first.wait_exit() == 0);
    const std::string log = log_of(server);
    for (const char* text : {": connected\n", ": read 7 bytes\n",
                             ": closed, 7 bytes in, 7 out\n", ": refused: more than"})
        CHECK(contains(log, text));
}

TEST_CASE("WebSocket clients that send and never read take bounded memory") {
    const std::string flood = GENERATE("flood:89:125*x", "flood:82:60000*x", "flood:81:x");
    Server server({"--ws", "--max-frame", "1M"});
    const Outcome outcome = talk(server, {"open", flood, "reset"});
    CAPTURE(flood, outcome.errors);
    CHECK(contains(outcome.output, "flooded"));
    REQUIRE(server.process().wait_for_errors("\n"));  // it has noticed the end
    if (test::measures_memory()) CHECK(server.process().peak_memory() < 16 * megabyte);
}

TEST_CASE("an idle WebSocket keeps no memory of long messages") {
    test::return_freed_memory(true);
    Server server({"--ws"});
    test::return_freed_memory(false);
    Process peer(
        client(server, {"open", "frame:01:20000000*x", "frame:80:y", "read:1", "input"}));
    REQUIRE(peer.wait_for_output("text of 20000001 bytes\n"));
    if (!test::measures_memory() || !test::system_returns_memory()) return;
    CHECK(server.process().peak_memory() > 20 * megabyte);
    CHECK(server.process().wait_for_memory_below(9 * megabyte));
}

TEST_CASE("clients made with libraries get all their WebSocket messages back") {
    const std::string library = GENERATE("websockets", "ws");
    const bool tls = GENERATE(false, true);
    const Words command = library_client(library);
    if (command.empty()) {
        WARN("skipped: there is no " << library << " (python3-websockets, node-ws)");
        return;
    }
    Server server(Words{"--ws"} + Words(tls ? 1 : 0, "--self-signed"));
    const std::string url = (tls ? "wss://127.0.0.1:" : "ws://127.0.0.1:") + server.port();
    for (const char* code : {"1000", "1001", "4000"}) {
        if (library == "ws" && code == std::string("1001")) continue;  // it refuses to send it
        const Outcome outcome = run(command + Words{url + "/any?path", code});
        CAPTURE(library, outcome.errors);
        CHECK(outcome.output == std::string("subprotocol first\nclosed ") + code + "\n");
        CHECK(outcome.status == 0);
    }
    CHECK(count(log_of(server), "\n") == 1);  // the client closed with 4000
}
