// Conversations recorded with a server in Python, and replayed to it and to others.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <csignal>
#include <fstream>
#include <sstream>
#include <utility>

using test::contains;
using test::Outcome;
using test::Peer;
using test::run;
using test::yodel;

namespace {

const std::string commands = "SET a one\nGET a\nDEL a\nGET a\nSET b \x1b[31m\xff\nGET b\n";

std::vector<std::string> store(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"python3", test::peers + "/key_value.py", "PORT"});
    return options;
}

std::string contents(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(name).rdbuf();
    return text.str();
}

// Records the commands in a file.
class Recorded {
public:
    explicit Recorded(const std::vector<std::string>& target) {
        std::vector<std::string> words{yodel, "--json", "--payload", "--expect", "any"};
        words.insert(words.end(), target.begin(), target.end());
        const Outcome outcome = run(words, commands);
        CAPTURE(outcome.errors);
        REQUIRE(outcome.status == 0);
        std::ofstream(file) << outcome.output;
    }
    test::Folder folder;
    const std::string file = folder.path("r.json");
};

Outcome replay(const std::string& file, const std::vector<std::string>& rest) {
    std::vector<std::string> words{yodel, "--replay", file};
    words.insert(words.end(), rest.begin(), rest.end());
    return run(words, "this is not read\n");
}

}  // namespace

TEST_CASE("a replay repeats a conversation, and detects a server that has changed") {
    Peer peer(store());
    const Recorded recorded({"127.0.0.1", peer.port()});
    const Outcome same = replay(recorded.file, {"127.0.0.1", peer.port()});
    CAPTURE(same.errors);
    CHECK(same.status == 0);
    CHECK(same.output.empty());
    CHECK(contains(same.errors, "6 replayed, 6 matched, 0 different, 0 lost"));
    Peer broken(store({"broken"}));
    const Outcome other = replay(recorded.file, {"--fast", "127.0.0.1", broken.port()});
    CHECK(other.status == 1);
    CHECK(contains(other.output, "reply 2 differs at byte 0 (o, got O)\n"
                                 "    sent      GET a\n"
                                 "    recorded  one\n"
                                 "    now       ONE\n"));
    CHECK(contains(other.errors, "6 replayed, 4 matched, 2 different, 0 lost"));
    const Outcome hex = replay(recorded.file, {"--fast", "-x", "127.0.0.1", broken.port()});
    CHECK(contains(hex.output, "    00000000  4f 4e 45 "));
}

TEST_CASE("a replay detects a server that answers nothing or too much") {
    Peer peer(store());
    const Recorded recorded({"127.0.0.1", peer.port()});
    Peer silent(store({"silent"}));
    const Outcome lost =
        replay(recorded.file, {"--fast", "-W", "0.2", "127.0.0.1", silent.port()});
    CHECK(lost.status == 1);
    CHECK(contains(lost.errors, "6 replayed, 3 matched, 0 different, 3 lost"));
    Peer ticks(store({"ticks", "greeting", "hello"}));
    const Outcome more = replay(recorded.file, {"--fast", "127.0.0.1", ticks.port()});
    CHECK(more.status == 1);
    CHECK(contains(more.output,
                   "an unsolicited message is not in the recording\n    now       hello\n"));
    CHECK(contains(more.errors, "3 unsolicited not recorded"));
}

TEST_CASE("unsolicited messages must come again") {
    Peer ticks(store({"ticks", "greeting", "hello"}));
    test::Folder folder;
    const std::string file = folder.path("r.json");
    test::Process client(
        {yodel, "--json", "--payload", "--expect", "any", "127.0.0.1", ticks.port()});
    REQUIRE(client.wait_for_output("hello"));
    client.write("SET a one\n");
    REQUIRE(client.wait_for_output("changed a"));
    client.write("GET a\n");
    client.close_input();
    REQUIRE(client.wait_exit() == 0);
    std::ofstream(file) << client.output();
    const Outcome same = replay(file, {"--fast", "127.0.0.1", ticks.port()});
    CAPTURE(same.output, same.errors);
    CHECK(same.status == 0);
    CHECK(contains(same.errors, "2 replayed, 2 matched, 0 different, 0 lost, 2 unsolicited "
                                "matched"));
    Peer quiet(store());
    const Outcome other = replay(file, {"--fast", "-W", "0.2", "127.0.0.1", quiet.port()});
    CHECK(other.status == 1);
    CHECK(contains(other.errors, "2 unsolicited missing"));
}

