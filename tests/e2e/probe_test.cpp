// Connections and handshakes without messages, one or many.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <cstdint>
#include <fstream>
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

Words probe(const std::string& port, const Words& options,
            const std::string& program = yodel_load) {
    Words words{program, "-z"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"127.0.0.1", port});
    return words;
}

// Returns the number of a member in the last object of the output.
std::uint64_t member(const Outcome& outcome, const std::string& name) {
    const std::size_t place = outcome.output.rfind("\"" + name + "\":");
    REQUIRE(place != std::string::npos);
    return std::stoull(outcome.output.substr(place + name.size() + 3));
}

}  // namespace

TEST_CASE("a probe of many connections closes each as soon as it is open") {
    Server server;
    const Words more = GENERATE(Words{}, Words{"--connect-rate", "2k"}, Words{"--threads", "2"},
                                Words{"-v"}, Words{"--quiet"});
    Words options{"--connections", "20"};
    options.insert(options.end(), more.begin(), more.end());
    const Outcome outcome = run(probe(server.port(), options), "unread\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, "yodel-load: 20 connections opened, 0 failed, "));
    CHECK(contains(outcome.errors, "/s; connect p50/p99/max "));
    CHECK(contains(outcome.errors, "yodel-load: connection 2: closed") ==
          (more == Words{"-v"}));
    CHECK(!contains(outcome.errors, "standard input"));
    CHECK(!contains(outcome.errors, "sent"));
}

TEST_CASE("a probe of one connection counts as one of many") {
    Server server;
    const Outcome outcome = run(probe(server.port(), {"--json"}, GENERATE(yodel, yodel_load)));
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.output, "\"probe\":true"));
    CHECK(member(outcome, "duration_us") > 0);
    CHECK(member(outcome, "opened") == 1);
}

TEST_CASE("a probe with a length keeps its connections open, or replaces them") {
    Server server;
    const bool replaces = GENERATE(false, true);
    Words options{"--connections", "5", "-m", "300ms", "--json"};
    if (replaces) options.insert(options.end(), {"--churn", "20ms"});
    const Outcome outcome = run(probe(server.port(), options));
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.output, "\"probe\":true"));
    CHECK(!contains(outcome.output, "\"handshakes_full\""));
    CHECK(member(outcome, "opened") == member(outcome, "attempts"));
    CHECK((member(outcome, "opened") > 5) == replaces);
}

TEST_CASE("full and resumed handshakes are counted apart", "[slow]") {
    Certificates certificates;
    certificates.issue("good", "IP:127.0.0.1");
    const std::string version = GENERATE("1.2", "1.3");
    Words options{"--connections", "1",      "-m",       "500ms",
                  "--churn",       "10ms",   "--tls",    "--tls-max",
                  version,         "--json", "--cacert", certificates.authority()};
    const bool without = GENERATE(false, true);
    if (without) options.push_back("--no-sessionid");
    const auto check = [&](const std::string& port, bool resumes) {
        const Outcome outcome = run(probe(port, options));
        CAPTURE(version, outcome.output, outcome.errors);
        CHECK(outcome.status == 0);
        const std::uint64_t opened = member(outcome, "opened");
        CHECK(opened > 2);
        CHECK(member(outcome, "handshakes_full") == (resumes ? 1 : opened));
        CHECK(member(outcome, "handshakes_resumed") == (resumes ? opened - 1 : 0));
        CHECK(contains(outcome.errors, resumes ? ", 1 full, " : ", 0 resumed"));
    };
    SECTION("yodeld") {
        const Server server(certificates.server_options("good"));
        check(server.port(), !without);
    }
    const Words s_server{"openssl",
                         "s_server",
                         "-quiet",
                         "-accept",
                         "127.0.0.1:PORT",
                         "-cert",
                         certificates.file("good.pem"),
                         "-key",
                         certificates.file("good.key")};
    SECTION("openssl s_server") {
        Peer peer(s_server);
        check(peer.port(), !without);
    }
    SECTION("openssl s_server without tickets") {
        Words words = s_server;
        words.insert(words.end(), {"-num_tickets", "0", "-no_ticket", "-no_cache"});
        Peer peer(words);
        check(peer.port(), false);
    }
}

TEST_CASE("all replaced connections of a probe resume, on each thread") {
    const Server server({"--self-signed", "--tls"});
    const std::string threads = GENERATE("1", "2");
    const Outcome outcome =
        run(probe(server.port(), {"--connections", "8", "--threads", threads, "--tls", "-k",
                                  "-m", "500ms", "--churn", "10ms", "--json", "--require",
                                  "handshakes_full=8,handshakes_resumed>0%,failed<1%,rate>1,"
                                  "connect_p99<1m,handshake_p99<1m"}));
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "the certificate is self-signed"));
}

