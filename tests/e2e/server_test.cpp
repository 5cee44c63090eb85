// yodeld as its users see it.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <regex>

using test::Certificates;
using test::contains;
using test::contents;
using test::Folder;
using test::Outcome;
using test::Process;
using test::run;
using test::Server;
using test::server_threads;
using test::yodel;
using test::yodeld;

namespace {

constexpr std::size_t megabyte = 1024 * 1024;

}  // namespace

TEST_CASE("the first line names the address that it listens on") {
    Server server;
    CHECK(server.process().output() == "listening 127.0.0.1:" + server.port() + "\n");
}

TEST_CASE("several ports are listened on at once") {
    Process server({yodeld, "0", "[::1]:0", "127.0.0.1:0"});
    REQUIRE(server.wait_for_output("listening [::1]:"));
    const std::string port = std::to_string(test::free_port());
    Process both({yodeld, "0.0.0.0:" + port, "[::]:" + port});
    CHECK(both.wait_for_output("listening [::]:" + port + "\n"));
    server.kill(SIGTERM);
    CHECK(server.wait_exit() == 0);
    CHECK(std::count(server.output().begin(), server.output().end(), '\n') == 3);
}

TEST_CASE("a unix-domain socket serves as well, and is removed with the server") {
    const Folder folder;
    const std::string path = folder.path("echo");
    Server server({"-U", path});
    REQUIRE(server.process().wait_for_output("listening 127.0.0.1:"));
    CHECK(contains(server.process().output(), "listening " + path + "\n"));
    const Outcome outcome = run({yodel, "-U", path}, "a\n");
    CHECK(outcome.output == "a\n");
    CHECK(outcome.status == 0);
    server.process().kill(SIGTERM);
    CHECK(server.process().wait_exit() == 0);
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("the server listens on each address of a name") {
    const std::string port = std::to_string(test::free_port());
    Process server({yodeld, "localhost:" + port});
    REQUIRE(server.wait_for_output("listening [::1]:" + port));
    REQUIRE(server.wait_for_output("listening 127.0.0.1:" + port));
    CHECK(run({yodel, "127.0.0.1", port}, "a\n").output == "a\n");
    CHECK(run({yodel, "::1", port}, "a\n").output == "a\n");
}

TEST_CASE("option -6 means the loopback of IPv6") {
    Server server({"-6"});
    CHECK(contains(server.process().output(), "listening [::1]:"));
    CHECK(run({yodel, "::1", server.port()}, "a\n").output == "a\n");
    CHECK(run({yodel, "-6", "-c", "1"}).status == 0);
}

TEST_CASE("the port file exists while the server runs") {
    const Folder folder;
    const std::string file = folder.path("port");
    Server server({"--port-file", file, "--threads", server_threads(GENERATE("1", "2"))});
    // A served client proves that the file is complete.
    CHECK(run({yodel, "127.0.0.1", server.port()}, "a\n").output == "a\n");
    CHECK(contents(file) == server.port() + "\n");
    server.process().kill(SIGTERM);
    server.process().wait_exit();
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(run({yodeld, "--port-file", "/no/such/folder/port", "0"}).status == 1);
}

TEST_CASE("with --json each line of both outputs is an object") {
    Process server({yodeld, "--json", "-v", "--self-signed", "0"});
    REQUIRE(server.wait_for_output("pinnedpubkey"));
    const std::string& first = server.output();
    CHECK(first.starts_with("{\"listening\":\"127.0.0.1:"));
    CHECK(contains(first, ",\"port\":"));
    CHECK(contains(first, "}\n{\"pinnedpubkey\":\"sha256//"));
    server.kill(SIGUSR1);
    CHECK(server.wait_for_errors(
        "Z\",\"connections\":0,\"accepted\":0,\"turned_away\":0,\"failed\":0,"
        "\"bytes_in\":0,\"bytes_out\":0}\n"));
    const std::regex dated(R"((\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",.*\}\n)+)");
    CHECK(std::regex_match(server.errors(), dated));
}

TEST_CASE("the printed pin is accepted by the client") {
    Server server({"--self-signed"});
    const std::string option = "--pinnedpubkey ";
    REQUIRE(server.process().wait_for_output(option));
    const std::string& output = server.process().output();
    const std::string pin = output.substr(output.find(option) + option.size(), 52);
    CHECK(run({yodel, "--tls", "--pinnedpubkey", pin, "localhost", server.port()}, "a\n")
              .output == "a\n");
    CHECK(run({yodel, "--tls", "localhost", server.port()}, "a\n").status == 60);
}