TEST_CASE("replies of several lines come again in a fast replay") {
    test::Peer peer({"python3", test::peers + "/several_lines.py", "PORT"});
    const Outcome recording =
        run({yodel, "--json", "--payload", "--expect", "any", "127.0.0.1", peer.port()},
            "PING\nLIST\nPING\nLIST\nTIME\n");
    REQUIRE(recording.status == 0);
    test::Folder folder;
    const std::string file = folder.path("r.json");
    std::ofstream(file) << recording.output;
    const Outcome again = replay(file, {"--fast", "127.0.0.1", peer.port()});
    CAPTURE(again.output, again.errors);
    CHECK(again.status == 0);
    CHECK(contains(again.errors, "5 replayed, 5 matched, 0 different, 0 lost"));
}

TEST_CASE("a greeting is recorded as unsolicited, not as the first reply") {
    Peer greeting(store({"greeting", "hello"}));
    const Recorded recorded({"127.0.0.1", greeting.port()});
    CHECK(contains(contents(recorded.file), R"("fate":"unsolicited","received_us")"));
    const Outcome same = replay(recorded.file, {"--fast", "127.0.0.1", greeting.port()});
    CAPTURE(same.output);
    CHECK(same.status == 0);
    CHECK(contains(same.errors, "6 matched, 0 different, 0 lost, 1 unsolicited matched"));
    const Outcome slow = run({yodel, "--json", "--payload", "--expect", "any", "-m", "0.3",
                              "127.0.0.1", greeting.port()},
                             commands);
    CHECK(slow.status == 28);
}

TEST_CASE("a replay repeats a conversation over TLS") {
    test::Certificates certificates;
    certificates.issue("server", "DNS:localhost");
    std::vector<std::string> options{"tls", certificates.file("server.pem"),
                                     certificates.file("server.key")};
    Peer peer(store(options));
    const std::vector<std::string> target{"--cacert", certificates.authority(),
                                          "tls://localhost:" + peer.port()};
    const Recorded recorded(target);
    const Outcome same = replay(recorded.file, target);
    CAPTURE(same.errors);
    CHECK(same.status == 0);
    CHECK(contains(same.errors, "6 replayed, 6 matched, 0 different, 0 lost"));
    options.emplace_back("broken");
    Peer broken(store(options));
    const Outcome other = replay(recorded.file, {"--fast", "--cacert", certificates.authority(),
                                                 "tls://localhost:" + broken.port()});
    CHECK(other.status == 1);
    CHECK(contains(other.errors, "6 replayed, 4 matched, 2 different, 0 lost"));
}

TEST_CASE("with -o FILE.json the conversation of a filter is recorded beside its output") {
    Peer peer(store());
    test::Folder folder;
    const std::string file = folder.path("r.json");
    const std::vector<std::string> words{yodel, "--expect",  "any",      "-o",
                                         file,  "127.0.0.1", peer.port()};
    const Outcome outcome = run(words, commands);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.output, "OK\none\nOK\nNONE\n"));
    const Outcome again = replay(file, {"--fast", "127.0.0.1", peer.port()});
    CAPTURE(again.output, again.errors, contents(file));
    CHECK(again.status == 0);
    CHECK(contains(again.errors, "6 replayed, 6 matched, 0 different, 0 lost"));
    const Outcome both = run({yodel, "--json", "--payload", "--expect", "any", "-o",
                              folder.path("same.json"), "127.0.0.1", peer.port()},
                             commands);
    CHECK(both.output == contents(folder.path("same.json")));
    const Outcome full = run(words, commands);
    CHECK(full.status == 23);
    CHECK(contains(full.errors, "cannot write the recording " + file + ": File exists"));
    const Outcome raw = run({yodel, "-f", "raw", "-o", "x.json", "127.0.0.1", peer.port()});
    CHECK(raw.status == 2);
    CHECK(contains(raw.errors, "-o x.json cannot record with -f raw, which has no messages"));
}

