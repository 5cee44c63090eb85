// The values of the options of both clients, and the sentences about mistakes in them.

#include "app/options/client/client_options.hpp"

#include "app/text/units.hpp"
#include "tests/app/options/parsing.hpp"

#include <sys/un.h>

#include <cmath>
#include <filesystem>

using namespace std::chrono_literals;
using namespace yodel;
using test::check_table;
using test::load_refused;
using test::parse_by;
using test::refusal;
using test::refused;

namespace {

// Describes the source of the messages, their framing, the expected replies, and so on.
std::string plan_of(const YodelOptions& options) {
    const RunOptions& run = options.run;
    static const char* const sources[] = {"generator", "", "input", "recording"};
    static const char* const forms[] = {"", ", hex", ", json", ", sequence"};
    static const std::map<Expect, const char*> expectations = {
        {Expect::echo, ", echo"}, {Expect::any, ", any"}, {Expect::none, ", none"}};
    std::string text = run.is_probe ? "nothing" : sources[static_cast<int>(run.from)];
    text += ", " + std::string(run.session.framing->name);
    text += expectations.at(run.session.expect);
    if (run.window) text += ", window " + std::to_string(*run.window);
    if (run.pace) text += ", " + std::to_string(std::lround(run.pace->rate())) + " per second";
    if (run.generates()) text += ", " + std::to_string(run.size) + " bytes";
    if (run.probe_interval) text += ", repeated after " + duration_text(*run.probe_interval);
    if (run.length) text += ", for " + duration_text(*run.length);
    if (options.uses_tls()) text += ", TLS";
    if (options.has_own_server()) text += ", own server";
    if (run.session.endpoint.is_passive) text += ", listening on " + run.session.endpoint.host;
    return text + forms[static_cast<int>(options.report.form)];
}

}  // namespace

TEST_CASE("the options of yodel choose its messages, their schedule and the output") {
    check_table(
        R"( => input, line, echo, own server
h 7 => input, line, echo
-U p => input, line, echo
-m 3 h 7 => input, line, echo
-C h 7 => input, crlf, echo
-f resp h 7 => input, resp, any
-f smtp h 7 => input, smtp, any, window 1
-f smtp -C h 7 => input, crlf, echo
--expect any h 7 => input, line, any
--expect none -f resp h 7 => input, resp, none
--match ^OK h 7 => input, line, any
tls://h:7 => input, line, echo, TLS
-l 7 => input, line, none, listening on 127.0.0.1
-6 -l 7 => input, line, none, listening on ::1
-l h 7 => input, line, none, listening on h
-u h 7 => input, datagram, echo
-u -f raw h 7 => input, datagram, echo
udp://h:7 => input, datagram, echo
ws://h => input, websocket, echo
wss://h => input, websocket, echo, TLS
--json h 7 => input, line, echo, json
-x h 7 => input, line, echo, hex
-z h 7 => nothing, line, echo
-z -c 3 h 7 => nothing, line, echo, repeated after 1s, sequence
-z -i 5ms -m 3 h 7 => nothing, line, echo, repeated after 5ms, for 3s, sequence
-z -c 3 -i 0 --json h 7 => nothing, line, echo, repeated after 0ms, json
--replay f -m 3 h 7 => recording, line, echo
--replay f -x h 7 => recording, line, echo
-c 1 h 7 => generator, line, echo, 1 per second, 64 bytes, sequence
-c 1 --json h 7 => generator, line, echo, 1 per second, 64 bytes, json
-c 1 --max-frame 9 h 7 => generator, line, echo, 1 per second, 9 bytes, sequence
-c 1 -i 0 h 7 => generator, line, echo, 64 bytes, sequence
-i 20ms -m 3 h 7 => generator, line, echo, 50 per second, 64 bytes, for 3s, sequence
--size 9 h 7 => generator, line, echo, 1 per second, 9 bytes, sequence
)",
        [](const std::string& line) { return plan_of(parse_by(parse_yodel_options, line)); });
}

