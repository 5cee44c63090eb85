#include "app/options/load_options.hpp"
#include "app/options/yodel_options.hpp"

#include "app/text/units.hpp"
#include "tests/app/options/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::parse_by;
using test::refusal;
using test::words_of;

namespace {

YodelOptions parse(const std::vector<std::string>& words) {
    return parse_by(parse_yodel_options, words);
}

LoadOptions parse_load(const std::string& words) {
    return parse_by(parse_load_options, words_of(words));
}

}  // namespace

TEST_CASE("each option sets its value") {
    const ClientOptions options =
        parse({"--tls", "-w", "3", "-W", "200ms", "-f", "len4le", "--window", "7", "h", "7"});
    CHECK(options.use_tls);
    CHECK(options.run.session.connect_timeout == 3s);
    CHECK(options.run.session.reply_timeout == 200ms);
    CHECK(options.run.session.framing->name == "len4le");
    CHECK(options.window == 7);
    CHECK_FALSE(options.own_server);
    CHECK(parse({"--retry", "forever", "--retry-delay", "2", "h:7"}).retries ==
          Session::forever);
    CHECK_FALSE(parse({"h:7"}).retries);
    CHECK(parse({}).own_server);
    CHECK(parse({"tls://h:7"}).use_tls);
    CHECK((parse({"-C", "h:7"}).run.session.framing->name == "crlf"));
}

TEST_CASE("an interval is 0 or at least a microsecond, and is never rounded to 0") {
    const auto [text, interval] = GENERATE(table<std::string, ev::Duration>(
        {{"0", 0ns}, {"0us", 0ns}, {"1us", 1us}, {"250us", 250us}, {"0.0000015", 1500ns}}));
    CHECK(parse({"-i", text}).interval == interval);
    const std::string wrong = GENERATE("1ns", "0.1ns", "0.9us", "0.0001us", "1e-20", "-1");
    CHECK(refusal([&] {
              parse({"-i", wrong});
          }) == "-i: \"" + wrong + "\" is not an interval: 0, or a duration of at least 1us");
}

TEST_CASE("options that contradict each other are refused") {
    const std::vector<std::string> words = GENERATE(
        std::vector<std::string>{"--tls", "tcp://h:7"}, std::vector<std::string>{"-k", "h:7"},
        std::vector<std::string>{"--cacert", "f", "h:7"},
        std::vector<std::string>{"--tls", "--key", "f", "h:7"},
        std::vector<std::string>{"--tls", "--tls-min", "1.3", "--tls-max", "1.2", "h:7"},
        std::vector<std::string>{"--tls", "--tls-min", "1.1", "h:7"},
        std::vector<std::string>{"-U", "p", "h:7"},
        std::vector<std::string>{"--tls", "--pinnedpubkey", "sha256//short", "h:7"},
        std::vector<std::string>{"--tls", "--verify-hostname", ".test", "h:7"},
        std::vector<std::string>{"--tls", "--verify-hostname", "localhost%evil", "h:7"},
        std::vector<std::string>{"--tls", "--verify-hostname", "*", "h:7"},
        std::vector<std::string>{"--tls", "--servername", ".", "h:7"},
        std::vector<std::string>{"--tls", ".test", "7"}, std::vector<std::string>{"tls://%x:7"},
        std::vector<std::string>{"tls://a..b:7"},
        std::vector<std::string>{"--window", "0", "h:7"},
        std::vector<std::string>{"--retry", "often", "h:7"},
        std::vector<std::string>{"--json", "-x", "h:7"},
        std::vector<std::string>{"-z", "-c", "1", "h:7"},
        std::vector<std::string>{"-c", "1", "--escapes", "h:7"},
        std::vector<std::string>{"-f", "raw", "--escapes", "h:7"},
        std::vector<std::string>{"-c", "0", "h:7"},
        std::vector<std::string>{"-f", "raw", "--size", "0", "h:7"},
        std::vector<std::string>{"-f", "len1", "--size", "256", "h:7"});
    CHECK_THROWS_AS(parse(words), UsageError);
}