TEST_CASE("datagrams are replayed, and matched by the recorded replies") {
    Peer peer(store({"udp"}));
    const Recorded recorded({"udp://127.0.0.1:" + peer.port()});
    const Outcome same = replay(recorded.file, {"-u", "127.0.0.1", peer.port()});
    CAPTURE(same.errors);
    CHECK(same.status == 0);
    CHECK(contains(same.errors, "6 replayed, 6 matched, 0 different, 0 lost"));
    Peer broken(store({"udp", "broken"}));
    const Outcome other = replay(recorded.file, {"--fast", "-u", "127.0.0.1", broken.port()});
    CHECK(other.status == 1);
    CHECK(contains(other.errors, "6 replayed, 4 matched, 2 different, 0 lost"));
    const Outcome stream = replay(recorded.file, {"127.0.0.1", peer.port()});
    CHECK(stream.status == 2);
    CHECK(contains(stream.errors, "was recorded with datagrams (-u), not with -f line"));
}

TEST_CASE("a recording contains one JSON object a line, which jq reads") {
    Peer peer(store());
    const Recorded recorded({"127.0.0.1", peer.port()});
    const std::string python =
        "import json, sys\n"
        "for line in open(sys.argv[1]):\n"
        "    each = json.loads(line)\n"
        "    if 'sent' in each: print(each['sent'] + ' = ' + each.get('received', ''))\n";
    const bool jq = run({"sh", "-c", "command -v jq"}).status == 0;
    const Outcome outcome =
        jq ? run({"jq", "-r", "select(.sent) | .sent + \" = \" + .received", recorded.file})
           : run({"python3", "-c", python, recorded.file});
    CHECK(outcome.output ==
          "SET a one = OK\nGET a = one\nDEL a = OK\nGET a = NONE\nGET b = \n");
    const std::string text = contents(recorded.file);
    CHECK(contains(text, "\"sent_base64\":\"U0VUIGIgG1szMW3/\""));
    CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("a file that is no recording, or cut or edited, is refused in one sentence") {
    Peer peer(store());
    const Recorded recorded({"127.0.0.1", peer.port()});
    const std::string text = contents(recorded.file);
    const std::string file = recorded.folder.path("other.json");
    const auto refusal = [&](const std::string& other) {
        std::ofstream(file) << other;
        const Outcome outcome = replay(file, {"127.0.0.1", peer.port()});
        CHECK(outcome.status == 2);
        CHECK(outcome.output.empty());
        CHECK_FALSE(contains(outcome.errors, "(yodel -h"));
        return outcome.errors.substr(0, outcome.errors.find('\n'));
    };
    const auto edited = [&](const std::string& from, const std::string& to) {
        std::string other = text;
        other.replace(other.find(from), from.size(), to);
        return refusal(other);
    };
    const std::string begin = "yodel: " + file;
    CHECK(refusal("") == begin + ":1: the file is empty");
    CHECK(refusal("SET a one\n") == begin + ":1: the line is not a JSON object");
    CHECK(refusal(text.substr(0, text.size() / 2)).ends_with(": the line is truncated"));
    CHECK(edited("\"version\":2", "\"version\":7") ==
          begin + ":1: the recording has version 7, but only version 2 is supported");
    CHECK(edited("\"sent\":\"GET a\"", "\"sent\":\"GET ab\"") ==
          begin + ":4: \"sent_bytes\" is 5, but the payload has 6 bytes");
    CHECK(replay(recorded.folder.path("none"), {}).status == 26);
    CHECK(replay("/", {}).status == 26);
}

TEST_CASE("options without meaning for a recording are refused") {
    Peer peer(store());
    const Recorded recorded({"127.0.0.1", peer.port()});
    const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
        {{"--payload"}, "--payload needs --json"},
        {{"--json", "--payload", "-f", "raw"}, "--payload cannot be combined with -f raw"},
        {{"--fast"}, "--fast needs --replay"},
        {{"--replay", ""}, "--replay needs a non-empty argument"},
        {{"--replay", "R", "--expect", "echo"}, "--expect cannot be combined with --replay"},
        {{"--replay", "R", "-c", "1"}, "-c cannot be combined with --replay"},
        {{"--replay", "R", "-i", "1"}, "-i cannot be combined with --replay"},
        {{"--replay", "R", "--size", "1"}, "--size cannot be combined with --replay"},
        {{"--replay", "R", "--escapes"}, "--escapes cannot be combined with --replay"},
        {{"--replay", "R", "-z"}, "--replay cannot be combined with -z"},
        {{"--replay", "R", "--retry", "1"}, "--retry cannot be combined with --replay"},
        {{"--replay", "R", "--fast", "--window", "2"},
         "--window cannot be combined with --replay"},
        {{"--replay", "R", "-f", "crlf"}, "was recorded with -f line, not with -f crlf"},
        {{"--replay", "R", "-u"}, "was recorded with -f line, not with datagrams (-u)"},
        {{"--replay", "R", "--json", "-x"}, "-x cannot be combined with --json"},
    };
    for (const auto& [options, sentence] : rows) {
        std::vector<std::string> words{yodel};
        for (const std::string& word : options)
            words.push_back(word == "R" ? recorded.file : word);
        words.insert(words.end(), {"127.0.0.1", peer.port()});
        const Outcome outcome = run(words);
        CAPTURE(words, outcome.errors);
        CHECK(outcome.status == 2);
        CHECK(contains(outcome.errors, sentence));
    }
}