TEST_CASE("the options of connections set their values") {
    const YodelOptions tcp =
        parse_by(parse_yodel_options,
                 "--retry forever -W200ms --idle-timeout 0 --tls -k --alpn a,b h 7");
    CHECK(tcp.run.session.retries == Session::forever);
    CHECK(tcp.run.session.reply_timeout == 200ms);
    CHECK_FALSE(tcp.run.session.idle_timeout);
    CHECK_FALSE(tcp.tls.must_verify);
    CHECK(tcp.tls.alpn == std::vector<std::string>{"a", "b"});
    const auto host = [](const std::string& line) {
        return parse_by(parse_yodel_options, line).run.session.websocket->host;
    };
    CHECK(host("ws://h:8080/a") == "h:8080");
    CHECK(host("ws://h:80") == "h");
    CHECK(host("wss://h:80") == "h:80");
}

TEST_CASE("an interval is 0 or at least a microsecond, and is never rounded to 0") {
    for (const auto& [text, interval] : {std::pair<std::string, ev::Duration>{"0", 0ns},
                                         {"0us", 0ns},
                                         {"1us", 1us},
                                         {"0.0000015", 1500ns}})
        CHECK(parse_by(parse_yodel_options, "-i " + text).interval == interval);
    for (const std::string wrong : {"1ns", "0.1ns", "0.999us", "0.0001us", "1e-20", "-1", "x"})
        CHECK(refused("-i " + wrong) ==
              "-i: \"" + wrong + "\" is not 0 or a duration from 1us to 100 years");
}