TEST_CASE("any reply is expected of a service that does not echo by default") {
    CHECK((parse({"h:7"}).run.session.expect == Expect::echo));
    CHECK((parse({"-f", "resp", "h:7"}).run.session.expect == Expect::any));
    CHECK((parse({"-f", "smtp", "h:7"}).run.session.expect == Expect::any));
    CHECK((parse({"-f", "smtp", "-C", "h:7"}).run.session.expect == Expect::echo));
    CHECK(
        (parse({"--expect", "none", "-f", "resp", "h:7"}).run.session.expect == Expect::none));
}

TEST_CASE("a mistake in an option is reported with the option's name as written") {
    const auto [words, sentence] = GENERATE(table<std::string, std::string>({
        {"-w localhost 7000", "-w: \"localhost\" is not a duration such as 1.5s, 200ms or 2m"},
        {"--connect-timeout=x h 7",
         "--connect-timeout: \"x\" is not a duration such as 1.5s, 200ms or 2m"},
        {"-nWx h 7", "-W: \"x\" is not a duration such as 1.5s, 200ms or 2m"},
        {"-f json h 7",
         "-f: \"json\" is not a framing; the framings are " + joined(framing_list(), ", ")},
        {"-f resp --expect echo h 7", "--expect echo cannot be combined with -f resp, whose "
                                      "replies never equal messages"},
        {"-f smtp --size 0 h 7", "--size 0 does not fit into -f smtp"},
        {"--expect reply h 7", "--expect: \"reply\" is not one of echo, any, none"},
        {"--mask x h 7", "--mask needs --replay"},
        {"--replay f --mask a --mask (a)\\1 h 7",
         "--mask: \"(a)\\1\" is not an extended regular expression: back-references "
         "are not supported"},
        {"--match= h 7", "--match needs a non-empty argument"},
        {"--match x -f raw h 7",
         "--match cannot be combined with -f raw, whose replies have no frames"},
        {"--match x -f caret h 7",
         "--match cannot be combined with -f caret, whose replies have no frames"},
        {"--match x --expect echo h 7", "--match cannot be combined with --expect echo"},
        {"--expect none --match x h 7", "--match cannot be combined with --expect none"},
        {"--replay f --match x h 7", "--match cannot be combined with --replay"},
        {"--groups X0",
         "--groups: \"X0\" is not a list of groups that OpenSSL knows, such as X25519:P-256"},
        {"--alpn ,h2", "--alpn: a protocol name must be 1 to 255 bytes long"},
        {"-p 0 h 7", "-p: \"0\" is not a port, from 1 to 65535"},
        {"-n localhost 7", "-n: \"localhost\" is not a numeric address"},
        {"-4 -U p", "-4 cannot be combined with -U"},
        {"-s ::1 -U p", "-s cannot be combined with -U"},
        {"-n unix:p", "-n cannot be combined with unix:"},
        {"-m 5 sec localhost 7000",
         "\"localhost\" is neither a port nor the name of a service"},
        {"-z --match a h 7", "--match cannot be combined with -z"},
        {"-z --expect any h 7", "--expect cannot be combined with -z"},
        {"-z --window 2 h 7", "--window cannot be combined with -z"},
        {"-z -x h 7", "-x cannot be combined with -z"},
        {"-z -W 1 h 7", "-W cannot be combined with -z"},
        {"--expect none --window 5 h 7", "--window cannot be combined with --expect none"},
        {"--match [ h 7",
         "--match: \"[\" is not an extended regular expression: a bracket [ is not closed"},
        {"-s me h 7", "-s: \"me\" is not a numeric address"},
        {"--window 0 h 7", "--window: \"0\" is not a number from 1 to 1000000"},
        {"--size 1.5k", "--size: \"1.5k\" is not a size such as 512, 64k or 32M"},
        {"--json=true", "--json takes no value"},
        {"--json=", "--json takes no value"},
        {"--window= h 7", "--window needs a non-empty argument"},
        {"h 7 --size", "--size needs an argument"},
        {"h 7 -vw", "-w needs an argument"},
        {"--cac f h 7", "unknown option --cac; did you mean --cacert?"},
        {"--ca f h 7", "unknown option --ca; did you mean --cacert?"},
        {"--cacrt f h 7", "unknown option --cacrt; did you mean --cacert?"},
        {"--jsno h 7", "unknown option --jsno; did you mean --json?"},
        {"--max-tiem=2", "unknown option --max-tiem; did you mean --max-time?"},
        {"--x", "unknown option --x"},
        {"--cacerts f h 7", "unknown option --cacerts; did you mean --cacert?"},
        {"--nonsense=7", "unknown option --nonsense"},
        {"--tls -Xv", "unknown option -X"},
        {"-vX", "unknown option -X"},
        {"-tls h 7", "unknown option -t; did you mean --tls?"},
        {"-46 h 7", "-6: -4 cannot be combined with -6"},
        {"-6 -4 h 7", "-4: -4 cannot be combined with -6"},
        {"-6 127.0.0.1 7", "-6: \"127.0.0.1\" is not an IPv6 address"},
        {"-4 [::1]:7", "-4: \"::1\" is not an IPv4 address"},
        {"-s ::1 127.0.0.1 7", "-s ::1 and 127.0.0.1 are of different address families"},
        {"--cacert f h 7", "--cacert needs --tls"},
        {"-E f --key f h 7", "-E needs --tls"},
        {"-k h 7", "-k needs --tls"},
        {"-k ws://h", "-k needs a wss:// target"},
    }));
    CAPTURE(words);
    CHECK(refusal([&, &words = words] { parse(words_of(words)); }) == sentence);
}