TEST_CASE("with --self-signed the server can demand client certificates") {
    Certificates certificates;
    certificates.issue("client", "DNS:client");
    Server server({"--self-signed", "--cacert", certificates.authority()});
    const std::vector<std::string> bare{yodel, "--tls", "-k", "localhost", server.port()};
    CHECK(run(bare, "a\n").status == 58);
    auto shown = bare;
    shown.insert(shown.begin() + 1, {"-E", certificates.file("client.pem"), "--key",
                                     certificates.file("client.key")});
    CHECK(run(shown, "a\n").status == 0);
}

TEST_CASE("HUP neither asks for a pass phrase nor waits for a FIFO") {
    Certificates certificates;
    certificates.self_sign("used", "DNS:localhost");
    Server server(certificates.server_options("used"));
    const std::string certificate = certificates.file("used.pem");
    const std::string key = certificates.file("used.key");
    const std::string bare = certificates.file("bare.key");
    std::filesystem::rename(key, bare);
    std::string said;
    SECTION("an encrypted key") {
        REQUIRE(run({"openssl", "ec", "-in", bare, "-aes256", "-passout", "pass:secret", "-out",
                     key})
                    .status == 0);
        said = "key " + key + " is encrypted, and a reload can't ask for its pass phrase";
    }
    SECTION("a FIFO for the key") {
        REQUIRE(::mkfifo(key.c_str(), 0600) == 0);
        said = key + " is not a regular file";
    }
    SECTION("a FIFO for the certificate") {
        std::filesystem::remove(certificate);
        REQUIRE(::mkfifo(certificate.c_str(), 0600) == 0);
        said = certificate + " is not a regular file";
    }
    server.process().kill(SIGHUP);
    REQUIRE(server.process().wait_for_errors(
        "cannot reload the certificates, keeping the old ones: " + said));
    CHECK(run({yodel, "-k", "--tls", "localhost", server.port()}, "a\n").status == 0);
}

TEST_CASE("HUP reads the certificates again, and keeps the old ones if it can't") {
    Certificates certificates;
    certificates.self_sign("now", "DNS:localhost");
    certificates.self_sign("next", "DNS:localhost");
    const auto serves = [&](const std::string& name, const std::string& port) {
        const std::string trusted = certificates.file(name + ".pem");
        return run({yodel, "--tls", "--cacert", trusted, "localhost", port}, "a\n").status;
    };
    namespace fs = std::filesystem;
    fs::copy_file(certificates.file("now.pem"), certificates.file("used.pem"));
    fs::copy_file(certificates.file("now.key"), certificates.file("used.key"));
    Server server(certificates.server_options("used"));
    CHECK(serves("now", server.port()) == 0);
    for (const char* const end : {".pem", ".key"})
        fs::copy_file(certificates.file(std::string("next") + end),
                      certificates.file(std::string("used") + end),
                      fs::copy_options::overwrite_existing);
    server.process().kill(SIGHUP);
    REQUIRE(server.process().wait_for_errors("certificates reloaded"));
    CHECK(serves("next", server.port()) == 0);
    fs::remove(certificates.file("used.key"));
    server.process().kill(SIGHUP);
    REQUIRE(server.process().wait_for_errors(
        "cannot reload the certificates, keeping the old ones"));
    CHECK(serves("next", server.port()) == 0);
}

TEST_CASE("USR1 prints the counters, and HUP does no harm without TLS") {
    Server server;
    CHECK(run({yodel, "127.0.0.1", server.port()}, "four\n").status == 0);
    server.process().kill(SIGHUP);
    server.process().kill(SIGUSR1);
    CHECK(server.process().wait_for_errors("yodeld: 0 connections, 1 accepted, 0 turned away, "
                                           "0 failed, 5 bytes in, 5 bytes out\n"));
}

TEST_CASE("lines of the log contain the date") {
    Server server;
    server.process().kill(SIGUSR1);
    REQUIRE(server.process().wait_for_errors("\n"));
    const std::regex dated(
        R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} yodeld: 0 connections, .*\n)");
    CAPTURE(server.process().errors());
    CHECK(std::regex_match(server.process().errors(), dated));
}

