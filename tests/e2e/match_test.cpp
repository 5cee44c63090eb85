// Replies that are judged by regular expressions.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <fstream>

using test::contains;
using test::Outcome;
using test::Peer;
using test::run;
using test::yodel;
using test::yodel_load;

namespace {

const std::string commands = "SET a one\x1b[31m\nGET a\nDEL a\n";

std::vector<std::string> store(const std::string& option = "") {
    std::vector<std::string> words{"python3", test::peers + "/key_value.py", "PORT"};
    if (!option.empty()) words.push_back(option);
    return words;
}

Outcome run_with(std::vector<std::string> words, const std::string& port) {
    words.insert(words.end(), {"127.0.0.1", port});
    return run(words, commands);
}

}  // namespace

TEST_CASE("a reply that does not match is bad in each kind of run") {
    const std::vector<std::string> options = GENERATE(values<std::vector<std::string>>({
        {yodel},
        {yodel, "--retry", "1", "-v"},
        {yodel, "-u"},
        {yodel_load},
        {yodel_load, "--messages", "-", "-c", "3"},
        {yodel_load, "--messages", "-", "-c", "3", "-u"},
        {yodel_load, "--messages", "-", "-c", "3", "--rate", "1k"},
        {yodel_load, "--messages", "-", "-c", "3", "--threads", "auto"},
    }));
    const bool datagrams = std::count(options.begin(), options.end(), "-u") > 0;
    Peer peer(store(datagrams ? "udp" : ""));
    std::vector<std::string> words = options;
    words.insert(words.end(), {"--match", "^(OK|NONE)$"});
    const Outcome outcome = run_with(words, peer.port());
    CAPTURE(options, outcome.output, outcome.errors);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, ": reply 2 does not match \"^(OK|NONE)$\": one^[[31m\n"));
    CHECK(contains(outcome.errors, "3 sent, 2 answered, 1 bad, 0 lost"));
    words.back() = "^(OK|NONE|one.*)$";
    CHECK(run_with(words, peer.port()).status == 0);
}

TEST_CASE("JSON contains the verdict on a reply that does not match, but no difference") {
    Peer peer(store());
    const Outcome outcome = run_with({yodel, "--match", "^(OK|NONE)$", "--json"}, peer.port());
    CAPTURE(outcome.output, outcome.errors);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.output, R"("fate":"bad","right":false})"));
    CHECK(contains(outcome.output, R"("echoed":2,"bad":1,"lost":0)"));
}

TEST_CASE("a tolerance applies to replies that do not match") {
    Peer peer(store());
    CHECK(run_with({yodel_load, "--match", "^OK", "--require", "bad=1"}, peer.port()).status ==
          0);
    CHECK(run_with({yodel_load, "--match", "^OK", "--require", "bad<1"}, peer.port()).status ==
          1);
}

TEST_CASE("only the beginning of a long reply is examined, as the sentence reports") {
    Peer peer({"python3", test::peers + "/scripted.py", "PORT", "line",
               "send:" + std::string(5000, 'a') + "b\\n", "wait"});
    const Outcome outcome = run({yodel, "--match", "b", "127.0.0.1", peer.port()}, "x\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.errors, "does not match \"b\": " + std::string(64, 'a') +
                                       "...; only its first 4096 bytes were examined\n"));
}

TEST_CASE("a replay ignores the parts of replies that a mask matches") {
    const auto server = [](const std::string& first, const std::string& second) {
        return std::vector<std::string>{
            "python3", test::peers + "/scripted.py", "PORT", "line", "send:" + first + "\\n",
            "line",    "send:" + second + "\\n",     "wait"};
    };
    Peer before(server("at 12:00:01 ok", "id=a7 done"));
    const Outcome recorded =
        run({yodel, "--json", "--payload", "--expect", "any", "127.0.0.1", before.port()},
            "TIME\nJOB\n");
    REQUIRE(recorded.status == 0);
    const test::Folder folder;
    const std::string file = folder.path("r.json");
    std::ofstream(file) << recorded.output;
    Peer after(server("at 9:30:00 ok", "id=bcd failed"));
    const auto replay = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {yodel, "--replay", file, "--fast"});
        words.insert(words.end(), {"127.0.0.1", after.port()});
        return run(words);
    };
    CHECK(contains(replay({}).errors, "2 replayed, 0 matched, 2 different, 0 lost"));
    const Outcome one = replay({"--mask", "[0-9]+:[0-9]{2}:[0-9]{2}"});
    CHECK(contains(one.errors, "2 replayed, 1 matched, 1 different, 0 lost"));
    CHECK(contains(one.output, "reply 2 differs at byte 3 (a, got b)\n"));
    const Outcome two =
        replay({"--mask", "[0-9]+:[0-9]{2}:[0-9]{2}", "--mask", "id=[a-z0-9]+"});
    CHECK(contains(two.output, "reply 2 differs at byte 7 (d, got f)\n"
                               "    sent      JOB\n"
                               "    recorded  id=a7 done\n"
                               "    now       id=bcd failed\n"));
    const Outcome all =
        replay({"--mask", ":[0-9]{2}|at [0-9]+", "--mask", "id=[a-z0-9]+ [a-z]+"});
    CAPTURE(all.output, all.errors);
    CHECK(all.status == 0);
    CHECK(contains(all.errors, "2 replayed, 2 matched, 0 different, 0 lost"));
}

TEST_CASE("a mask needs a recording whose replies have frames") {
    const test::Folder folder;
    const std::string file = folder.path("r.json");
    test::Server server({"-f", "caret"});
    std::ofstream(file) << run({yodel, "--json", "--payload", "-f", "caret", "127.0.0.1",
                                server.port()},
                               "abc\n")
                               .output;
    CHECK(run({yodel, "--replay", file, "--mask", "x", "127.0.0.1", "1"}).errors ==
          "yodel: --mask cannot be combined with -f caret of " + file +
              ", whose replies have no frames (yodel -h shows the options)\n");
}
