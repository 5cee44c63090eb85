// yodel on a terminal, as a user sees it.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <thread>

using test::contents;
using test::Server;
using test::Tty;
using test::yodel;

namespace {

std::string last_row(const Tty& tty, int rows) { return tty.row(rows - 1); }

void type(Tty& tty, const std::string& line) { tty.send(line + "\r"); }

// Checks that the program has ended with this status and restored the terminal.
void check_gone(Tty& tty, int status) {
    const auto exited = tty.wait_exit();
    CAPTURE(tty.screen());
    REQUIRE(exited);
    CHECK(*exited == status);
    CHECK(tty.settings_restored());
    CHECK_FALSE(tty.alternate_screen());
    CHECK(tty.cursor_shown());
    for (const int mode : {2004, 1000, 1006, 2026}) CHECK(tty.modes().count(mode) == 0);
    CHECK(tty.wheel_mode() == 1);  // the emulator's default
}

}  // namespace

TEST_CASE("a line is sent, its echo is shown with its time, and ^D quits") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("ms ‹ hello ✓"));
    CHECK(tty.wait_for(" › hello"));
    CHECK(tty.wait_for("1↑ 1↓ 0… 0✗ 0?"));
    CHECK(tty.wait_for([&] { return last_row(tty, 24).empty(); }));
    tty.send("\x04");
    check_gone(tty, 0);
    CHECK(tty.wait_for("yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt "));
}

TEST_CASE("the summary, and nothing else, is left on the shell's screen") {
    const std::string leaving = GENERATE("\x04", "\x03\x03", "half a line\x03\x03");
    const auto [options, left] = GENERATE(table<std::string, std::string>(
        {{"", "yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt "}, {" --quiet", ""}}));
    const std::string command = "echo before; " + yodel + options + "; echo status $?";
    Tty tty({.arguments = {"sh", "-c", command}, .size = {24, 300}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    tty.send("\x1bOP");  // a page is open
    tty.send("\x1b[<64;1;1M");
    tty.send(leaving);
    check_gone(tty, 0);
    CAPTURE(tty.screen());
    CHECK(tty.row(0) == "before");
    CHECK(tty.row(1).starts_with(left.empty() ? "status 0" : left));
    CHECK(tty.row(left.empty() ? 1 : 2) == "status 0");
    for (int row = left.empty() ? 2 : 3; row < 24; ++row) CHECK(tty.row(row).empty());
}

TEST_CASE("with TLS the program trusts the certificate that it made for itself") {
    Tty tty({.arguments = {yodel, "--tls", "--groups", "P-256"}});
    REQUIRE(tty.wait_for("up 00:"));
    CHECK(tty.wait_for(" TLS1.3 secp256r1 "));
    CHECK_FALSE(tty.shows("UNVERIFIED"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("ms ‹ hello ✓"));
}

TEST_CASE("with TLS, leaving by any key closes the connection with close_notify") {
    Server server({"--tls", "--self-signed", "-v"});
    Tty tty({.arguments = {yodel, "--tls", "-k", "localhost", server.port()}});
    REQUIRE(tty.wait_for("up 00:"));
    const std::string keys = GENERATE("\x04", "half a line\x03\x03", "\033[19~", "SIGTERM");
    CAPTURE(keys);
    if (keys == "SIGTERM") {
        tty.kill(SIGTERM);
    } else {
        tty.send(keys);
    }
    REQUIRE(server.process().wait_for_errors(": closed, "));
    const std::string& log = server.process().errors();
    CHECK(log.find("close_notify") == std::string::npos);  // the complaint that it was missing
}

TEST_CASE("each signal that ends the program restores the terminal, and appears as its end") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.kill(signal);
    check_gone(tty, 128 + signal);
    CHECK(tty.wait_for("yodel: ended by "));
}

TEST_CASE("a signal at the very start leaves the terminal restored") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    for (int i = 0; i < 5; ++i) {
        Tty tty({.arguments = {yodel}});
        const auto deadline = std::chrono::steady_clock::now() + Tty::patience;
        while (tty.settings_restored() && std::chrono::steady_clock::now() < deadline) continue;
        tty.kill(signal);
        check_gone(tty, 128 + signal);
    }
}

TEST_CASE("a signal that the program does not handle leaves the terminal restored") {
    const int signal = GENERATE(SIGABRT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGSYS,
                                SIGTRAP, SIGVTALRM, SIGPROF);
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.kill(signal);
    check_gone(tty, 128 + signal);
}

TEST_CASE("a terminal that hangs up ends the program") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.hang_up();
    const auto exited = tty.wait_exit();
    REQUIRE(exited);
    CHECK(*exited == 128 + SIGHUP);
}