TEST_CASE("requirements on a probe decide its status, also after merging") {
    Server server({"--self-signed", "--tls"});
    const test::Folder folder;
    const Words tls{"--tls", "-k", "--json", "--connections", "3"};
    for (const std::string name : {"a", "b"}) {
        const Outcome outcome = run(probe(server.port(), tls));
        CAPTURE(outcome.errors);
        REQUIRE(outcome.status == 0);
        std::ofstream(folder.path(name)) << outcome.output;
    }
    const auto merge = [&](const std::string& requirement) {
        return run({yodel_load, "--merge", folder.path("a"), folder.path("b"), "--require",
                    requirement});
    };
    const Outcome sum = merge("handshakes_full=100%,opened=6,handshake_p99<1m");
    CAPTURE(sum.output, sum.errors);
    CHECK(sum.status == 0);
    CHECK(contains(sum.output, ": 6 connections opened, 0 failed, "));
    CHECK(contains(sum.output, ", 6 full, 0 resumed"));
    const Outcome bad = merge("handshakes_resumed>50%,handshake_p99<1us,sent>0,p99<1s");
    CHECK(bad.status == 1);
    CHECK(contains(bad.errors, "required handshakes_resumed>50%, was 0%"));
    CHECK(contains(bad.errors, "required handshake_p99<1us, was "));
    CHECK(contains(bad.errors, "required sent>0, was 0"));
    CHECK(contains(bad.errors, "required p99<1s, but no reply was timed"));
    const Words plain{"--connections", "2", "--require", "handshakes_full=0"};
    CHECK(contains(run(probe(Server().port(), plain)).errors,
                   "required handshakes_full=0, but there was no TLS handshake"));
}

TEST_CASE("failed connections decide the status of a probe") {
    const std::string refused = std::to_string(test::free_port());
    const Outcome outcome = run(probe(refused, {"--connections", "3"}));
    CHECK(outcome.status == 7);
    CHECK(contains(outcome.errors, "Connection refused (3 times)\n"));
    CHECK(contains(outcome.errors, "yodel-load: 0 connections opened, 3 failed\n"));
    Server plain;
    CHECK(run(probe(plain.port(), {"--connections", "3", "--tls", "-k"})).status == 35);
    Server tls({"--self-signed", "--tls"});
    CHECK(run(probe(tls.port(), {"--connections", "3", "--tls"})).status == 60);
    Server impatient({"--idle-timeout", "50ms"});
    const Outcome closed = run(probe(impatient.port(), {"--connections", "3", "-m", "1m"}));
    CHECK(closed.status == 56);
    CHECK(contains(closed.errors,
                   "yodel-load: the server closed before the end of the run (3 times)\n"));
}

TEST_CASE("connections that a probe begins just before its end may still open") {
    Server server({"--self-signed", "--tls"});
    const Outcome outcome = run(probe(server.port(), {"--connections", "2000", "--connect-rate",
                                                      "500", "-m", "200ms", "--tls", "-k"}));
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, " connections opened, 0 failed, "));
}

TEST_CASE("a server that answers no handshake fails a probe at the end of its length") {
    Server deaf({"--drop", "1", "-f", "line"});
    const Outcome outcome =
        run(probe(deaf.port(), {"--connections", "2", "--tls", "-k", "-m", "200ms"}));
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 28);
    CHECK(
        contains(outcome.errors, "no connection within 200ms (--max-time): still in the TLS"));
}

TEST_CASE("a probe tries again until its first connection opens") {
    const std::string port = std::to_string(test::free_port());
    const bool many = GENERATE(false, true);
    Words options{"--retry", "forever", "--retry-delay", "10ms"};
    if (many) options.insert(options.end(), {"--connections", "2", "-v"});
    Process client(probe(port, options, many ? yodel_load : yodel));
    REQUIRE(client.wait_for_errors("retry in"));
    Process server({yodeld, port});
    CHECK(client.wait_exit() == 0);
    CHECK(contains(client.errors(), "connected to 127.0.0.1:" + port));
}

TEST_CASE("a probe shows its progress in a line, or on a page") {
    Server server({"--self-signed", "--tls"});
    Words options{"--connections", "3", "-m", "1s", "--churn", "50ms", "--tls", "-k"};
    const bool page = GENERATE(false, true);
    if (!page) options.push_back("--no-tui");
    Tty tty({.arguments = probe(server.port(), options)});
    if (page) {
        REQUIRE(tty.wait_for(" full handshakes, "));
        REQUIRE(tty.wait_for("connections opened\n"));
        REQUIRE(tty.wait_for("handshake   p50 "));
        REQUIRE(tty.wait_for("handshakes in ms"));
    } else {
        REQUIRE(tty.wait_for(" open, "));
        REQUIRE(tty.wait_for(" connections opened, 0 failed, handshake p50 "));
    }
    CHECK(tty.wait_exit() == 0);
    CHECK(contains(tty.row(0), " connections opened, 0 failed, "));
}

TEST_CASE("a probe prints its counts each second as JSON") {
    Server server({"--self-signed", "--tls"});
    const Outcome outcome =
        run(probe(server.port(), {"--connections", "2", "-m", "1200ms", "--churn", "10ms",
                                  "--tls", "-k", "--json"}));
    CAPTURE(outcome.output);
    CHECK(contains(outcome.output, "{\"type\":\"interval\",\"t\":1,\"open\":"));
    CHECK(
        contains(outcome.output,
                 ",\"failed\":0,\"starved\":0,\"handshakes_full\":2,\"handshakes_resumed\":"));
    CHECK(contains(outcome.output, ",\"handshake_us\":{\"p50\":"));
    CHECK(!contains(outcome.output, "\"type\":\"connection\""));
}
