// Tries each row of all tables with the options that choose how a program runs, connects and
// prints, as tables: which of them the row cannot be combined with.

#include "app/options/client/client_options.hpp"
#include "app/options/server/server_options.hpp"
#include "tests/app/options/parsing.hpp"
#include "tests/support/text.hpp"

#include <cctype>
#include <set>

using namespace yodel;
using test::contains;
using test::parse_by;
using test::refusal_by;
using test::words_of;

namespace {

std::string written(const Option& row) {
    return (row.has_name() ? "--" : "-") + std::string(row.name());
}

// Returns the option with a valid argument, and the words that it needs.
std::string sample(const Option& row, const std::string& needs) {
    const std::vector<std::string> samples = words_of(
        "'' '' ADDR 127.0.0.1 PORT 5 PATH p D 1 N 1 N|auto 1 N|D 5s A,B h2 A:B X25519 V 1.3 "
        "FILE f NAME h F line SIZE 64 R 5 TIME|+D +5 R|R..R 5 LIST lost=0 FILE... g KIND "
        "poisson P 0.1 "
        "D[~JITTER] 1 TEXT t LINE Origin:x echo|any|none any REGEX ^OK PIN sha256//" +
        std::string(44, 'A'));
    const auto name = std::find(samples.begin(), samples.end(), row.argument());
    REQUIRE(name != samples.end());
    const std::map<std::string, std::string> needed{
        {"", ""},
        {"tls", " --tls"},
        {"ws://", " ws://h"},
        {"replay", " --replay f"},
        {"rate", " --rate 5"},
        {"arrivals=poisson", " --rate 5 --arrivals poisson"},
        {"udp", " -u"},
        {"target", " h:1"},
        {"target, because it replaces only the address", " h:1"},
        {"cert", " --tls --cert f"},
        {"port, as in -l 7000", ""},
        {"port, because datagrams cannot be sent to the path of -U", ""},
        {"cert self-signed", " --self-signed"},
        {"tls ws", " --ws"}};
    std::string words = written(row) + " " + *std::next(name) + needed.at(needs);
    if (written(row) == "--listen") words += " 7";
    return words;
}

// Returns a line for each set of choices that some rows cannot be combined with, before these
// rows: "-u, ws://h: --cert --key".
template <class Options>
std::string combinations(std::vector<Option> (*table)(Options&),
                         Options (*parser)(int, char*[]),
                         const std::vector<std::string>& choices) {
    Options unused;
    std::map<std::string, std::string> rows_of;
    for (const Option& row : table(unused)) {
        if (row.is_heading() || row.name() == "help" || row.name() == "version") continue;
        const std::string line = sample(row, std::string(row.needs));
        std::string refused;
        for (const std::string& choice : choices) {
            const std::string sentence = refusal_by(parser, line + " " + choice);
            if (contains(sentence, "cannot be combined"))
                refused += (refused.empty() ? "" : ", ") + choice;
        }
        if (!refused.empty()) rows_of[refused] += " " + written(row);
    }
    std::string text;
    for (const auto& [refused, rows] : rows_of) text += refused + ":" + rows + "\n";
    return text;
}

}  // namespace

