// The sandbox that the programs enter.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <unistd.h>

using test::contains;
using test::Folder;
using test::Outcome;
using test::Process;
using test::run;
using test::Server;
using test::Tty;
using test::yodel;
using test::yodel_load;
using test::yodeld;

namespace {

// Returns the state as -v reports it, without the rest of the line.
std::string state() {
    const Outcome outcome = run({yodel, "-v"}, "");
    const std::string mark = "yodel: sandbox: ";
    const std::size_t begin = outcome.errors.find(mark);
    REQUIRE(begin != std::string::npos);
    const std::size_t end = outcome.errors.find('\n', begin);
    return outcome.errors.substr(begin + mark.size(), end - begin - mark.size());
}

}  // namespace

TEST_CASE("each program reports its sandbox with -v, or why it has none") {
    const std::string found = state();
    CHECK((found.starts_with("landlock ") || found.starts_with("none: ")));
    CHECK(contains(run({yodel_load, "-v"}, "").errors, "yodel-load: sandbox: " + found + "\n"));
    Server server({"-v"});
    CHECK(server.process().wait_for_errors("yodeld: sandbox: " + found + "\n"));
    CHECK(contains(run({yodel, "-v", "--no-sandbox"}, "").errors,
                   "yodel: sandbox: none: --no-sandbox\n"));
    CHECK(contains(run({yodel_load, "-v", "--no-sandbox"}, "").errors,
                   "yodel-load: sandbox: none: --no-sandbox\n"));
    Server without({"-v", "--no-sandbox"});
    CHECK(without.process().wait_for_errors("yodeld: sandbox: none: --no-sandbox\n"));
}

TEST_CASE("the page of the connection shows the client's sandbox") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("\x1bi");
    CHECK(tty.wait_for("sandbox     " + state()));
}

#ifdef PAYLOAD

namespace {

// Returns the version of the system's Landlock; 0: none.
int landlock() {
    const std::string found = state();
    return found.starts_with("landlock ") ? std::stoi(found.substr(9)) : 0;
}

// The targets of a payload in a program: another server to reach, and a file to make.
struct PayloadTargets {
    std::vector<std::string> command(const std::vector<std::string>& program) const {
        std::vector<std::string> all{"env", "LD_PRELOAD=" PAYLOAD, "PAYLOAD_FILE=" + file,
                                     "PAYLOAD_PORT=" + elsewhere.port()};
        all.insert(all.end(), program.begin(), program.end());
        return all;
    }
    Folder folder;
    const std::string file = folder.path("made");
    Server elsewhere;
};

// `ports`: the sandbox also limits ports.
void check(const std::string& errors, const PayloadTargets& targets, bool sandbox, bool ports) {
    CHECK_FALSE((sandbox && contains(errors, "payload executes: done\n")));
    const std::string verdict = sandbox ? "Permission denied" : "done";
    CHECK(contains(errors, "payload executes: " + verdict + "\n"));
    CHECK(contains(errors, "payload writes: " + verdict + "\n"));
    CHECK(contains(errors, ports || !sandbox ? "payload connects: " + verdict + "\n"
                                             : "payload connects: done\n"));
    CHECK((::access(targets.file.c_str(), F_OK) != 0) == sandbox);
}

}  // namespace

TEST_CASE("a payload in a client executes, writes and reaches nothing, but without sandbox") {
    const int version = landlock();
    if (version == 0) return;
    const bool sandbox = GENERATE(true, false);
    std::vector<std::string> program =
        GENERATE(std::vector<std::string>{yodel}, std::vector<std::string>{yodel, "--json"},
                 std::vector<std::string>{yodel_load, "--connections", "2"});
    Server server;
    const PayloadTargets targets;
    program.insert(program.end(), {"127.0.0.1", server.port()});
    if (!sandbox) program.emplace_back("--no-sandbox");
    const Outcome outcome = run(targets.command(program), "PAYLOAD\n");
    CAPTURE(outcome.errors, program);
    CHECK(outcome.status == 0);
    check(outcome.errors, targets, sandbox, version >= 4);
}

TEST_CASE("a payload in the server executes, writes and reaches nothing, but without sandbox") {
    const int version = landlock();
    if (version == 0) return;
    const bool sandbox = GENERATE(true, false);
    const std::vector<std::string> threads =
        GENERATE(std::vector<std::string>{}, std::vector<std::string>{"--threads", "2"});
    const PayloadTargets targets;
    std::vector<std::string> program{yodeld, "127.0.0.1:0"};
    program.insert(program.end(), threads.begin(), threads.end());
    if (!sandbox) program.emplace_back("--no-sandbox");
    Process server(targets.command(program));
    REQUIRE(server.wait_for_output("\n"));
    const std::string address = server.output().substr(10, server.output().find('\n') - 10);
    for (int i = 0; i < 8; ++i)  // so that each thread gets a connection
        CHECK(run({yodel, address}, "PAYLOAD\n").status == 0);
    REQUIRE(server.wait_for_errors("payload connects: "));
    CHECK(server.wait_for_errors("\n"));
    server.kill(SIGTERM);
    CHECK(server.wait_exit() == 0);
    CAPTURE(server.errors(), threads);
    check(server.errors(), targets, sandbox, version >= 4);
}

#endif