TEST_CASE("the options of yodel choose the source and the schedule of its messages") {
    using enum RunClient::Options::From;
    struct Case {
        std::string words;
        RunClient::Options::From from;
        std::optional<ev::Duration> gap;  // between messages; none: as replies arrive
        std::optional<unsigned> window;
        std::optional<ev::Duration> length;
    };
    const Case each = GENERATE(
        Case{"h:7", input, {}, {}, {}}, Case{"-m 3 --window 5 h:7", input, {}, 5, {}},
        Case{"-f resp h:7", input, {}, {}, {}}, Case{"-f smtp h:7", input, {}, 1, {}},
        Case{"-c 5 h:7", generator, 1s, {}, {}}, Case{"-c 5 -i 0 h:7", generator, {}, {}, {}},
        Case{"-i 20ms -m 3s h:7", generator, 20ms, {}, 3s},
        Case{"--size 9 --window 4 h:7", generator, {}, 4, {}},
        Case{"-z h:7", nothing, {}, {}, {}},
        Case{"--replay f -m 3 h:7", recording, {}, {}, {}});
    CAPTURE(each.words);
    const YodelOptions options = parse(words_of(each.words));
    CHECK((options.from == each.from));
    CHECK(options.run.pace.has_value() == each.gap.has_value());
    if (each.gap)
        CHECK(
            (options.run.pace->rate() == 1 / std::chrono::duration<double>(*each.gap).count()));
    CHECK(options.run.window == each.window);
    CHECK(options.run.length == each.length);
    CHECK(options.run.connections == 1);
    CHECK_FALSE(options.report.load);
}

TEST_CASE("requirements of several options add up") {
    const LoadOptions options = parse_load("-c 1 --require p99<5ms,lost=0 --require rate>1k");
    REQUIRE(options.report.required.size() == 3);
    CHECK(options.report.required[2].clause() == "rate>1k");
}

TEST_CASE("option --merge takes its argument and all operands as files") {
    using Files = std::vector<std::string>;
    CHECK(parse_load("--merge a b c").merge == Files{"a", "b", "c"});
    CHECK(parse_load("c --json --quiet --merge a --require p99<1s b").merge ==
          Files{"a", "c", "b"});
    CHECK(parse_load("--merge tls://%x -h").help);
}

TEST_CASE("meaningless options of verdicts are refused") {
    const auto [words, sentence] = GENERATE(table<std::string, std::string>({
        {"--require p99 h 7",
         "--require: \"p99\" is not a requirement such as p99<5ms, lost<0.1% or rate>10k"},
        {"--require p99<+5% h 7", "--require: \"p99<+5%\": p99 needs a duration with its unit "
                                  "(us, ms, s, m or h), such as 5ms"},
        {"--merge a b a", "--merge: a is given twice"},
        {"--merge a -c 5", "-c cannot be combined with --merge"},
        {"--tls --merge a -c 5", "--tls cannot be combined with --merge"},
        {"--merge", "--merge needs an argument"},
    }));
    CAPTURE(words);
    CHECK(refusal([&, &words = words] { parse_load(words); }) == sentence);
}