TEST_CASE("a mistake in an option is reported with the option's name as written") {
    check_table(
        R"(-w localhost 7000 => -w: "localhost" is not a duration up to 100 years, such as 1.5s, 200ms or 2m
--connect-timeout=x h 7 => --connect-timeout: "x" is not a duration up to 100 years, such as 1.5s, 200ms or 2m
-vWx h 7 => -W: "x" is not a duration up to 100 years, such as 1.5s, 200ms or 2m
--json=true => --json takes no value
--size= h 7 => --size needs a non-empty argument
h 7 --size => --size needs an argument
h 7 -vw => -w needs an argument
-w 99999999999 => -w: "99999999999" is not a duration up to 100 years, such as 1.5s, 200ms or 2m
-46 h 7 => -6 cannot be combined with -4
-6 127.0.0.1 7 => -6: "127.0.0.1" is not an IPv6 address
-4 [::1]:7 => -4: "::1" is not an IPv4 address
-n localhost 7 => -n: "localhost" is not a numeric address
-s me h 7 => -s: "me" is not a numeric address
-s ::1 127.0.0.1 7 => -s ::1: "127.0.0.1" is not an IPv6 address
-s ::1 ::1 7 =>
-s localhost h 7 =>
-p 1 h 7 =>
-p 65535 h 7 =>
-p 0 h 7 => -p: "0" is not a port from 1 to 65535
-p 65536 h 7 => -p: "65536" is not a port from 1 to 65535
-m 5 sec localhost 7000 => "localhost" is neither a port nor the name of a service
-U p h:7 => -U cannot be combined with the target h:7
-n unix:p => -n cannot be combined with unix:
--retry 0 h:7 =>
--retry 1000000 h:7 =>
--retry often h:7 => --retry: "often" is not a number up to 1000000, or "forever"
--retry 1000001 h:7 => --retry: "1000001" is not a number up to 1000000, or "forever"
--tls tcp://h:7 => tcp:// cannot be combined with --tls
-k h 7 => -k needs --tls
-k ws://h => -k needs a wss:// target
-E f --key f h 7 => -E needs --tls
--tls --key f h 7 => --key needs --cert
--tls --tls-min 1.3 --tls-max 1.2 h:7 => --tls-max is below --tls-min
--tls --tls-min 1.3 --tls-max 1.3 h:7 =>
--tls --tls-min 1.1 h:7 => --tls-min: "1.1" is not one of 1.2, 1.3
--tls --alpn ,h2 => --alpn: "" is not a protocol name of 1 to 255 bytes
--groups X0 => --groups: "X0" is not a list of groups that OpenSSL knows, such as X25519:P-256
--tls --pinnedpubkey sha256//ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQ= h 7 =>
--pinnedpubkey sha256//short => --pinnedpubkey: "sha256//short" is not sha256// followed by 44 characters of base64
--connect-to 7443 h 7 => --connect-to: a host is missing before "7443"
--connect-to :7443 h 7 => --connect-to: a host is missing before ":7443"
--connect-to a:0 h 7 => --connect-to: "0" is not a port from 1 to 65535
--connect-to tls://a:7 h 7 => --connect-to: "tls://a:7" is not ADDR[:PORT]
--connect-to a -l 7 => --connect-to cannot be combined with -l
-z -c 3 --retry 2 h 7 => --retry cannot be combined with -z -c
--connect-to a -u h 7 =>
--connect-to a => --connect-to needs a target, because it replaces only the address
-n --connect-to a 127.0.0.1 7 => -n: "a" is not a numeric address
-n --connect-to ::1 h 7 =>
-4 --connect-to ::1 h 7 => -4: "::1" is not an IPv4 address
--tls --connect-to 127.0.0.1 .test:7 => ".test" is neither a host name nor an address
--tls .test 7 => ".test" is neither a host name nor an address
tls://%x:7 => "%x" is neither a host name nor an address
tls://a..b:7 => "a..b" is neither a host name nor an address
a..b:7 =>
-f resp --expect echo h 7 => --expect echo cannot be combined with -f resp, whose replies never equal messages
--expect reply h 7 => --expect: "reply" is not one of echo, any, none
--match x -f raw h 7 => --match cannot be combined with -f raw, whose replies have no frames
--expect any --match x h 7 =>
--escapes -f raw h 7 => --escapes cannot be combined with -f raw, which has no messages
--header A:b --subprotocol a,b ws://h =>
--ping 30s ws://h =>
--ping 30s h 7 => --ping needs a ws:// target
--header 'a b' ws://h => --header: "a b" is not a header that can be added, such as "Origin: https://example.com"
--subprotocol a,,b ws://h => --subprotocol: "" is not the name of a subprotocol
-f line ws://h => -f cannot be combined with ws://, because each WebSocket message is one message
-C -u h 7 => -C cannot be combined with -u, because each datagram is one message
--max-frame 0 h 7 => --max-frame: "0" is not a size such as 512, 64k or 32M
--max-frame 1 h 7 =>
--size 1.5k => --size: "1.5k" is not a size such as 512, 64k or 32M
--size 10 --max-frame 10 h 7 =>
--size 11 --max-frame 10 h 7 => --size: a message of 11 bytes exceeds the limit of 10 (--max-frame)
-f smtp --size 0 h 7 => --size: -f smtp does not allow empty messages
-f raw --size 0 h:7 => --size: -f raw does not allow empty messages
-f len1 --size 255 h:7 =>
-f len1 --size 256 h:7 => --size: a message of 256 bytes does not fit into -f len1
--size 0 h:7 =>
-c 0 h:7 => -c: "0" is not a number from 1 to 4000000000
-c 4000000000 h:7 =>
-c 4000000001 h:7 => -c: "4000000001" is not a number from 1 to 4000000000
--mask x h 7 => --mask needs --replay
h:7 7 => unexpected argument "7"
h 7 a => unexpected argument "a"
h 7 a 7 b => unexpected argument "a"
--replay f --mask a --mask '(a)\1' h 7
=> --mask: "(a)\1" is not an extended regular expression: back-references are not supported
-o f.json -f raw h 7 => -o f.json cannot be combined with -f raw, which has no messages
-o f -f raw h 7 =>
)",
        refused);
    const std::string path(sizeof(sockaddr_un::sun_path), 'x');
    CHECK(refused("-U " + path) ==
          "-U: \"" + path + "\" is not short enough for the path of a Unix-domain socket");
    for (const char* const targets : {"h 7 a 7", "h:7 a:7", "tls://h:7 a 7", "ws://h ws://a"})
        CHECK(refused(targets) ==
              "only one target is allowed; to compare two servers, record one "
              "(yodel -o r.json A) and replay to the other (yodel --replay "
              "r.json B)");
    CHECK(refused("-f json h 7") ==
          "-f: \"json\" is not a framing; the framings are " + join(framing_list(), ", "));
    CHECK(refused("--alpn " + std::string(255, 'a') + " --tls h 7") == "");
    CHECK(refused("--alpn " + std::string(256, 'a') + " --tls h 7") != "");
}

