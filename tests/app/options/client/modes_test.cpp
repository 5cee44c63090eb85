// Tries each row of all tables in each mode: accepted, or refused in a sentence that names
// two options.

#include "app/options/modes.hpp"

#include "app/options/client/load_options.hpp"
#include "app/options/client/yodel_options.hpp"
#include "app/options/server_options.hpp"
#include "tests/app/options/parsing.hpp"
#include "tests/support/text.hpp"

#include <bit>
#include <cctype>
#include <set>

using namespace yodel;
using test::contains;
using test::parse_by;
using test::refusal_by;
using test::words_of;

namespace {

constexpr Modes all_runs = mode::runs | mode::offline;

// Words that choose a mode. The sentence names the first one.
struct Choice {
    Modes mode;
    std::string words;
    std::string name;
};

const std::vector<Choice> yodel_choices = {
    {mode::input, "--no-tui", "--no-tui"},
    {mode::probe, "-z", "-z"},
    {mode::generated, "-c 1", "-c"},
    {mode::replay, "--replay f -i 0", "--replay"},
    {mode::offline | mode::screen, "-r f", "-r"},
    {mode::path, "-U p", "-U"},
    {mode::datagrams, "-u", "-u"},
    {mode::websocket, "ws://h", "ws://"},
    {mode::tls, "--tls", "--tls"},
    {mode::json, "--json", "--json"},
    {mode::raw, "-f raw", "-f raw"},
    {mode::echo_reply, "--expect echo", "--expect echo"},
    {mode::no_reply, "--expect none", "--expect none"},
    {mode::listens, "-l 7", "-l"},
};

const std::vector<Choice> load_choices = {
    {mode::probe, "-z", "-z"},
    {mode::generated, "-c 1", "-c"},
    {mode::path, "-U p", "-U"},
    {mode::datagrams, "-u", "-u"},
    {mode::websocket, "ws://h", "ws://"},
    {mode::tls, "--tls", "--tls"},
    {mode::raw, "-f raw", "-f raw"},
    {mode::rate, "--rate 5", "--rate"},
    {mode::echo_reply, "--expect echo", "--expect echo"},
    {mode::no_reply, "--expect none", "--expect none"},
};

const std::vector<Choice> server_choices = {
    {mode::datagrams, "-u 7", "-u"},
    {mode::websocket, "--ws 7", "--ws"},
    {mode::tls, "--tls --cert f 7", "--tls"},
    {mode::framed, "-f line 7", "-f"},
    {mode::self_signed, "--self-signed 7", "--self-signed"},
};

std::string written(const Option& row) {
    return row.name ? "--" + std::string(row.name) : std::string("-") + row.letter;
}

// Returns the option with a valid argument.
std::string sample(const Option& row) {
    const std::vector<std::string> samples = words_of(
        "'' '' ADDR 127.0.0.1 PORT 5 PATH p D 1 N 1 N|auto 1 N|D 5s A,B h2 A:B X25519 V 1.3 "
        "FILE f NAME h F line SIZE 64 R 5 TIME|+D +5 R|R..R 5 LIST lost=0 FILE... g KIND "
        "poisson P 0.1 "
        "D[~JITTER] 1 TEXT t LINE Origin:x echo|any|none any REGEX ^OK PIN sha256//" +
        std::string(44, 'A'));
    const auto name =
        std::find(samples.begin(), samples.end(), row.argument ? row.argument : "");
    REQUIRE(name != samples.end());
    const std::string words = written(row) + " " + *std::next(name);
    if (written(row) == "--seed" && contains(row.help, "--arrivals"))
        return words + " --arrivals poisson";
    if (written(row) == "--stall-handshake") return words + " --ws";
    const bool alone = written(row) != "--key" && written(row) != "--tls";
    return alone ? words : words + " --cert f";
}

// Returns the words that a row requires if it does not apply to the default modes.
std::string needed(const Option& row, const std::vector<Choice>& choices,
                   const std::vector<Modes>& defaults) {
    std::string words;
    Modes chosen = row.chooses & all_runs ? row.chooses | all_runs : row.chooses;
    for (const Choice& each : choices) {
        const bool other = std::any_of(defaults.begin(), defaults.end(), [&](Modes mode) {
            return !applies(each.mode, mode) && !applies(row.modes, mode);
        });
        if (!other || (chosen & each.mode) != 0 || !applies(row.modes, each.mode)) continue;
        words += " " + each.words;
        chosen |= each.mode & all_runs ? all_runs : each.mode;
    }
    return words;
}

// Returns the number of options and schemes of the line that the sentence names.
std::size_t named(const std::string& sentence, const std::string& line) {
    std::size_t count = 0;
    std::string before;
    for (const std::string& word : words_of(line)) {
        const bool fresh = !contains(before, word + " ");
        before += word + " ";
        const bool scheme = word == "ws://h";
        const bool option = word.starts_with('-');
        if (fresh && (scheme || option) && contains(sentence + " ", scheme ? "ws://" : word))
            ++count;
    }
    return count;
}

template <class Options>
void check_rows(std::vector<OptionGroup> (*table)(Options&), Options (*parser)(int, char*[]),
                const std::vector<Choice>& choices, const std::vector<Modes>& defaults) {
    Options unused;
    const auto refused = [&](const std::string& line) { return refusal_by(parser, line); };
    for (const OptionGroup& group : table(unused))
        for (Option row : group.options) {
            const std::string name = written(row);
            const bool needs_target =
                name == "--listen" || name == "--connect-to" || name == "--starttls";
            if (row.ends_parsing || needs_target) continue;
            if (row.modes == 0) row.modes = group.modes;
            const std::string line = sample(row) + needed(row, choices, defaults);
            CHECK(refused(line + (choices[0].words.ends_with(" 7") ? " 7" : "")) == "");
            for (const Choice& each : choices) {
                if (each.mode == mode::websocket && contains(line, each.words)) continue;
                const bool target = contains(line, "ws://h") || contains(line, "-U p") ||
                                    contains(line, "--unixsock");
                if (each.words == "-r f" && target) continue;  // it may connect
                const std::string sentence = refused(line + " " + each.words);
                CAPTURE(line, each.words, sentence);
                // Each run without a screen is also pipe mode. A run of one kind may be part
                // of another: -c also makes messages on many connections.
                const Modes mode = each.mode == mode::input ? mode::piped : each.mode;
                const bool part = (each.mode & all_runs) != 0 &&
                                  ((row.chooses & all_runs) || contains(line, "--replay"));
                const bool excluded = !part && !applies(row.modes, mode);
                if (excluded) CHECK_FALSE(sentence.empty());
                if (contains(sentence, "--expect none needs --rate")) continue;
                if (sentence.starts_with("-n: ")) continue;
                if (contains(sentence, "with the target 7")) continue;
                if (!sentence.empty()) CHECK(named(sentence, line + " " + each.words) >= 2);
            }
        }
}

}  // namespace

