// yodel on a terminal, as a user sees it.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
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

TEST_CASE("leaving an unverified connection repeats the warning") {
    Server server({"--tls", "--self-signed"});
    Tty tty(
        {.arguments = {yodel, "--tls", "-k", "localhost", server.port()}, .size = {24, 200}});
    REQUIRE(tty.wait_for("UNVERIFIED (-k)"));
    tty.send("\x04");
    check_gone(tty, 0);
    CHECK(tty.wait_for("0 lost; UNVERIFIED (-k): the certificate is self-signed"));
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

TEST_CASE("the screen ends after --max-time") {
    Server server;
    const bool refused = GENERATE(false, true);
    const std::string port = refused ? std::to_string(test::free_port()) : server.port();
    Tty tty({.arguments = {yodel, "-m", "300ms", "127.0.0.1", port}});
    check_gone(tty, 28);
    CHECK(tty.wait_for("yodel: the run did not finish within 300ms (--max-time)"));
}

TEST_CASE("with --expect none, a server that has closed its side still receives") {
    test::Peer peer({"python3", test::peers + "/scripted.py", "PORT", "shut", "line", "reset"});
    Tty tty({.arguments = {yodel, "--expect", "none", "127.0.0.1", peer.port()}});
    REQUIRE(tty.wait_for("half-closed (server)"));
    CHECK(tty.wait_for("the server has shut down its sending side; you can still send"));
    type(tty, "hello");
    CHECK(tty.wait_for("; retrying"));  // the client has read the line
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
    const std::string keys = GENERATE("\x04", "\x03\x03", "half a line\x03\x03",
                                      "\x1bOP\x03\x03", "\033[19~", "\033[15~", "SIGTERM");
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

TEST_CASE("messages in flight count as lost, however the program is left") {
    Server late({"--delay", "60s", "-f", "line"});
    const std::string keys = GENERATE("\x03\x03", "\x04\x04", "SIGTERM");
    Tty tty({.arguments = {yodel, "127.0.0.1", late.port()}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("1↑ 0↓ 1…"));
    if (keys == "SIGTERM") {
        tty.kill(SIGTERM);
        check_gone(tty, 128 + SIGTERM);
    } else {
        tty.send(keys);
        check_gone(tty, 1);
    }
    CHECK(tty.wait_for("yodel: 1 sent, 0 echoed, 0 bad, 1 lost"));
}

TEST_CASE("M-d deletes words and nothing else") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("two words\x01");
    tty.send("\033d\033d\033d\033d!");
    CHECK(tty.wait_for([&] { return last_row(tty, 24) == "!"; }));
    CHECK(tty.shows("up 00:"));
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

TEST_CASE("the screen is readable at every size") {
    struct Case {
        int rows;
        int columns;
    };
    const Case size = GENERATE(Case{5, 20}, Case{24, 80}, Case{200, 500});
    Tty tty({.arguments = {yodel}, .size = {size.rows, size.columns}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello"));
    const auto status = [&] { return tty.row(size.rows - 2); };
    CHECK(tty.wait_for([&] { return status().find("up 00:") != std::string::npos; }));
}

TEST_CASE("small sizes keep the line, then the state, then the messages") {
    Tty tty({.arguments = {yodel}, .size = {1, 10}});
    tty.send("abc");
    REQUIRE(tty.wait_for([&] { return tty.row(0) == "abc"; }));
    tty.resize({2, 10});
    REQUIRE(tty.wait_for(
        [&] { return tty.row(1) == "abc" && tty.row(0).find("up") != std::string::npos; }));
    tty.resize({1, 1});
    tty.send("\x03\x03\x03");
    check_gone(tty, 0);
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

TEST_CASE("a refused connection is retried, and reported at the end") {
    const std::string port = std::to_string(test::free_port());
    Tty tty({.arguments = {yodel, "127.0.0.1", port}});
    REQUIRE(tty.wait_for("cannot connect to 127.0.0.1:" + port + ": Connection refused"));
    REQUIRE(tty.wait_for("refused; retry 1 in 0."));
    REQUIRE(tty.wait_for("retry 2 in"));
    const std::string screen = tty.screen();  // it reports the failure once
    CHECK(screen.find("cannot connect") == screen.rfind("cannot connect"));
    tty.send("\x03");
    REQUIRE(tty.wait_for("closed: cannot connect"));
    tty.send("\x03\x03");
    check_gone(tty, 7);
    CHECK(tty.wait_for("yodel: cannot connect to 127.0.0.1:" + port + ": Connection refused"));
}

TEST_CASE("connecting can be given up, and tried again") {
    test::Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1", "EXEC:sleep 60"});
    Tty tty({.arguments = {yodel, "--tls", "127.0.0.1", peer.port()}});
    REQUIRE(tty.wait_for("handshake"));
    tty.send("\x03");
    REQUIRE(tty.wait_for("closed: disconnected"));
    tty.send("\033[15~");
    REQUIRE(tty.wait_for("handshake"));
}

TEST_CASE("the end of a server is shown at once, and typed lines are queued") {
    auto server = std::make_unique<Server>();
    const std::string port = server->port();
    Tty tty({.arguments = {yodel, "--retry", "forever", "127.0.0.1", port}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("‹ hello ✓"));  // the server has accepted the connection
    server->process().kill(SIGTERM);
    REQUIRE(tty.wait_for("the server closed the connection"));
    server.reset();
    REQUIRE(tty.wait_for("refused; retry "));
    type(tty, "later");
    REQUIRE(tty.wait_for("1 queued"));
    test::Process again({test::yodeld, port});
    REQUIRE(tty.wait_for("‹ later ✓"));
}

TEST_CASE("lines that were never sent are reported at the end") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("\033[19~");
    REQUIRE(tty.wait_for("closed: disconnected"));
    type(tty, "later");
    REQUIRE(tty.wait_for("1 queued"));
    tty.send("\x04");
    check_gone(tty, 1);
    CHECK(tty.wait_for("yodel: 0 sent, 0 echoed, 0 bad, 0 lost, 1 unsent"));
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

TEST_CASE("no retry follows the last reply, F5 connects again and sends the lines typed") {
    test::Peer peer({"python3", test::peers + "/scripted.py", "PORT", "echo"});
    Tty tty({.arguments = {yodel, "127.0.0.1", peer.port()}, .size = {24, 120}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "first");
    REQUIRE(tty.wait_for("‹ first ✓"));
    REQUIRE(tty.wait_for("the server closed the connection; F5 reconnects"));
    type(tty, "second");
    REQUIRE(tty.wait_for("1 queued"));
    tty.send("\033[15~");
    CHECK(tty.wait_for("‹ second ✓"));
    CHECK(tty.wait_for("2↑ 2↓ 0… 0✗ 0?"));
}

TEST_CASE("a plain connection to a TLS port is reported as such") {
    Server server({"--tls", "--self-signed"});
    Tty tty({.arguments = {yodel, "localhost", server.port()}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "hello there");
    CHECK(tty.wait_for("closed: the server speaks TLS; use --tls"));
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

TEST_CASE("no retry follows a refused certificate") {
    test::Certificates certificates;
    certificates.issue("old", "DNS:localhost", -1);
    Server server(certificates.server_options("old"));
    Tty tty({.arguments = {yodel, "--tls", "--cacert", certificates.authority(), "localhost",
                           server.port()}});
    REQUIRE(tty.wait_for("CERT EXPIRED 20"));
    tty.send("\x1bi");
    REQUIRE(tty.wait_for("no: it expired on 20"));
    CHECK(tty.wait_for("CN=old"));
    CHECK(tty.wait_for("--pinnedpubkey sha256//"));
    tty.send("\r\x03\x03");
    REQUIRE(tty.wait_exit() == 60);
    CHECK(tty.wait_for("yodel: the certificate of localhost expired on 20"));
}

TEST_CASE("a certificate that is untrusted and expired is reported as both") {
    test::Certificates certificates;
    certificates.issue("old", "DNS:localhost", -1);
    test::Certificates others;
    Server server(certificates.server_options("old"));
    const std::vector<std::string> command{
        yodel, "--tls", "--cacert", others.authority(), "localhost", server.port()};
    Tty tty({.arguments = command});
    REQUIRE(tty.wait_for("CERT UNTRUSTED, EXPIRED 20"));
    tty.send("\x03\x03");
    REQUIRE(tty.wait_exit() == 60);
    const std::string said = test::run(command, "a\n").errors;
    CHECK(said.find("; it also expired on 20") != std::string::npos);
}

TEST_CASE("a certificate that is expired and for another name is reported as both") {
    test::Certificates certificates;
    certificates.issue("other", "DNS:example.org", -1);
    Server server(certificates.server_options("other"));
    Tty tty({.arguments = {yodel, "--tls", "--cacert", certificates.authority(), "localhost",
                           server.port()},
             .size = {24, 200}});
    CHECK(tty.wait_for("CERT REFUSED, EXPIRED 20"));
    CHECK(tty.wait_for("is for example.org, not for localhost; it also expired"));
}

TEST_CASE("each TLS failure has a status word, a sentence and an option") {
    test::Certificates certificates;
    certificates.self_sign("own", "DNS:localhost");
    certificates.issue("other", "DNS:example.org");
    certificates.issue("good", "DNS:localhost");
    auto demanding = certificates.server_options("good");
    demanding.insert(demanding.end(), {"--cacert", certificates.authority()});
    const std::string no_pin = "sha256//" + std::string(43, 'A') + "=";
    const struct {
        std::vector<std::string> server, client;
        const char *word, *sentence;
        int status;
    } cases[] = {
        {certificates.server_options("own"),
         {},
         "CERT REFUSED (M-i shows it)",
         "the certificate of localhost is self-signed; to accept it:",
         60},
        {certificates.server_options("other"),
         {},
         "CERT REFUSED (M-i shows it)",
         "the certificate of localhost is for example.org, not for",
         60},
        {demanding,
         {},
         "CLIENT CERT REFUSED (M-i shows it)",
         "use --cert FILE and --key FILE",
         58},
        {certificates.server_options("own"),
         {"--pinnedpubkey", no_pin},
         "PIN DIFFERS (M-i shows it)",
         "the public key of localhost does not match the pin",
         90},
        {{}, {}, "closed: the server does not speak TLS", "the server does not speak TLS", 35},
    };
    for (const auto& each : cases) {
        CAPTURE(each.sentence);
        Server server(each.server);
        std::vector<std::string> arguments{yodel, "--tls", "--cacert",
                                           certificates.authority()};
        arguments.insert(arguments.end(), each.client.begin(), each.client.end());
        arguments.insert(arguments.end(), {"localhost", server.port()});
        Tty tty({.arguments = arguments});
        CHECK(tty.wait_for(each.word));
        CHECK(tty.wait_for(each.sentence));
        CHECK_FALSE(tty.shows("-k)"));  // -k was not given
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

TEST_CASE("M-o starts and stops writing a printable transcript to a file") {
    test::Folder folder;
    Tty tty({.arguments = {"sh", "-c", "cd " + folder.path("") + " && exec " + yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("\x1bo");
    REQUIRE(tty.wait_for("writing the transcript to yodel-"));
    CHECK(tty.wait_for(" FILE "));
    type(tty, "kept\x16\x01");
    REQUIRE(tty.wait_for("‹ kept^A ✓"));
    tty.send("\x1bo");
    REQUIRE(tty.wait_for("stopped writing the transcript"));
    type(tty, "gone");
    REQUIRE(tty.wait_for("‹ gone ✓"));
    const auto file = std::filesystem::directory_iterator(folder.path(""))->path();
    const std::string text = contents(file);
    CHECK(text.find(" > kept^A\n") != std::string::npos);
    CHECK(text.find(" < kept^A\n") != std::string::npos);
    CHECK(text.find("gone") == std::string::npos);
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

TEST_CASE("a transcript file that cannot be written is reported") {
    SECTION("from the start") {
        Tty tty({.arguments = {yodel, "-o", "/nowhere/log"}});
        check_gone(tty, 23);
        CHECK(tty.wait_for("yodel: cannot write the transcript /nowhere/log: No such file"));
    }
    SECTION("when it is full") {
        Tty tty({.arguments = {yodel, "-o", "/dev/full"}});
        CHECK(tty.wait_for("could not write all of the transcript file; stopped writing"));
        CHECK_FALSE(tty.shows(" FILE "));
        tty.send("\x04");
        check_gone(tty, 23);
        CHECK(tty.wait_for("could not write all of the transcript file"));
    }
}

TEST_CASE("the screen shows the file to which TLS secrets are written") {
    test::Folder folder;
    const std::string keys = folder.path("keys");
    Tty tty({.arguments = {yodel, "--tls"},
             .environment = {"SSLKEYLOGFILE=" + keys},
             .size = {32, 100}});
    REQUIRE(tty.wait_for("up 00:"));
    CHECK(tty.wait_for(" KEYLOG "));
    tty.send("\x1bi");
    CHECK(tty.wait_for("secrets     written to " + keys + " (SSLKEYLOGFILE)"));
    CHECK(tty.wait_for("pin         --pinnedpubkey sha256//"));
    CHECK(tty.wait_for("chain       "));
    CHECK(contents(keys).find("TRAFFIC_SECRET") != std::string::npos);
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

TEST_CASE("options of the other mode are refused") {
    Tty tty({.arguments = {yodel, "--window", "8"}});
    CHECK(tty.wait_exit() == 2);
    CHECK(tty.wait_for("--window needs "));
}

TEST_CASE("bytes that could control a terminal are made visible") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    type(tty, "\x1b[200~\x1b]0;OWNED\x07 \x1b[2J\x1b[201~");
    REQUIRE(tty.wait_for("‹ ^[]0;OWNED^G ^[[2J ✓"));
    CHECK(tty.title() != "OWNED");
    CHECK(tty.wait_for("up 00:"));
}

TEST_CASE("a flood does not delay the keys") {
    Tty tty({.arguments = {yodel, "--expect", "none"}});
    REQUIRE(tty.wait_for("up 00:"));
    std::string lines;
    for (int i = 0; i < 20'000; ++i)
        lines += "line of a flood, number " + std::to_string(i) + "\n";
    tty.send("\x1b[200~" + lines + "\x1b[201~\r");
    tty.send("still here");
    REQUIRE(tty.wait_for([&] { return last_row(tty, 24) == "still here"; }));
    REQUIRE(tty.wait_for("number 19999"));
}

TEST_CASE("without a UTF-8 locale, drawing uses ASCII only") {
    Tty tty({.arguments = {yodel}, .environment = {"LC_ALL=C"}});
    REQUIRE(tty.wait_for("* up 00:0"));
    type(tty, "hello");
    REQUIRE(tty.wait_for("ms < hello ok"));
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
    const std::string term = GENERATE("TERM=dumb", "TERM");
    Server server;
    Tty tty({.arguments = {yodel, "127.0.0.1", server.port()}, .environment = {term}});
    type(tty, "hello");
    REQUIRE(tty.wait_for([&] { return tty.row(1) == "hello"; }));
    tty.send("\x04");
    REQUIRE(tty.wait_for("1 sent, 1 echoed, 0 bad, 0 lost"));
    CHECK(tty.wait_exit() == 0);
}

TEST_CASE("pipe mode is used on a terminal of unknown type, with a note") {
    Server server;
    Tty tty({.arguments = {yodel, "127.0.0.1", server.port()},
             .environment = {"TERM=no-such-terminal"}});
    REQUIRE(tty.wait_for("\"no-such-terminal\" (TERM) is not known on this system"));
    type(tty, "hello");
    tty.send("\x04");
    REQUIRE(tty.wait_for("1 sent, 1 echoed, 0 bad, 0 lost"));
    CHECK(tty.wait_exit() == 0);
    CHECK(tty.settings_restored());
}

TEST_CASE("pipe mode on a terminal makes unsafe bytes visible") {
    test::Folder folder;
    std::ofstream(folder.path("greeting")) << "\x1b]0;OWNED\x07\n";
    test::Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1",
                     "EXEC:cat " + folder.path("greeting") + " -"});
    Tty tty({.arguments = {yodel, "--no-tui", "127.0.0.1", peer.port()}});
    const bool seen = tty.wait_for("^[]0;OWNED^G");
    CAPTURE(tty.screen());
    CHECK(seen);
    CHECK(tty.title() != "OWNED");
}

TEST_CASE("the screen starts in hex with -x, writes a file with -o, and reads --escapes") {
    const test::Folder folder;
    const std::string file = folder.path("log");
    Tty tty({.arguments = {yodel, "-x", "-o", file, "--escapes", "-v", "-f", "len2"}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("a\\x00b\r");
    REQUIRE(tty.wait_for("61 00 62"));
    tty.send("a\\q\r");
    REQUIRE(tty.wait_for("a backslash must be followed by n, r, t, 0"));
    tty.send("\x03\x03\x03");
    CHECK(tty.wait_exit() == 0);
    CHECK(contents(file).find("a^@b") != std::string::npos);
    Tty refused({.arguments = {yodel, "-o", "/no/such/log"}});
    REQUIRE(refused.wait_for("/no/such/log: No such file"));
    CHECK(refused.wait_exit() == 23);
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
          "WebSocket response", "HTTP/1.1 101 Switching Protocols"})
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