TEST_CASE("the environment names the file for the secrets of TLS") {
    ::setenv("SSLKEYLOGFILE", "keys", 1);
    CHECK(parse_by(parse_yodel_options, "--tls h 7").tls.key_log_file == "keys");
    CHECK(parse_by(parse_yodel_options, "h 7").tls.key_log_file.empty());
    ::unsetenv("SSLKEYLOGFILE");
}

TEST_CASE("a recording is replayed with its own framing, over the protocol it was made with") {
    // Returns the expectation after a recording with this framing is used, or the refusal.
    const auto used = [](const std::string& row) {
        const std::size_t colon = row.find(':');
        const auto recording = std::make_shared<const Recording>(Recording{
            .name = "f", .framing = find_framing(row.substr(0, colon)), .expect = Expect::any});
        YodelOptions options = parse_by(parse_yodel_options, row.substr(colon + 1));
        const std::string text = refusal([&] { use_recording(options, recording); });
        CHECK((options.run.session.framing == recording->framing) == text.empty());
        CHECK((options.run.recording == recording) == text.empty());
        if (!text.empty()) return text;
        return std::string(options.run.session.expect == Expect::any ? "any" : "echo");
    };
    check_table(R"(line: --replay f h 7 => echo
crlf: --replay f h 7 => echo
line: --replay f -f line h 7 => echo
websocket: --replay f ws://h => echo
line: --replay f -C h 7 => f was recorded with -f line, not with -f crlf
line: --replay f -u h 7 => f was recorded with -f line, not with datagrams (-u)
websocket: --replay f h 7 => f was recorded with WebSocket (ws:// or wss://), not with -f line
caret: --replay f h 7 => echo
caret: --replay f --mask x h 7
=> --mask cannot be combined with f, recorded with -f caret, whose replies have no frames
caret: -r f --match x h 7
=> --match cannot be combined with f, recorded with -f caret, whose replies have no frames
line: -r f => any
line: -r f --expect echo => echo
)",
                used);
}

TEST_CASE("the options of a load set their values") {
    const auto parse = [](const std::string& line) {
        return parse_by(parse_load_options, line);
    };
    const LoadOptions options = parse(
        "--connect-rate 1.5k --rate 20k --churn 9 --start-at +9s --tls --no-sessionid h:7");
    CHECK(options.run.connect_pace->rate() == 1500);
    CHECK(options.run.churn == 9u);
    CHECK_FALSE(options.run.lifetime);
    CHECK(options.start_at > std::chrono::system_clock::now());
    CHECK_FALSE(options.tls.may_resume);
    const LoadOptions timed = parse("--churn 9 --churn 2.5s h:7");
    CHECK(timed.run.churn == 0);
    CHECK(timed.run.lifetime == 2500ms);
    CHECK_FALSE(timed.may_reduce_threads);
    CHECK(parse("--threads auto h:7").may_reduce_threads);
    CHECK(parse("--require p99<5ms,lost=0 --require rate>1k h:7").report.required.size() == 3);
}