TEST_CASE("an option is accepted in a mode, or refused with the option of the mode") {
    check_rows(yodel_table, parse_yodel_options, yodel_choices,
               {mode::input | mode::screen, mode::stream, mode::plain, mode::text, mode::framed,
                mode::unpaced});
    check_rows(load_table, parse_load_options, load_choices,
               {mode::input | mode::generated, mode::stream, mode::plain, mode::framed,
                mode::unpaced});
    check_rows(server_table, parse_server_options, server_choices,
               {mode::stream, mode::plain, mode::raw, mode::from_file});
}

// The limits keep each program small.
TEST_CASE("the tables stay within their limits, and no two options have the same name") {
    struct Size {
        int options = 0;
        Modes modes = 0;
    };
    const auto size_of = [](const std::vector<OptionGroup>& groups) {
        Size size;
        std::set<std::string> names;
        for (const OptionGroup& group : groups)
            for (const Option& row : group.options) {
                if (row.letter != 0) CHECK(std::isalnum(row.letter));
                if (row.letter != 0) CHECK(names.emplace(1, row.letter).second);
                if (row.name) CHECK(names.emplace(row.name).second);
                ++size.options;
                size.modes |= group.modes | row.modes | row.chooses;
            }
        return size;
    };
    YodelOptions yodel;
    LoadOptions load;
    ServerOptions server;
    const Size of_yodel = size_of(yodel_table(yodel));
    const Size of_load = size_of(load_table(load));
    const int shared =
        size_of({connection_options(yodel), tls_options(yodel), message_options(yodel)})
            .options;
    CHECK(of_yodel.options <= 55);
    CHECK(of_load.options - shared <= 32);
    CHECK(size_of(server_table(server)).options <= 40);
    CHECK(std::popcount(of_yodel.modes) <= 24);
    CHECK(std::popcount(of_load.modes) <= 22);
}

TEST_CASE("options of the screen and of other runs are refused if they do not apply") {
    const struct {
        const char* words;
        const char* on_screen;
        const char* in_pipe;
    } rows[] = {
        {"-x", "", ""},
        {"-v", "", ""},
        {"--retry-delay 1", "", "--retry-delay needs --retry in pipe mode"},
        {"--retry-delay 1 --retry 0", "", "--retry-delay needs --retry in pipe mode"},
        {"--retry-delay 1 --retry 1", "", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.words);
        const YodelOptions options = parse_by(parse_yodel_options, row.words);
        CHECK(test::refusal([&] { check_display(options, true); }) == row.on_screen);
        CHECK(test::refusal([&] { check_display(options, false); }) == row.in_pipe);
    }
    CHECK(refusal_by(parse_yodel_options, "--replay f -i 1s") ==
          "-i with --replay must be 0, which sends as replies arrive");
}

TEST_CASE("only a conversation may have a screen") {
    for (const char* const words : {"", "-x", "--retry 1"})
        CHECK(may_have_screen(parse_by(parse_yodel_options, words)));
    for (const char* const words : {"--no-tui", "--json", "-z", "-c 1", "--replay f"})
        CHECK_FALSE(may_have_screen(parse_by(parse_yodel_options, words)));
}