TEST_CASE("option -v prints the size and the head of each read") {
    struct Case {
        std::string framing;
        std::string input;
        std::string read;
    };
    const Case each = GENERATE(
        Case{"raw", "hello", "read 5 bytes: hello"}, Case{"line", "a\nb", "read 3 bytes: a^Jb"},
        Case{"nul", std::string(300, 'x') + std::string(1, '\0'),
             "read 301 bytes: " + std::string(64, 'x') + "..."},
        Case{"len2", std::string("\0\5\x1b[2Jx", 7), "read 7 bytes: ^@^E^[[2Jx"});
    Server server({"-v", "-f", each.framing});
    run({"socat", "-t", "10", "-", "TCP:127.0.0.1:" + server.port()}, each.input);
    REQUIRE(server.process().wait_for_errors(": closed, "));
    const std::string size = std::to_string(each.input.size());
    CAPTURE(server.process().errors());
    CHECK(contains(server.process().errors(), ": " + each.read + "\n"));
    CHECK(contains(server.process().errors(), ": closed, " + size + " bytes in, "));
    CHECK_FALSE(contains(server.process().errors(), "\x1b"));
}

TEST_CASE("option -v logs every connection") {
    Server server({"-v", "--self-signed"});
    CHECK(run({yodel, "--tls", "-k", "localhost", server.port()}, "four\n").status == 0);
    CHECK(server.process().wait_for_errors(": connected, TLSv1.3 TLS_"));
    CHECK(server.process().wait_for_errors(": closed, 5 bytes in, 5 out\n"));
}

TEST_CASE("the name in a peer's certificate can't control the terminal") {
    const Folder folder;
    const std::string path = folder.path("echo");
    Server server({"-v", "-U", path});
    const std::string evil = folder.path("\x1b]0;owned\a");
    run({"socat", "-u", "/dev/null", "UNIX-CONNECT:" + path + ",bind=" + evil});
    REQUIRE(server.process().wait_for_errors("closed, "));
    CHECK(contains(server.process().errors(), "^[]0;owned^G: connected"));
    CHECK_FALSE(contains(server.process().errors(), "\x1b"));
}

TEST_CASE("running out of descriptors for connections is reported") {
    Process server({"sh", "-c", "ulimit -n 24; exec \"$@\"", "sh", yodeld, "0"});
    CHECK(server.wait_for_errors("--max-conns 1024 is too high: the system allows 24 "));
}

TEST_CASE("the server speaks caret") {
    Server server({"-f", "caret"});
    const Outcome outcome =
        run({"socat", "-t", "10", "-", "TCP:127.0.0.1:" + server.port()}, "^abc$junk^xyz$");
    CHECK(outcome.output == "*bcdyz{");
}

TEST_CASE("all bytes sent before a half-close come back") {
    Server server;
    const std::string bytes(3'000'000, 'x');
    const Outcome outcome =
        run({"socat", "-t", "10", "-", "TCP:127.0.0.1:" + server.port()}, bytes);
    CHECK((outcome.output == bytes));
}

TEST_CASE("many clients at once, slow and fast, plain and TLS, each get their own bytes back") {
    const bool tls = GENERATE(false, true);
    Server server(tls ? std::vector<std::string>{"--self-signed"} : std::vector<std::string>{});
    const std::string options = tls ? "--tls -k" : "-4";
    const Folder folder;
    std::vector<std::unique_ptr<Process>> clients;
    for (int i = 0; i < 8; ++i) {
        const std::string reader = i % 2 == 0 ? "cat" : "dd bs=1k status=none";
        clients.push_back(std::make_unique<Process>(std::vector<std::string>{
            "sh", "-c",
            "head -c 2000000 /dev/urandom >\"$2\"; \"$0\" --quiet -f raw " + options +
                " 127.0.0.1 \"$1\" <\"$2\" | " + reader + " | cmp - \"$2\" && echo same",
            yodel, server.port(), folder.path(std::to_string(i))}));
        clients.back()->close_input();
    }
    for (const auto& client : clients) {
        CHECK(client->wait_exit() == 0);
        CAPTURE(client->errors());
        CHECK(client->output() == "same\n");
    }
}

TEST_CASE("64 MiB come back, plain and over TLS") {
    const bool tls = GENERATE(false, true);
    Server server(tls ? std::vector<std::string>{"--self-signed"} : std::vector<std::string>{});
    const std::string options = tls ? "--tls -k" : "-4";
    const Folder folder;
    const Outcome outcome =
        run({"sh", "-c",
             "head -c 64M /dev/urandom >\"$2\"; \"$0\" --quiet -f raw " + options +
                 " 127.0.0.1 \"$1\" <\"$2\" | cmp - \"$2\" && echo same",
             yodel, server.port(), folder.path("bytes")});
    CAPTURE(outcome.errors);
    CHECK(outcome.output == "same\n");
}

TEST_CASE("on TERM and INT the server delivers pending replies and exits with 0") {
    const int signal = GENERATE(SIGTERM, SIGINT);
    Server server({"--threads", server_threads(GENERATE("1", "3"))});
    Process client({yodel, "127.0.0.1", server.port()});
    client.write("a\n");
    REQUIRE(client.wait_for_output("a\n"));
    server.process().kill(signal);
    CHECK(server.process().wait_exit() == 0);
    CHECK(server.process().errors().empty());
    CHECK(client.wait_exit() == 56);  // the client's input has not ended
    CHECK(client.output() == "a\n");
}