TEST_CASE("a file of 4 GiB that is no recording is refused at once") {
    test::Folder folder;
    const std::string file = folder.path("big");
    REQUIRE(run({"truncate", "-s", "4G", file}).status == 0);
#ifdef YODEL_INSTRUMENTED  // it reserves more than any limit
    const std::string limit;
#else
    const std::string limit = "ulimit -v 1000000; ";
#endif
    const Outcome outcome = run({"sh", "-c", limit + "exec " + yodel + " --replay " + file});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors, "big:1: the line is not a JSON object"));
}

TEST_CASE("a recording may be a pipe") {
    Peer peer(store());
    const Recorded recorded({"127.0.0.1", peer.port()});
    const Outcome outcome = run({"sh", "-c",
                                 "cat " + recorded.file + " | " + yodel +
                                     " --fast --replay /dev/stdin 127.0.0.1 " + peer.port()});
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "6 replayed, 6 matched"));
}

TEST_CASE("a recording may be standard input, which is named -") {
    Peer peer(store());
    const Recorded recorded({"127.0.0.1", peer.port()});
    const std::string line = GENERATE("cat $0 | yodel", "yodel < $0");
    const std::string define =
        "yodel() { " + yodel + " --fast --replay - \"$@\" 127.0.0.1 " + peer.port() + "; }; ";
    const Outcome outcome = run({"sh", "-c", define + line, recorded.file});
    CAPTURE(line, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, " 0 different, 0 lost"));
    const Outcome empty = run({yodel, "--replay", "-", "127.0.0.1", peer.port()}, "no\n");
    CHECK(empty.status == 2);
    CHECK(contains(empty.errors, "yodel: standard input:1: the line is not a JSON object"));
}

TEST_CASE("a recording that does not come outlasts neither -m nor a signal") {
    test::Folder folder;
    const std::string pipe = folder.path("pipe");
    REQUIRE(run({"mkfifo", pipe}).status == 0);
    const std::string silent_writer = GENERATE("", "exec 3<>$0; ");
    const std::string begin = silent_writer + "exec " + yodel + " --replay $0 ";
    const Outcome late = run({"sh", "-c", begin + "-m 0.2", pipe});
    CHECK(late.status == 28);
    CHECK(late.errors ==
          "yodel: " + pipe + ": no recording arrived within 200ms (--max-time)\n");
    test::Process silent({yodel, "-m", "0.2", "--replay", "-"});
    CHECK(silent.wait_exit() == 28);
    CHECK(silent.errors() ==
          "yodel: standard input: no recording arrived within 200ms (--max-time)\n");
    test::Process client({"env", "EV_TRACE=1", yodel, "--replay", "-"});
    client.write("{");
    REQUIRE(client.wait_for_errors("ready:"));
    client.kill(SIGINT);
    CHECK(client.wait_exit() == 128 + SIGINT);
    CHECK(contains(client.errors(), "yodel: ended by SIGINT"));
}