TEST_CASE("a row says which options it cannot be combined with") {
    CHECK(combinations(yodel_table, parse_yodel_options,
                       {"-z", "-c 1", "--replay f", "-r f", "--examine", "--json", "--no-tui",
                        "-U p", "-u", "ws://h", "--tls", "-f raw", "--expect echo",
                        "--expect none", "-l 7"}) == R"(--examine: --no-tui
--replay f, -r f, --examine, -l 7: --retry --count --interval
--replay f, -r f, --examine, -u, --expect echo, --expect none, -l 7: -z
--replay f, -r f, --examine, -u, -l 7: --on-connect
-U p: --connect-to
-U p, -u, --tls, -f raw, -l 7: --header --subprotocol
-r f: --connect-timeout --idle-timeout --max-time --max-frame --json -v
-r f, --examine: -q --log
-r f, -U p: -4 -6 -n
-r f, -U p, -l 7: --source --source-port
-r f, -l 7: --retry-delay
-r f, -u, ws://h: --tls --cert --key --framing -C
-r f, -u, ws://h, -l 7: --alpn --groups --tls-min --tls-max --cacert --pinnedpubkey --insecure
-u, ws://h, -l 7: --unixsock
-z, --examine, -U p, -u, --tls, -f raw: --ping
-z, --replay f, --examine, -f raw, --expect echo, --expect none, -l 7: --match
-z, --replay f, --examine, -l 7: --expect
-z, --replay f, -r f, --examine, -l 7: --size
-z, -c 1, --examine, --json: --hex
-z, -c 1, --replay f, --examine, --json, -u, --tls, -f raw: --read
-z, -c 1, --replay f, --examine, -U p, --expect echo, --expect none: --listen
-z, -c 1, --replay f, -r f, --examine, -f raw: --escapes
-z, -c 1, --replay f, -r f, --no-tui, --expect echo, --expect none, -l 7: --examine
-z, -c 1, -r f, --examine, --expect echo, --expect none, -l 7: --replay --mask
-z, -r f: --reply-timeout
-z, -r f, -U p, ws://h, --tls: --udp
)");
    CHECK(combinations(load_table, parse_load_options,
                       {"-z", "-c 1", "--rate 5", "-U p", "-u", "ws://h", "--tls", "-f raw",
                        "--expect echo"}) == R"(--rate 5, -u, --expect echo: -z
-U p: -4 -6 -n --source --source-port --connect-to
-U p, -u, --tls, -f raw: --header --subprotocol
-u: --on-connect
-u, ws://h: --no-sessionid --unixsock --tls --cert --key --alpn --groups --tls-min --tls-max --cacert --pinnedpubkey --insecure --framing -C
-z: --rate --arrivals --seed --start-at --size --messages --warm-up --expect --reply-timeout
-z, --rate 5: --window
-z, -U p, -u, --tls, -f raw: --ping
-z, -U p, ws://h, --tls: --udp
-z, -c 1, --rate 5, -f raw: --escapes
-z, -f raw, --expect echo: --match
)");
    CHECK(combinations(server_table, parse_server_options,
                       {"7", "-u 7", "--ws 7", "--tls --cert f 7", "--self-signed 7",
                        "-f line 7"}) == R"(--ws 7: --framing
--ws 7, --tls --cert f 7, --self-signed 7: --udp --reorder
-u 7: --cacert --chunk --close-after --reset-after --half-close --no-read --banner
-u 7, --self-signed 7: --cert --key
-u 7, --tls --cert f 7: --tls --self-signed
-u 7, -f line 7: --ws --stall-handshake
)");
}

TEST_CASE("no two options of a program have the same name") {
    YodelOptions yodel;
    LoadOptions load;
    ServerOptions server;
    for (const auto& table : {yodel_table(yodel), load_table(load), server_table(server)}) {
        std::set<std::string_view> names;
        for (const Option& row : table) {
            const bool has_letter = !row.is_heading() && !row.label.starts_with("--");
            if (has_letter) CHECK(std::isalnum(row.label[1]));
            if (has_letter) CHECK(names.emplace(row.label.substr(1, 1)).second);
            if (row.has_name()) CHECK(names.emplace(row.name()).second);
        }
    }
}

TEST_CASE("options of the screen and of other runs are refused if they do not apply") {
    const auto refused_in_pipe = [](const std::string& line) {
        const YodelOptions options = parse_by(parse_yodel_options, line);
        CHECK(test::refusal([&] { check_display(options, true); }) == "");
        return test::refusal([&] { check_display(options, false); });
    };
    test::check_table(R"(-x =>
-v =>
--retry-delay 1 => --retry-delay in pipe mode needs --retry=N
--retry-delay 1 --retry 0 => --retry-delay in pipe mode needs --retry=N
--retry-delay 1 --retry 1 =>
-r f =>
-r f -x => -r in pipe mode cannot be combined with -x
-r f h:7 => -r in pipe mode cannot be combined with the target h:7
)",
                      refused_in_pipe);
    CHECK(refusal_by(parse_yodel_options, "--replay f -i 1s") ==
          "-i cannot be combined with --replay, except -i 0, which sends as replies arrive");
}

TEST_CASE("only a conversation may have a screen") {
    for (const char* const words : {"", "-x", "--retry 1"})
        CHECK(may_have_screen(parse_by(parse_yodel_options, words)));
    for (const char* const words : {"--no-tui", "--json", "-z", "-c 1", "--replay f"})
        CHECK_FALSE(may_have_screen(parse_by(parse_yodel_options, words)));
}
