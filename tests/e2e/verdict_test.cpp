// Verdicts on runs: requirements, and sums of runs.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <csignal>
#include <fstream>
#include <regex>

using test::contains;
using test::contents;
using test::Folder;
using test::Outcome;
using test::Process;
using test::run;
using test::Server;
using test::yodel;
using test::yodel_load;

namespace {

// Runs a program with --json, and writes its output to a file.
std::string recorded(const Folder& folder, const std::string& name,
                     std::vector<std::string> arguments,
                     const std::string& program = yodel_load) {
    arguments.insert(arguments.begin(), {program, "--json"});
    const std::string path = folder.path(name);
    std::ofstream(path) << run(arguments).output;
    return path;
}

std::string figure(const std::string& text, const std::string& name) {
    const std::size_t begin = text.find("\"" + name + "\":");
    REQUIRE(begin != text.npos);
    return text.substr(begin, text.find_first_of(",}", begin) - begin);
}

std::string histogram(const std::string& text) {
    const std::size_t begin = text.rfind("\"histogram\":");
    REQUIRE(begin != text.npos);
    return text.substr(begin, text.find("]]", begin) - begin);
}

}  // namespace

TEST_CASE("a failed requirement gives a sentence and status 1, in each form") {
    const std::vector<std::string> form =
        GENERATE(std::vector<std::string>{"-c", "3", "-i", "0"},
                 std::vector<std::string>{"-c", "3", "-i", "0", "--json"},
                 std::vector<std::string>{"-c", "3", "-i", "0", "--quiet"},
                 std::vector<std::string>{}, std::vector<std::string>{"-f", "raw", "--quiet"});
    std::vector<std::string> command{yodel_load, "--require", "lost=0,p99<1us,sent>0,bad>=1%"};
    command.insert(command.end(), form.begin(), form.end());
    const Outcome outcome = run(command, "a\nb\nc\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 1);
    const std::regex late("yodel-load: required p99<1us, was [0-9.]+m?s\n");
    CHECK(std::regex_search(outcome.errors, late));
    CHECK(contains(outcome.errors, "yodel-load: required bad>=1%, was 0%\n"));
    CHECK_FALSE(contains(outcome.errors, "required sent"));
    if (contains(outcome.output, "\"type\":\"end\""))
        CHECK(contains(outcome.output, "\"status\":1,"));
}

TEST_CASE("requirements that hold change nothing") {
    const Outcome outcome = run(
        {yodel_load, "-c", "3", "-i", "1ms", "--require", "p99<1m,lost<0.1%,rate>1,failed=0"});
    CHECK(outcome.status == 0);
    CHECK_FALSE(contains(outcome.errors, "required"));
}

TEST_CASE("a failed connection keeps its status, even if requirements fail as well") {
    const Outcome outcome =
        run({yodel_load, "-c", "1", "--require", "p99<5ms", "127.0.0.1", "1"});
    CHECK(outcome.status == 7);
    CHECK(contains(outcome.errors, "required p99<5ms, but no reply was timed"));
}

TEST_CASE("a requirement about losses replaces the rule that none are allowed") {
    Server server({"--drop", "0.2", "-f", "line"});
    std::vector<std::string> command{yodel_load, "-c", "100", "-i", "0", "-W", "200ms"};
    if (GENERATE(false, true)) command.insert(command.end(), {"--connections", "3"});
    const auto [requirements, status] = GENERATE(table<std::string, int>(
        {{"sent>0", 1}, {"lost<60%", 0}, {"lost<60%,bad=0", 0}, {"lost<1%", 1}}));
    command.insert(command.end(), {"--require", requirements, "127.0.0.1", server.port()});
    const Outcome outcome = run(command);
    CAPTURE(requirements, outcome.errors);
    CHECK(outcome.status == status);
    CHECK(contains(outcome.errors, "100 sent, "));
}

TEST_CASE("a requirement on something that did not occur fails, and no other does") {
    const std::string holds =
        "unsent=0,unsolicited=0,duplicates=0,connect_p99<1m,opened=1,late=0";
    const Outcome outcome =
        run({yodel_load, "-c", "20", "-i", "1ms", "--require", holds + ",handshake_p50<1s"});
    CHECK(outcome.status == 1);
    CHECK(outcome.errors.ends_with(
        "\nyodel-load: required handshake_p50<1s, but there was no handshake\n"));
    CHECK(outcome.errors.find("required ") == outcome.errors.rfind("required "));
}

TEST_CASE("runs are added up without a connection") {
    const Folder folder;
    std::vector<std::string> command{yodel_load, "--merge"};
    for (const char* name : {"a", "b"}) command.push_back(recorded(folder, name, {"-c", "50"}));
    command.push_back(recorded(folder, "c", {"-c", "50", "-i", "0"}, yodel));
    const Outcome text = run(command);
    CHECK(text.status == 0);
    CHECK(text.output.starts_with("3 runs, began within "));
    CHECK(contains(text.output, " ms, overlap 0 %: 150 sent, 150 echoed, "));
    CHECK(text.errors.starts_with("yodel-load: " + command[2] +
                                  " began 0ms after the first run and "));
    command.insert(command.begin() + 1, "--json");
    const Outcome json = run(command);
    CHECK(json.output.starts_with(R"({"type":"end","reason":"3 runs merged","status":0,)"
                                  R"("sent":150,"echoed":150,)"));
    CHECK(contains(
        json.output,
        R"("connections":{"attempts":3,"opened":3,"failed":0,"starved":0,"connect_us":{)"));
    CHECK(contains(json.output, R"("tcp":{"min_rtt_us":)") == test::system_measures_network());
}

TEST_CASE("the sum of one run is that run, bucket for bucket, and sums can be merged") {
    const Folder folder;
    const std::string one = recorded(folder, "one", {"-c", "500"});
    const std::string two = recorded(folder, "two", {"-c", "500"});
    const std::string sum = run({yodel_load, "--json", "--merge", one}).output;
    CHECK(histogram(sum) == histogram(contents(one)));
    for (const char* name : {"rate", "duration_us", "mean", "sum", "min", "p99.9"})
        CHECK(figure(sum.substr(sum.find("\"rate\"")), name) ==
              figure(contents(one).substr(contents(one).find("\"rate\"")), name));
    std::ofstream(folder.path("sum")) << sum;
    CHECK(histogram(run({yodel_load, "--json", "--merge", folder.path("sum"), two}).output) ==
          histogram(run({yodel_load, "--json", "--merge", two, one}).output));
}

TEST_CASE("requirements apply to a sum") {
    const Folder folder;
    const std::string one = recorded(folder, "one", {"-c", "50"});
    const std::string failed = recorded(folder, "failed", {"-c", "1", "127.0.0.1", "1"});
    const Outcome outcome = run({yodel_load, "--merge", one, "--require", "sent>50"});
    CHECK(outcome.status == 1);
    CHECK(outcome.errors == "yodel-load: required sent>50, was 50\n");
    const Outcome with_failure =
        run({yodel_load, "--merge", one, failed, "--require", "sent>50"});
    CHECK(with_failure.status == 7);
    CHECK(with_failure.errors.starts_with("yodel-load: " + failed +
                                          " contains a run that sent nothing\n"));
    CHECK(contains(with_failure.errors, "\nyodel-load: cannot connect to 127.0.0.1:1: "));
}

TEST_CASE("the end object names the signal that ended the run") {
    const auto [program, object] = GENERATE(table<std::string, std::string>(
        {{yodel, "\"message\""}, {yodel_load, "\"interval\""}}));
    Process stopped({program, "--json", "-i", "1ms"});
    REQUIRE(stopped.wait_for_output(object));
    stopped.kill(SIGTERM);
    CHECK(stopped.wait_exit() == 128 + SIGTERM);
    CHECK(contains(stopped.output(), "\"reason\":\"ended by SIGTERM\",\"status\":143,"));
}

TEST_CASE("the end object names the failed requirement, also after merging") {
    const Outcome judged = run({yodel_load, "--json", "-c", "4", "--require", "sent=5"});
    const std::string reason = "\"reason\":\"required sent=5, was 4\",\"status\":1,";
    CHECK(contains(judged.output, reason));
    CHECK(
        contains(judged.output, R"("required":[{"clause":"sent=5","was":"4","holds":false}])"));
    const Folder folder;
    const std::string file = folder.path("end");
    std::ofstream(file) << judged.output;
    CHECK(contains(run({yodel_load, "--json", "--merge", file, "--require", "sent=5"}).output,
                   reason));
    const Outcome sum = run({yodel_load, "--json", "--merge", file, "--require", "sent=4"});
    CHECK(contains(sum.output, "\"reason\":\"1 run merged\",\"status\":1,"));
}

TEST_CASE("a file that is named twice is refused, even by different names") {
    const Folder folder;
    const std::string one = recorded(folder, "one", {"-c", "5"});
    const std::string other = folder.path("./one");
    const Outcome outcome = run({yodel_load, "--merge", one, other});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors,
                   "yodel-load: --merge: " + one + " and " + other + " are the same file"));
}

TEST_CASE("the signal that ended a run is not the status of a sum") {
    const Folder folder;
    const std::string one = recorded(folder, "one", {"-c", "5"});
    std::string text = contents(one);
    text.replace(text.find("\"status\":0"), 10, "\"status\":130");
    std::ofstream(folder.path("ended")) << text;
    const Outcome outcome = run({yodel_load, "--json", "--merge", one, folder.path("ended")});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.output, "\"status\":1,"));
}

TEST_CASE("a file without a whole run gives one sentence and status 2, and nothing starts") {
    const Folder folder;
    const std::string whole = recorded(folder, "whole", {"-c", "5", "-i", "0"}, yodel);
    const std::string text = contents(whole);
    std::ofstream(folder.path("cut")) << text.substr(0, text.size() - 30);
    std::ofstream(folder.path("none")) << text.substr(0, text.find('\n') + 1);
    const auto [name, sentence] = GENERATE(table<std::string, std::string>(
        {{"cut", ": line 7 is truncated"},
         {"none", ": no end object found (expected --json output)"}}));
    const std::string path = folder.path(name);
    const Outcome outcome = run({yodel_load, "--merge", path});
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(outcome.errors == "yodel-load: --merge: " + path + sentence + "\n");
}