TEST_CASE("a blocked terminal delays neither keys nor signals") {
    test::Peer flood(
        {"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "EXEC:yes " + std::string(200, 'x')});
    Tty tty({.arguments = {yodel, "--expect", "none", "127.0.0.1", flood.port()},
             .size = {200, 300}});
    REQUIRE(tty.wait_for("xxx"));
    tty.stall(true);
    for (int i = 0; i < 8; ++i) {  // more frames than any buffer on the way holds
        tty.send("\x0c");
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    SECTION("and shows the last state when it continues") {
        tty.send("still here");
        tty.stall(false);
        CHECK(tty.wait_for([&] { return last_row(tty, 200) == "still here"; }));
    }
    SECTION("nor when it is left") {
        tty.send("\x03\x03");
        CHECK(tty.wait_exit() == 0);
        CHECK(tty.settings_restored());
    }
    SECTION("nor when it hangs up") {
        tty.hang_up();
        CHECK(tty.wait_exit() == 128 + SIGHUP);
    }
    SECTION("nor when a signal ends it") {
        const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
        tty.kill(signal);
        CHECK(tty.wait_exit() == 128 + signal);
        tty.stall(false);
        CHECK(tty.wait_for("yodel: ended by "));
        CHECK_FALSE(tty.alternate_screen());
        CHECK(tty.settings_restored());
    }
}

TEST_CASE("a stopped terminal is also restored") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1);
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.stop_output();
    tty.send("half a line");
    tty.kill(signal);
    check_gone(tty, 128 + signal);
}

TEST_CASE("many resizes in a row leave the screen whole") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    for (int i = 0; i < 300; ++i) tty.resize({1 + i * 7 % 60, 1 + i * 13 % 150});
    tty.resize({0, 0});
    tty.resize({24, 80});
    REQUIRE(tty.wait_for([&] {
        return tty.shows(" › hello") && tty.shows("‹ hello ✓") &&
               tty.row(22).find("up 0") != std::string::npos;
    }));
    type(tty, "again");
    REQUIRE(tty.wait_for("‹ again ✓"));
}

TEST_CASE("^Z restores the terminal, and resuming draws the screen again") {
    Tty tty({.arguments = {"bash", "--norc", "-i"}, .environment = {"PS1=$ "}});
    REQUIRE(tty.wait_for("$"));
    type(tty, yodel);
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    tty.send("\x1a");
    const bool stopped = tty.wait_for("Stopped");
    CAPTURE(tty.screen());
    REQUIRE(stopped);
    CHECK_FALSE(tty.alternate_screen());
    type(tty, "fg");
    REQUIRE(tty.wait_for([&] { return tty.alternate_screen() && tty.shows("‹ hello ✓"); }));
    type(tty, "again");
    REQUIRE(tty.wait_for("‹ again ✓"));
    tty.send("\x04");
    REQUIRE(tty.wait_for([&] { return !tty.alternate_screen(); }));
    type(tty, "exit");
    CHECK(tty.wait_exit());
}

TEST_CASE("a suspended program can be ended by a signal") {
    Tty tty({.arguments = {"bash", "--norc", "-i"}, .environment = {"PS1=$ "}});
    REQUIRE(tty.wait_for("$"));
    const std::string background_output = GENERATE("-tostop", "tostop");
    type(tty, "stty " + background_output + "; " + yodel);
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("\x1a");
    REQUIRE(tty.wait_for("Stopped"));
    SECTION("at once") {}
    SECTION("also after it wanted the terminal in the background") {
        type(tty,
             "clear; bg; until [ \"$(jobs -s)\" ]; do sleep 0.05; done; echo stopped''again");
        REQUIRE(tty.wait_for("stoppedagain"));
    }
    type(tty, "clear; kill %1");
    CHECK(tty.wait_for("yodel: ended by SIGTERM"));
    CHECK_FALSE(tty.alternate_screen());
}

TEST_CASE("round trips across any kind of suspension are not counted") {
    Server server;
    Tty tty({.arguments = {yodel, "127.0.0.1", server.port()}});
    REQUIRE(tty.wait_for("up 00:"));
    server.process().kill(SIGSTOP);
    type(tty, "hello");
    REQUIRE(tty.wait_for("1↑ 0↓ 1…"));
    tty.kill(SIGSTOP);
    tty.kill(SIGCONT);
    server.process().kill(SIGCONT);
    CHECK(tty.wait_for("untimed ‹ hello ✓"));
}