TEST_CASE("the options of a load set their values") {
    const LoadOptions options = parse_load(
        "--connections 200 --connect-rate 1.5k --rate 20k --churn 9 --start-at +5s h:7");
    CHECK(options.run.connections == 200u);
    CHECK(options.run.connect_pace->rate() == 1500);
    CHECK(options.plan.rate == 20'000'000u);
    CHECK(options.plan.generated);
    CHECK(options.run.churn == 9u);
    CHECK_FALSE(options.run.lifetime);
    CHECK(options.start > std::chrono::system_clock::now());
    const RunOptions timed = parse_load("--churn 9 --churn 2.5s h:7").run;
    CHECK(timed.churn == 0);
    CHECK((timed.lifetime == 2500ms));
    CHECK((parse_load("-z --churn 0s h:7").run.lifetime == 0ms));
    CHECK(parse_load("--start-at 2199-12-01T10:00:00Z h:7").start);
    CHECK_FALSE(parse_load("--connections 2 -m 5 h:7").plan.generated);
}

TEST_CASE("bad options of a load are refused in a sentence that names them") {
    const auto [line, sentence] = GENERATE(table<std::string, std::string>({
        {"--connections 0 h:7", "--connections: \"0\" is not a number from 1 to 1000000"},
        {"--connections many h:7", "--connections: "},
        {"--rate 0 h:7", "--rate: \"0\" is not a rate from 0.001 to 10M"},
        {"--rate 11M h:7", "--rate: "},
        {"--rate fast h:7", "--rate: "},
        {"--connect-rate -1 h:7", "--connect-rate: "},
        {"--churn 0 h:7", "--churn: "},
        {"--start-at soon h:7", "--start-at: \"soon\" is not a time such as"},
        {"--start-at +x h:7", "--start-at: "},
        {"--start-at 2001-01-01T00:00:00Z h:7", "has passed"},
        {"--rate max@p99<5ms h:7", "--rate: "},
        {"--rate 5 -i 1 h:7", "-i cannot be combined with --rate"},
        {"--rate 5 --window 3 h:7", "--window cannot be combined with --rate"},
        {"--connections 3 -i 1 --window 3 h:7", "--window cannot be combined with -i"},
        {"--connections 3 --expect none -c 1 h:7", "--expect none needs --rate or -i"},
        {"--churn fast h:7", "--churn: \"fast\" is not a number of messages, or a time with"},
        {"--churn 0s h:7", "--churn 0s leaves no time for messages, and needs -z"},
        {"--churn 5 -z h:7", "--churn 5 counts messages, and -z sends none: give a time"},
        {"--connections 3 -z --rate 5 h:7", "--rate cannot be combined with -z"},
        {"--connections 3 -z -c 5 h:7", "-c cannot be combined with -z"},
        {"--connections 3 -z -i 5 h:7", "-i cannot be combined with -z"},
        {"--connections 3 -z --size 5 h:7", "--size cannot be combined with -z"},
        {"--connections 3 -z --messages f h:7", "--messages cannot be combined with -z"},
        {"--connections 3 -z --expect any h:7", "--expect cannot be combined with -z"},
        {"--connections 3 -z --window 5 h:7", "--window cannot be combined with -z"},
        {"--connections 3 -z --start-at +5s h:7", "--start-at cannot be combined with -z"},
        {"--connections 3 -z -u h:7", "-z cannot be combined with -u"},
        {"--rate 5 --seed 3 h 7", "--seed needs --arrivals poisson"},
        {"--threads 0 h 7", "--threads: \"0\" is not a number from 1 to 1024, or auto"},
        {"--threads 2000 h 7", "--threads: \"2000\" is not a number from 1 to 1024, or auto"},
        {"--threads 3 --connections 2 h 7",
         "--threads 3 exceeds the number of connections (--connections 2)"},
        {"--threads 2 h 7", "--threads 2 exceeds the number of connections (--connections 1)"},
        {"--conections 2", "unknown option --conections; did you mean --connections?"},
        {"--connections 3 -p 4000 h:7", "-p cannot be combined with --connections"},
    }));
    CAPTURE(line);
    const std::string refused = refusal([&, words = line] { parse_load(words); });
    CHECK(refused.find(sentence) != std::string::npos);
}