TEST_CASE("bad options of a load are refused in a sentence that names them") {
    check_table(R"(--connections 0 h:7 => --connections: "0" is not a number from 1 to 1000000
--connections 1000000 h:7 =>
--connections 1000001 h:7 => --connections: "1000001" is not a number from 1 to 1000000
--connections 3 -p 4000 h:7 => -p cannot be combined with --connections
--connections 1 -p 4000 h:7 =>
--rate 0 h:7 => --rate: "0" is not a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k
--rate 0.001 h:7 =>
--rate 10M h:7 =>
--rate 0.0009 h:7 => --rate: "0.0009" is not a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k
--rate 10.1M h:7 => --rate: "10.1M" is not a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k
--rate max@p99<5ms h:7
=> --rate: "max@p99<5ms" is not a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k
--rate 1k..20k -m 9s h:7 =>
--rate 1..1.001 -m 9s h:7 =>
--rate 0..5 -m 9s h:7 => --rate: "0" is not a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k
--rate 5.. -m 9s h:7 => --rate: "" is not a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k
--rate 2k..1k -m 9s h:7 => --rate: "2k..1k" does not climb: the second rate must be higher
--rate 5..5 -m 9s h:7 => --rate: "5..5" does not climb: the second rate must be higher
--rate 1..2 h:7 => a rate that climbs needs -m, the length of the climb
--rate 1..2 -m 0 h:7 => a rate that climbs needs -m, the length of the climb
--rate 1..2 --rate 5 h:7 =>
--connect-rate -1 h:7
=> --connect-rate: "-1" is not a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k
--rate 5 --seed 3 h 7 => --seed needs --arrivals=poisson
--rate 5 --arrivals poisson --seed 4000000000 h 7 =>
--seed 0 h 7 => --seed: "0" is not a number from 1 to 4000000000
--churn fast h:7 => --churn: "fast" is not a number of messages, or a time up to 100 years with a unit, such as 10s
--churn 0 h:7 => --churn: "0" is not a number from 1 to 4000000000
--churn 4000000000 h:7 =>
--churn 0s -z h:7 =>
--churn 4000000001 h:7 => --churn: "4000000001" is not a number from 1 to 4000000000
--churn 0s h:7 => --churn 0s needs -z, because it leaves no time for messages
--churn 5 -z h:7 => --churn 5 cannot be combined with -z, which sends no messages; give a time such as 10s
--threads 0 h 7 => --threads: "0" is not a number from 1 to 1024, or auto
--threads 1025 h 7 => --threads: "1025" is not a number from 1 to 1024, or auto
--threads 2 --connections 2 h 7 =>
--threads 3 --connections 2 h 7 => --threads 3 needs --connections=3, at least one for each thread
--start-at soon h:7 => --start-at: "soon" is not a time such as 2026-12-01T10:00:00Z, or +5s
--start-at 2199-12-01T10:00:00Z h:7 =>
--start-at 2001-01-01T00:00:00Z h:7 => --start-at: "2001-01-01T00:00:00Z" has passed
--expect none -c 1 h:7
=> --expect none needs --rate, because no reply triggers the next message
--expect none --rate 1 h:7 =>
--window 1000000 h:7 =>
--size 5 --messages f h:7 => --messages cannot be combined with --size
--escapes --messages f h:7 =>
--escapes -c 1 h:7 => --escapes cannot be combined with -c without --messages
--warm-up 3 -m 3 -c 1 h:7 =>
--warm-up 3.1 -m 3 -c 1 h:7 => --warm-up 3.1s cannot be combined with -m, which is only 3s
--require p99 h 7
=> --require: "p99" is not a requirement such as p99<5ms, lost<0.1% or rate>10k
h:7 a:7
=> only one target is allowed; to compare two servers, run once for each, and compare with results.py --compare OLD NEW
)",
                load_refused);
}
