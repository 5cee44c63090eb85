// Replies that are judged by regular expressions.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using test::contains;
using test::Outcome;
using test::Peer;
using test::run;
using test::yodel;

namespace {

const std::string commands = "SET a one\x1b[31m\nGET a\nDEL a\n";

std::vector<std::string> store(const std::string& option = "") {
    std::vector<std::string> words{"python3", test::peers + "/key_value.py", "PORT"};
    if (!option.empty()) words.push_back(option);
    return words;
}

Outcome run_with(const std::vector<std::string>& options, const std::string& port) {
    std::vector<std::string> words{yodel};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"127.0.0.1", port});
    return run(words, commands);
}

}  // namespace

TEST_CASE("a reply that does not match is bad in each kind of run") {
    const std::vector<std::string> options = GENERATE(values<std::vector<std::string>>({
        {},
        {"--retry", "1", "-v"},
        {"-u"},
        {"--messages", "-", "-c", "3", "-i", "0"},
        {"--messages", "-", "-c", "3", "-i", "0", "-u"},
        {"--messages", "-", "-c", "3", "--rate", "1k"},
        {"--messages", "-", "-c", "3", "--threads", "auto"},
        {"--connections", "1"},
    }));
    const bool datagrams = std::count(options.begin(), options.end(), "-u") > 0;
    Peer peer(store(datagrams ? "udp" : ""));
    std::vector<std::string> words{"--match", "^(OK|NONE)$"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run_with(words, peer.port());
    CAPTURE(options, outcome.output, outcome.errors);
    CHECK(outcome.status == 1);
    CHECK(
        contains(outcome.errors, "yodel: reply 2 does not match \"^(OK|NONE)$\": one^[[31m\n"));
    CHECK(contains(outcome.errors, "3 sent, 2 answered, 1 bad, 0 lost"));
    words[1] = "^(OK|NONE|one.*)$";
    CHECK(run_with(words, peer.port()).status == 0);
}

TEST_CASE("JSON contains the verdict on a reply that does not match, but no difference") {
    Peer peer(store());
    const Outcome outcome = run_with({"--match", "^(OK|NONE)$", "--json"}, peer.port());
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.output, R"("verdict":"wrong","right":false})"));
    CHECK(contains(outcome.output, R"("echoed":2,"bad":1,"lost":0)"));
}

TEST_CASE("a tolerance applies to replies that do not match") {
    Peer peer(store());
    CHECK(run_with({"--match", "^OK", "--require", "bad=1"}, peer.port()).status == 0);
    CHECK(run_with({"--match", "^OK", "--require", "bad<1"}, peer.port()).status == 1);
}

TEST_CASE("only the beginning of a long reply is examined, and the sentence says so") {
    Peer peer({"python3", test::peers + "/scripted.py", "PORT", "line",
               "send:" + std::string(5000, 'a') + "b\\n", "wait"});
    const Outcome outcome = run({yodel, "--match", "b", "127.0.0.1", peer.port()}, "x\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "does not match \"b\": " + std::string(64, 'a') +
                                       "...; only its first 4096 bytes were examined\n"));
}