TEST_CASE("lines that were never sent are reported after a failure too") {
    Tty tty({.arguments = {yodel, "127.0.0.1", std::to_string(test::free_port())}});
    REQUIRE(tty.wait_for("refused; retry "));
    type(tty, "later");
    REQUIRE(tty.wait_for("1 queued"));
    tty.send("\x04");
    check_gone(tty, 7);
    CHECK(tty.wait_for("Connection refused"));
    CHECK(tty.wait_for("yodel: 0 sent, 0 echoed, 0 bad, 0 lost, 1 unsent"));
}

TEST_CASE("connecting again by key leaves nothing of the attempt that it ends") {
    test::Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "EXEC:sleep 60"});
    Tty tty({.arguments = {yodel, "--tls", "127.0.0.1", peer.port()}});
    REQUIRE(tty.wait_for("handshake 0.5s"));
    tty.send("\033[15~");
    REQUIRE(tty.wait_for("handshake 0.2s"));
    CHECK_FALSE(tty.shows("disconnected"));
    tty.send("\033[19~");
    REQUIRE(tty.wait_for("closed: disconnected"));
}

TEST_CASE("failures of TLS have words in the status line, and a status of their own") {
    test::Certificates certificates;
    certificates.issue("old", "DNS:localhost", -1);
    certificates.issue("other", "DNS:example.org", -1);
    certificates.issue("good", "DNS:localhost");
    const test::Certificates strangers;
    const std::string ca = certificates.authority();
    const std::string pin = "sha256//" + std::string(43, 'A') + "=";
    const struct {
        const char* server;
        std::vector<std::string> server_options, client_options;
        const char* words;
        int status;
    } cases[] = {
        {"old", {}, {"--cacert", ca}, "CERT EXPIRED 20", 60},
        {"old", {}, {"--cacert", strangers.authority()}, "CERT UNTRUSTED, EXPIRED 20", 60},
        {"other", {}, {"--cacert", ca}, "CERT REFUSED, EXPIRED 20", 60},
        {"good", {"--cacert", ca}, {"--cacert", ca}, "CLIENT CERT REFUSED (M-i shows it)", 58},
        {"good", {}, {"--pinnedpubkey", pin}, "PIN DIFFERS (M-i shows it)", 90},
    };
    for (const auto& each : cases) {
        auto options = certificates.server_options(each.server);
        options.insert(options.end(), each.server_options.begin(), each.server_options.end());
        Server server(options);
        std::vector<std::string> command{yodel, "--tls", "localhost", server.port()};
        command.insert(command.end(), each.client_options.begin(), each.client_options.end());
        Tty tty({.arguments = command});
        CHECK(tty.wait_for(each.words));
        tty.send("\x03\x03");
        check_gone(tty, each.status);
        CHECK(tty.wait_for("yodel: the "));
    }
}