TEST_CASE("clients that send and never read cost one buffer each, even when they leave") {
    const bool tls = GENERATE(false, true);
    Server server(tls ? std::vector<std::string>{"--self-signed"} : std::vector<std::string>{});
    std::vector<std::string> command{"python3", test::peers + "/deaf.py", server.port(), "50"};
    if (tls) command.emplace_back("tls");
    Process deaf(command);
    REQUIRE(deaf.wait_for_output("stuck"));
    deaf.close_input();
    CHECK(deaf.wait_exit() == 0);
    server.process().kill(SIGUSR1);
    REQUIRE(server.process().wait_for_errors("50 accepted"));
    const std::size_t most = tls && test::system_libraries_are_larger() ? 72 : 64;
    if (test::measures_memory()) CHECK(server.process().peak_memory() < most * megabyte);
}

TEST_CASE("memory for long messages goes back to the system after them") {
    test::return_freed_memory(true);
    Server server({"-f", "len4le"});
    test::return_freed_memory(false);
    for (int i = 0; i < 3; ++i)
        run({"python3", test::peers + "/length_echo.py", "ask", server.port(), "33554432"});
    if (!test::measures_memory() || !test::system_returns_memory()) return;
    CHECK(server.process().peak_memory() > 32 * megabyte);
    CHECK(server.process().wait_for_memory_below(8 * megabyte));
}

TEST_CASE("on TERM the server leaves idle peers at once, over TLS with close_notify") {
    const bool tls = GENERATE(false, true);
    std::vector<std::string> options{"--grace", "1h"};
    if (tls) options.emplace_back("--self-signed");
    Server server(options);
    const std::string address = "127.0.0.1:" + server.port();
    Process peer(
        tls ? std::vector<std::string>{"openssl", "s_client", "-quiet", "-connect", address}
            : std::vector<std::string>{"sh", "-c", "sleep 60 | socat -t 60 - TCP:" + address});
    Process talker(tls ? std::vector<std::string>{"openssl", "s_client", "-quiet", "-state",
                                                  "-connect", address}
                       : std::vector<std::string>{"socat", "-t", "60", "-", "TCP:" + address});
    talker.write("hello\n");
    REQUIRE(talker.wait_for_output("hello\n"));
    server.process().kill(SIGTERM);
    CHECK(server.process().wait_exit() == 0);
    if (tls) CHECK(talker.wait_for_errors("SSL3 alert read:warning:close notify"));
    CHECK(server.process().errors().empty());
}

TEST_CASE("a second signal ends the server at once") {
    Server server({"--grace", "1h", "--delay", "1h", "-v", "-f", "line", "--self-signed",
                   "--threads", server_threads(GENERATE("1", "3"))});
    Process silent({"socat", "-u", "TCP:127.0.0.1:" + server.port(), "EXEC:sleep 60"});
    Process client(
        {"openssl", "s_client", "-quiet", "-state", "-connect", "127.0.0.1:" + server.port()});
    client.write("a\n");
    REQUIRE(client.wait_for_errors("negotiation finished"));
    REQUIRE(server.process().wait_for_errors("read 2 bytes: a^J\n"));
    server.process().kill(SIGTERM);
    const auto listens = [&] {
        return run({"socat", "-u", "/dev/null", "TCP:127.0.0.1:" + server.port()}).status == 0;
    };
    for (int i = 0; i < 500 && listens(); ++i) continue;
    server.process().kill(SIGTERM);
    CHECK(server.process().wait_exit() == 0);
    CHECK(client.wait_for_errors("SSL3 alert read:warning:close notify"));
}

TEST_CASE("an idle client is dropped, a busy one is not") {
    Server server({"--idle-timeout", "200ms"});
    Process client({yodel, "127.0.0.1", server.port()});
    for (int i = 0; i < 10; ++i) {
        const std::string line = "line " + std::to_string(i) + "\n";
        client.write(line);
        REQUIRE(client.wait_for_output(line));
    }
    CHECK(server.process().wait_for_errors("idle for 200ms"));
    client.wait_exit();
    CHECK(contains(client.output(), "line 9\n"));
}