TEST_CASE("a terminal without the modes is not sent them") {
    const std::string term = GENERATE("linux", "vt100");
    Tty tty({.arguments = {yodel}, .environment = {"TERM=" + term}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("hello ✓"));
    tty.send("\x1b[1;3A\x1bw");
    REQUIRE(tty.wait_for("not copied; this type of terminal has no clipboard"));
    tty.send("\x04");
    CHECK(tty.wait_exit() == 0);
    for (const auto* sequence : {"?1007", "?2026", "\x1b]", "\x18"})
        CHECK(tty.output().find(sequence) == std::string::npos);
}

TEST_CASE("a recording that M-o starts again gets another file, which the sandbox allows") {
    test::Folder folder;
    Tty tty({.arguments = {yodel, "-o", folder.path("x.json")}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("\x1bo");
    REQUIRE(tty.wait_for("stopped writing the recording"));
    tty.send("\x1bo");
    REQUIRE(tty.wait_for("writing the recording to "));
    type(tty, "kept");
    REQUIRE(tty.wait_for("‹ kept ✓"));
    tty.send("\x04");
    check_gone(tty, 0);
    CHECK(contents(folder.path("x.json")).find("kept") == std::string::npos);
    CHECK(contents(folder.path("x-2.json")).find("\"sent\":\"kept\"") != std::string::npos);
}

TEST_CASE("the modes that are on are shown before the times in a usual terminal") {
    const bool keys = GENERATE(true, false);
    test::Folder folder;
    Server server({"--tls", "--self-signed"});
    const std::string target = "tls://localhost:" + server.port();
    const std::string log = folder.path("log");
    const std::string command =
        keys ? "SSLKEYLOGFILE=" + folder.path("keys") + " " + yodel + " -k "
             : yodel + " -k -o " + log + " ";
    const std::string shown =
        keys ? " KEYLOG " + target + " TLS1.3" : " FILE " + target + " TLS1.3";
    Tty tty({.arguments = {"sh", "-c", command + target}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    CHECK(tty.wait_for(shown));
    CHECK(tty.wait_for(" UNVERIFIED (-k) "));
    CHECK(tty.wait_for(" │ 1↑ 1↓"));
}

TEST_CASE("the screen works on other types of terminal") {
    const std::string term = GENERATE("screen", "linux", "vt100");
    Tty tty({.arguments = {yodel}, .environment = {"TERM=" + term}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("hello ✓"));
    tty.send("\x1b[1;3A");
    REQUIRE(tty.wait_for("Enter opens it"));
    tty.send("\x03\x03");
    check_gone(tty, 0);
    CHECK(last_row(tty, 24).empty());  // the shell continues there
}

TEST_CASE("pipe mode is used on a terminal that can't place its cursor") {
    const std::string term = GENERATE("TERM=dumb", "TERM", "TERM=no-such-terminal");
    Server server;
    Tty tty({.arguments = {yodel, "127.0.0.1", server.port()}, .environment = {term}});
    if (term.ends_with("terminal"))
        REQUIRE(tty.wait_for("\"no-such-terminal\" (TERM) is not known on this system"));
    type(tty, "hello");
    tty.send("\x04");
    REQUIRE(tty.wait_for("1 sent, 1 echoed, 0 bad, 0 lost"));
    CHECK(tty.wait_exit() == 0);
    CHECK(tty.settings_restored());
}

TEST_CASE("the screen starts in hex with -x, writes a file with -o, and reads --escapes") {
    const test::Folder folder;
    const std::string file = folder.path("log");
    Tty tty({.arguments = {yodel, "-x", "-o", file, "--escapes", "-v", "-f", "len2"}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("a\\x00b\r");
    REQUIRE(tty.wait_for("61 00 62"));
    tty.send("\x04");
    CHECK(tty.wait_exit() == 0);
    CHECK(contents(file).find("a^@b") != std::string::npos);
    Tty refused({.arguments = {yodel, "-o", "/no/such/log"}});
    REQUIRE(refused.wait_for("yodel: cannot write the transcript /no/such/log: No such file"));
    CHECK(refused.wait_exit() == 23);
}

TEST_CASE("the screen supports datagrams") {
    Server server({"-u", "--dup", "1"});
    Tty tty({.arguments = {yodel, "udp://127.0.0.1:" + server.port()}, .size = {24, 110}});
    REQUIRE(tty.wait_for("○ ready 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("● up 00:"));
    REQUIRE(tty.wait_for("hello - a duplicate reply"));
    tty.send("\x04");
    CHECK(tty.wait_exit() == 0);
}

TEST_CASE("a WebSocket on the screen shows its handshake, and is opened again") {
    auto server = std::make_unique<Server>(std::vector<std::string>{"--ws"});
    const std::string port = server->port();
    Tty tty({.arguments = {yodel, "--retry", "forever", "--header",
                           "Origin: https://example.com", "ws://127.0.0.1:" + port + "/chat"},
             .size = {50, 100}});
    REQUIRE(tty.wait_for("up 00:"));
    CHECK(tty.wait_for("ws://127.0.0.1:" + port));
    tty.send("hello\r");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    tty.send("\x1bi");
    CHECK(tty.wait_for("target      ws://127.0.0.1:" + port + "/chat"));
    for (const char* text :
         {"WebSocket request", "GET /chat HTTP/1.1", "Origin: https://example.com",
          "WebSocket response", "HTTP/1.1 101 Switching Protocols", "sandbox     "})
        CHECK(tty.wait_for(text));
    tty.send("\r");
    server->process().kill(SIGTERM);
    REQUIRE(tty.wait_for("the server closed the connection"));
    server.reset();
    REQUIRE(tty.wait_for("refused; retry "));
    tty.send("later\r");
    REQUIRE(tty.wait_for("1 queued"));
    test::Process again({test::yodeld, "--ws", port});
    REQUIRE(tty.wait_for("‹ later ✓"));
    tty.send("\x04");
    CHECK(tty.wait_exit() == 0);
}