TEST_CASE("TLS records without data are no traffic, and idle clients get close_notify") {
    Server server({"--idle-timeout", "500ms", "--self-signed"});
    // Each K sends a KeyUpdate. The last one would come long after the timeout.
    Process client({"sh", "-c",
                    "for i in $(seq 100); do echo K; sleep 0.05; done |"
                    " openssl s_client -state -connect 127.0.0.1:" +
                        server.port()});
    REQUIRE(server.process().wait_for_errors("idle for 500ms"));
    CHECK(client.wait_for_errors("SSL3 alert read:warning:close notify"));
}

TEST_CASE("a client above the limit is turned away") {
    Server server({"--max-conns", "1", "--threads", server_threads(GENERATE("1", "3"))});
    Process first({yodel, "127.0.0.1", server.port()});
    first.write("a\n");
    REQUIRE(first.wait_for_output("a\n"));
    const Outcome second = run({yodel, "127.0.0.1", server.port()}, "b\n");
    CHECK(second.status != 0);
    CHECK(second.output.empty());
    CHECK(server.process().wait_for_errors("refused: more than 1 connection (--max-conns)"));
    first.write("c\n");
    CHECK(first.wait_for_output("c\n"));
}

TEST_CASE("a client that never finishes its handshake is dropped") {
    test::Certificates certificates;
    certificates.self_sign("self", "DNS:localhost");
    auto options = certificates.server_options("self");
    options.insert(options.end(), {"--handshake-timeout", "50ms"});
    Server server(options);
    Process silent({"socat", "TCP:127.0.0.1:" + server.port(), "EXEC:sleep 60"});
    CHECK(server.process().wait_for_errors("no TLS handshake within 50ms"));
}

TEST_CASE("every error at the start is reported with a sentence and its exit status") {
    struct Case {
        std::vector<std::string> arguments;
        int status;
        std::string sentence;
    };
    const Case each = GENERATE(
        Case{{}, 2, "a port to listen on is missing"}, Case{{"99999"}, 2, "is not a port"},
        Case{{"--nonsense", "0"}, 2, "unknown option --nonsense"},
        Case{{"--tls", "0"}, 2, "--tls needs --cert"},
        Case{{"--self-signed", "--cert", "x", "0"},
             2,
             "--cert cannot be combined with --self-signed"},
        Case{{"--cert", "x", "0"}, 2, "needs --tls"},
        Case{{"--stall-handshake", "0"}, 2, "--stall-handshake needs --tls"},
        Case{{"-f", "lines", "0"},
             2,
             "is not a framing that can be echoed; the framings are line, "},
        Case{{"--drop", "1.5", "0"}, 2, "is not a probability"},
        Case{{"--drop", "x", "0"}, 2, "is not a probability"},
        Case{{"--delay", "1s~x", "0"}, 2, "\"x\" is not a duration"},
        Case{{"--chunk", "0", "0"}, 2, "is not a size"},
        Case{{"--seed", "-1", "0"}, 2, "is not a whole number"},
        Case{{"--banner", "\\xzz", "0"}, 2, "a backslash must be"},
        Case{{"--close-after", "1", "--reset-after", "1", "0"},
             2,
             "--close-after cannot be combined with --reset-after"},
        Case{{"-U", "/no/such/folder/socket"}, 1, "/no/such/folder/socket"},
        Case{{"--tls", "--cert", README, "--cacert", "/no", "0"}, 58, README},
        Case{{"--max-conns", "0", "0"}, 2, "is not a number from 1"},
        Case{{"--threads", "0", "0"}, 2, "is not a number from 1 to 1024, or auto"},
        Case{{"--threads", "2", "-U", "x"}, 2, "--threads needs a port"},
        Case{{"-U", ""}, 2, "-U needs a non-empty argument"},
        Case{{"--self-signed", "--cacert", "", "0"}, 2, "--cacert needs a non-empty argument"},
        Case{{":0"}, 2, "an address is missing"},
        Case{{"-f", "len4", "--max-buffer", "3", "0"}, 2, "--max-buffer is too small"},
        Case{{"--banner", "four", "--max-buffer", "3", "0"}, 2, "--max-buffer is too small"},
        Case{{"--tls", "--cert", "/no/such/file", "0"}, 58, "/no/such/file"});
    std::vector<std::string> command{yodeld};
    command.insert(command.end(), each.arguments.begin(), each.arguments.end());
    const Outcome outcome = run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == each.status);
    CHECK(contains(outcome.errors, each.sentence));
}

TEST_CASE("a port in use is named") {
    Server other;
    const Outcome outcome =
        run({yodeld, "--threads", server_threads(GENERATE("1", "2")), other.port()});
    CHECK(outcome.status == 1);
    CHECK(outcome.errors ==
          "yodeld: cannot listen on 127.0.0.1:" + other.port() + ": Address already in use\n");
}
