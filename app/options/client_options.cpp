#include "app/options/client_options.hpp"

#include "app/options/command_line.hpp"
#include "app/options/completion.hpp"
#include "app/options/option_values.hpp"
#include "app/options/target.hpp"
#include "app/protocol/recorder.hpp"
#include "app/text/quotes.hpp"
#include "app/text/units.hpp"
#include "bufio/host_name.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace yodel {

namespace {

std::size_t size(const std::string& text) {
    return checked(parse_size(text), text, "a size such as 512, 64k or 32M");
}

unsigned retries(const std::string& text) {
    if (text == "forever") return Session::forever;
    return checked(parse_number(text, 0, 1'000'000), text,
                   "a number up to 1000000, or \"forever\"");
}

Expect expectation(const std::string& text) {
    if (text == "echo") return Expect::echo;
    if (text == "any") return Expect::any;
    if (text == "none") return Expect::none;
    throw UsageError(in_quotes(text) + " is not one of echo, any, none");
}

ui::Color color(const std::string& text) {
    if (text == "auto") return ui::Color::automatic;
    if (text == "always") return ui::Color::always;
    if (text == "never") return ui::Color::never;
    throw UsageError(in_quotes(text) + " is not one of auto, always, never");
}

std::string port(const std::string& text) {
    if (!parse_number(text, 1, 65535))
        throw UsageError(in_quotes(text) + " is not a port, from 1 to 65535");
    return text;
}

bufio::TlsVersion tls_version(const std::string& text) {
    if (text == "1.2") return bufio::TlsVersion::v1_2;
    if (text == "1.3") return bufio::TlsVersion::v1_3;
    throw UsageError(in_quotes(text) + " is not a version of TLS spoken here: 1.2 or 1.3");
}

// A message takes longer to be sent than the shortest interval allowed here, so that a shorter
// one could only fall behind. One below the clock's resolution is not rounded to 0, which means
// something else.
ev::Duration interval(const std::string& text) {
    const auto value = parse_duration(text);
    const bool rounded =
        value == ev::Duration::zero() && text.find_first_of("123456789") != text.npos;
    const bool valid =
        value && !rounded &&
        (*value == ev::Duration::zero() || *value >= std::chrono::microseconds(1));
    return checked(valid ? value : std::nullopt, text,
                   "an interval: 0, or a duration of at least 1us");
}

std::string source_address(const std::string& text) {
    if (numeric_family(text) == AF_UNSPEC && text != "localhost")
        throw UsageError(in_quotes(text) + " is not a numeric address");
    return text;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> list;
    for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
        end = text.find(',', begin);
        list.push_back(text.substr(begin, end - begin));
        if (list.back().empty() || list.back().size() > 255)
            throw UsageError("a protocol's name has 1 to 255 bytes");
    }
    return list;
}

std::string pin(const std::string& text) {
    // SHA-256 in base64: 32 bytes in 44 characters.
    const std::string scheme = "sha256//";
    if (!text.starts_with(scheme) || text.size() != scheme.size() + 44)
        throw UsageError(in_quotes(text) +
                         " is not a pin: sha256// and 44 characters of base64");
    return text;
}

std::vector<Requirement> requirements(const std::string& text) {
    const Requirements parsed = parse_requirements(text);
    if (!parsed.trouble.empty()) throw UsageError(parsed.trouble);
    return parsed.list;
}

std::string host_name(const std::string& text) {
    if (bufio::certified_name(text).empty())
        throw UsageError(in_quotes(text) + " is neither a host name nor an address");
    return text;
}

std::string known_groups(const std::string& text) {
    if (!bufio::TlsContext::knows_groups(text))
        throw UsageError(in_quotes(text) +
                         " is no list of groups that OpenSSL knows, such as X25519:P-256");
    return text;
}

void set_framing(ClientOptions& to, const std::string& name) {
    to.session.framing = framing_value(name);
    to.framing_given = name;
}

// The options, in the manual's groups and in the order of the help.

std::vector<Option> connection_options(ClientOptions& to) {
    bufio::Endpoint& endpoint = to.session.endpoint;
    return {
        {.letter = '4',
         .help = "use IPv4 only",
         .apply = [&](auto&) { set_family(endpoint.family, AF_INET); }},
        {.letter = '6',
         .help = "use IPv6 only",
         .apply = [&](auto&) { set_family(endpoint.family, AF_INET6); }},
        {.letter = 'n',
         .help = "take numeric addresses only, look up no name",
         .apply = [&](auto&) { endpoint.numeric = true; }},
        {.letter = 's',
         .name = "source",
         .argument = "ADDR",
         .help = "connect from this address",
         .apply = [&](auto& text) { endpoint.source_host = source_address(text); }},
        {.letter = 'p',
         .name = "source-port",
         .argument = "PORT",
         .help = "connect from this port",
         .apply = [&](auto& text) { endpoint.source_port = port(text); }},
        {.letter = 'U',
         .name = "unixsock",
         .argument = "PATH",
         .help = "connect to this unix-domain socket",
         .apply = [&](auto& text) { endpoint.path = text; }},
        {.letter = 'u',
         .name = "udp",
         .help = "send datagrams, as with udp://",
         .apply = [&](auto&) { endpoint.datagrams = true; }},
        {.letter = 'z',
         .help = "connect, report it, and leave",
         .apply = [&](auto&) { to.report.probe = true; }},
    };
}

std::vector<Option> timing_options(ClientOptions& to) {
    Session::Options& session = to.session;
    return {
        {.letter = 'w',
         .name = "connect-timeout",
         .argument = "D",
         .help = "limit for look-up, TCP and TLS together (10s)",
         .apply = [&](auto& text) { session.connect_timeout = duration_value(text); }},
        {.name = "idle-timeout",
         .argument = "D",
         .help = "end when nothing comes or goes for this time (off)",
         .apply = [&](auto& text) { session.idle_timeout = limit_value(text); }},
        {.letter = 'm',
         .name = "max-time",
         .argument = "D",
         .help = "limit, or length with -c, -i or --size (off)",
         .apply = [&](auto& text) { session.max_time = limit_value(text); }},
        {.name = "retry",
         .argument = "N",
         .help = "retries, or forever (pipe: 0, screen: forever)",
         .apply = [&](auto& text) { to.retries = retries(text); },
         .values = {"forever"}},
        {.name = "retry-delay",
         .argument = "D",
         .help = "wait before a retry; doubles up to 30s (0.5s)",
         .apply = [&](auto& text) { session.retry_delay = duration_value(text); }},
        {.name = "busy",
         .help = "never sleep while connected; takes a processor",
         .apply = [&](auto&) { to.busy = true; }},
    };
}

// The options for TLS do not switch it on, so that a forgotten --tls is reported.
std::vector<Option> tls_options(ClientOptions& to) {
    bufio::TlsClientOptions& tls = to.tls;
    return {
        {.name = "tls",
         .help = "use TLS, certificate and name verified",
         .apply = [&](auto&) { to.use_tls = true; }},
        {.letter = 'E',
         .name = "cert",
         .argument = "FILE",
         .help = "client certificate, PEM with its chain",
         .apply = [&](auto& text) { tls.certificate = text; },
         .for_tls = true},
        {.name = "key",
         .argument = "FILE",
         .help = "key of --cert (in the same file)",
         .apply = [&](auto& text) { tls.key = text; },
         .for_tls = true},
        {.name = "servername",
         .argument = "NAME",
         .help = "name sent to the server, SNI (HOST)",
         .apply = [&](auto& text) { tls.server_name = host_name(text); },
         .for_tls = true},
        {.name = "alpn",
         .argument = "A,B",
         .help = "application protocols to offer",
         .apply = [&](auto& text) { tls.alpn = split(text); },
         .for_tls = true},
        {.name = "groups",
         .argument = "A:B",
         .help = "key exchange groups to offer, such as X25519:P-256",
         .apply = [&](auto& text) { tls.groups = known_groups(text); },
         .for_tls = true},
        {.name = "tls-min",
         .argument = "V",
         .help = "oldest version: 1.2 or 1.3 (1.2)",
         .apply = [&](auto& text) { tls.min_version = tls_version(text); },
         .for_tls = true,
         .values = {"1.2", "1.3"}},
        {.name = "tls-max",
         .argument = "V",
         .help = "newest version: 1.2 or 1.3 (1.3)",
         .apply = [&](auto& text) { tls.max_version = tls_version(text); },
         .for_tls = true,
         .values = {"1.2", "1.3"}},
    };
}

std::vector<Option> trust_options(ClientOptions& to) {
    bufio::TlsClientOptions& tls = to.tls;
    return {
        {.name = "cacert",
         .argument = "FILE",
         .help = "trust these certificates, not the system's",
         .apply = [&](auto& text) { tls.ca_file = text; },
         .for_tls = true},
        {.name = "capath",
         .argument = "DIR",
         .help = "trust the certificates in this hashed directory",
         .apply = [&](auto& text) { tls.ca_directory = text; },
         .for_tls = true},
        {.name = "crl",
         .argument = "FILE",
         .help = "refuse the certificates that these lists revoke",
         .apply = [&](auto& text) { tls.crl_file = text; },
         .for_tls = true},
        {.name = "verify-hostname",
         .argument = "NAME",
         .help = "name that the certificate must have (HOST)",
         .apply = [&](auto& text) { tls.verify_name = host_name(text); },
         .for_tls = true},
        {.name = "pinnedpubkey",
         .argument = "PIN",
         .help = "trust this key alone, sha256//BASE64",
         .apply = [&](auto& text) { tls.pins.push_back(pin(text)); },
         .for_tls = true},
        {.letter = 'k',
         .name = "insecure",
         .help = "accept any certificate",
         .apply = [&](auto&) { tls.verify = false; },
         .for_tls = true},
    };
}

std::vector<Option> message_options(ClientOptions& to) {
    Session::Options& session = to.session;
    return {
        {.letter = 'f',
         .name = "framing",
         .argument = "F",
         .help = "how messages are delimited (line)",
         .apply = [&](auto& text) { set_framing(to, text); },
         .values = framing_list()},
        {.letter = 'C',
         .help = "the same as -f crlf",
         .apply = [&](auto&) { set_framing(to, "crlf"); }},
        {.name = "max-frame",
         .argument = "SIZE",
         .help = "the longest message (32M)",
         .apply = [&](auto& text) { session.max_frame = size(text); }},
        {.name = "expect",
         .argument = "echo|any|none",
         .help = "the reply that a message gets (echo)",
         .apply =
             [&](auto& text) {
                 session.expect = expectation(text);
                 to.expect_given = true;
             },
         .values = {"echo", "any", "none"}},
        {.letter = 'W',
         .name = "reply-timeout",
         .argument = "D",
         .help = "limit for the server to read, and to reply (5s)",
         .apply = [&](auto& text) { session.reply_timeout = duration_value(text); }},
        {.name = "window",
         .argument = "N",
         .help = "messages in flight (64, or 128 KiB if more)",
         .apply = [&](auto& text) { to.window = positive_value(text, 1'000'000); }},
        {.name = "escapes",
         .help = "the input holds \\n \\r \\t \\0 \\\\ \\xNN",
         .apply = [&](auto&) { to.escapes = true; }},
        {.letter = 'q',
         .argument = "D",
         .help = "limit for the server to close after input (5s)",
         .apply = [&](auto& text) { session.close_timeout = duration_value(text); }},
    };
}

// Each of these options selects an unattended run.
std::vector<Option> unattended_options(ClientOptions& to) {
    return {
        {.letter = 'c',
         .name = "count",
         .argument = "N",
         .help = "send N generated messages (without end)",
         .apply = [&](auto& text) { to.count = positive_value(text, 4'000'000'000); }},
        {.letter = 'i',
         .name = "interval",
         .argument = "D",
         .help = "send one each D (1s); 0: as replies come",
         .apply = [&](auto& text) { to.interval = interval(text); }},
        {.name = "size",
         .argument = "SIZE",
         .help = "bytes in each generated message (64)",
         .apply = [&](auto& text) { to.size = size(text); }},
    };
}

std::vector<Option> output_options(ClientOptions& to) {
    return {
        {.name = "json",
         .help = "one JSON object for each message, in pipe mode",
         .apply = [&](auto&) { to.report.form = Reporter::Form::json; },
         .for_files = true},
        {.letter = 'x',
         .name = "hex",
         .help = "show replies in hex",
         .apply = [&](auto&) { to.hex = true; }},
        {.letter = 'o',
         .name = "log",
         .argument = "FILE",
         .help = "append a transcript to FILE, with times",
         .apply = [&](auto& text) { to.report.log = text; }},
        {.name = "scrollback",
         .argument = "N",
         .help = "messages kept on the screen (100000)",
         .apply = [&](auto& text) { to.scrollback = positive_value(text, 10'000'000); }},
        {.name = "color",
         .argument = "WHEN",
         .help = "auto, always or never (auto: obeys NO_COLOR)",
         .apply = [&](auto& text) { to.color = color(text); },
         .values = {"auto", "always", "never"}},
        {.name = "mouse",
         .help = "the wheel scrolls the messages (also M-m)",
         .apply = [&](auto&) { to.mouse = true; }},
        {.letter = 'v',
         .help = "report connections too, in pipe mode",
         .apply = [&](auto&) { to.report.verbose = true; }},
        {.name = "quiet",
         .help = "no summary; with -c: the summary alone",
         .apply = [&](auto&) { to.report.quiet = true; },
         .for_files = true},
        {.name = "no-tui",
         .help = "pipe mode, on a terminal too",
         .apply = [&](auto&) { to.no_tui = true; },
         .for_files = true},
        sandbox_option(to.no_sandbox),
        help_option(to.help),
        version_option(to.version),
        completion_option(to.completion),
    };
}

std::vector<Option> verdict_options(ClientOptions& to) {
    std::vector<Requirement>& required = to.report.verdict.required;
    return {
        {.name = "require",
         .argument = "LIST",
         .help = "fail unless, as in p99<5ms,lost<0.1%,rate>10k",
         .apply =
             [&](auto& text) {
                 const std::vector<Requirement> more = requirements(text);
                 required.insert(required.end(), more.begin(), more.end());
             },
         .for_files = true},
        {.name = "compare",
         .argument = "FILE",
         .help = "compare with the runs that --json wrote to FILE",
         .apply = [&](auto& text) { to.compare = text; },
         .for_files = true},
        {.name = "merge",
         .argument = "FILE...",
         .help = "add up the runs of these files; connect to none",
         .apply = [&](auto& text) { to.merge.push_back(text); },
         .for_files = true},
        {.name = "hgrm",
         .argument = "FILE",
         .help = "write percentiles as HdrHistogram does, in ms",
         .apply = [&](auto& text) { to.report.hgrm = text; },
         .for_files = true},
    };
}

std::vector<OptionGroup> table(ClientOptions& to) {
    return {{"Connection", connection_options(to)},
            {"Time limits and retries", timing_options(to)},
            {"TLS", tls_options(to)},
            {"Trust (TLS)", trust_options(to)},
            {"Messages", message_options(to)},
            {"Generated messages (in pipe mode)", unattended_options(to)},
            {"Many connections at once", crowd_options(to.crowd)},
            {"Record and replay (in pipe mode)", replay_options(to.replay)},
            {"Verdicts (in pipe mode)", verdict_options(to)},
            {"Output", output_options(to)}};
}

void check_tls(const ClientOptions& options, const std::string& given) {
    const bufio::TlsClientOptions& tls = options.tls;
    const bool datagrams = options.session.endpoint.datagrams;
    if (!given.empty() && !options.use_tls)
        throw UsageError(given + " is given, but " +
                         (datagrams ? "datagrams are sent in plain text" : "not --tls"));
    if (!tls.key.empty() && tls.certificate.empty()) throw UsageError("--key needs --cert");
    if (!tls.crl_file.empty() && !tls.pins.empty())
        throw UsageError("--pinnedpubkey trusts a key without a look at any list, but --crl is "
                         "given");
    const std::string& host = options.session.endpoint.host;
    if (options.use_tls && !host.empty()) host_name(host);
    if (tls.max_version && *tls.max_version < tls.min_version)
        throw UsageError("--tls-max is below --tls-min");
}

// A message is a datagram, whatever it holds.
void prepare_datagrams(ClientOptions& options) {
    if (!options.session.endpoint.datagrams) return;
    if (!options.session.endpoint.path.empty())
        throw UsageError("-U is given, but datagrams go to a host and a port");
    if (options.use_tls)
        throw UsageError("--tls is given, but datagrams are sent in plain text");
    if (!options.framing_given.empty() && options.framing_given != "raw")
        throw UsageError("-f " + options.framing_given +
                         " is for connections; a datagram is a message as it is");
    if (options.report.probe)
        throw UsageError(
            "-z can't find out whether anybody answers datagrams, as nobody accepts "
            "them: -c 1 asks for an answer");
    options.session.framing = datagram_framing();
}

void check_pipe(const ClientOptions& options) {
    const bool json = options.report.form == Reporter::Form::json;
    if (json && options.hex) throw UsageError("--json and -x are two forms of one output");
    if (options.report.probe && options.unattended())
        throw UsageError("-z sends nothing, but -c, -i or --size is given");
    if (options.unattended() && (options.escapes || options.hex))
        throw UsageError("--escapes and -x are for input, but -c, -i or --size is given");
    if (options.escapes && !options.session.framing->has_frames())
        throw UsageError("--escapes reads lines, but -f raw has none");
    const Framing& framing = *options.session.framing;
    const std::size_t limit = options.session.max_frame;
    if (limit == 0) throw UsageError("--max-frame 0 lets no message pass");
    if (options.size && *options.size > limit)
        throw UsageError("--size " + std::to_string(*options.size) + " is over the limit of " +
                         std::to_string(limit) + " (--max-frame)");
    const std::size_t least = framing.replies_framed() ? 0 : 1;
    if (options.size && (*options.size < least || *options.size > framing.longest()))
        throw UsageError("--size " + std::to_string(*options.size) + " does not fit into " +
                         framing.holder());
}

// When the messages of a crowd go.
void check_schedule(const ClientOptions& options) {
    const CrowdOptions& crowd = options.crowd;
    const bool interval = options.interval && *options.interval > ev::Duration::zero();
    if (crowd.rate_while && (options.count || options.session.max_time || crowd.start))
        throw UsageError(
            "--rate max@ chooses how long and when each of its runs sends, which -c, "
            "-m and --start-at are for, too");
    if (crowd.scheduled() && options.interval)
        throw UsageError("--rate and -i are two schedules of the same messages");
    if ((crowd.scheduled() || interval) && options.window)
        throw UsageError("--window has no meaning where messages go by a schedule");
    if (options.session.expect == Expect::none && crowd.rate_while)
        throw UsageError("with --expect none no reply says which rate is held");
    if (options.session.expect == Expect::none && !crowd.rate && !interval)
        throw UsageError("with --expect none no reply calls for the next message: --rate or -i "
                         "does");
}

void check_crowd(const ClientOptions& options) {
    const CrowdOptions& crowd = options.crowd;
    if (!crowd.given()) return;
    check_schedule(options);
    if (options.report.probe) throw UsageError("-z is for one connection");
    if (!options.report.log.empty()) throw UsageError("-o is for one connection");
    if (options.hex && !options.replay.given()) throw UsageError("-x is for one connection");
    if (!crowd.threads_by_system && crowd.threads.value_or(1) > crowd.connections.value_or(1))
        throw UsageError("--threads " + std::to_string(*crowd.threads) +
                         " is more than there are connections (--connections " +
                         std::to_string(crowd.connections.value_or(1)) + ")");
    if (crowd.connections.value_or(1) > 1 && !options.session.endpoint.source_port.empty())
        throw UsageError("-p is one port, but --connections " +
                         std::to_string(*crowd.connections) + " is given");
}

void check_recording(ClientOptions& options) {
    options.report.payloads = options.replay.payload;
    if (Recorder::wanted(options.report.log) && !options.session.framing->has_frames())
        throw UsageError("-o " + options.report.log +
                         " would record messages, but -f raw has none");
    if (!options.replay.payload) return;
    if (options.report.form != Reporter::Form::json)
        throw UsageError("--payload is for the objects of --json");
    if (!options.session.framing->has_frames())
        throw UsageError("--payload records messages, but -f raw has none");
}

// Refuses the options that have no meaning where a recording is said.
void check_against_replay(const ClientOptions& options) {
    const CrowdOptions& crowd = options.crowd;
    const std::tuple<bool, const char*, const char*> given[] = {
        {options.expect_given, "--expect", "requires the recorded replies"},
        {options.count.has_value(), "-c", "says the recorded messages"},
        {options.interval.has_value(), "-i", "says messages at their recorded times"},
        {options.size.has_value(), "--size", "says the recorded messages"},
        {options.escapes, "--escapes", "reads no input"},
        {options.report.probe, "-z", "says messages"},
        {options.retries.has_value(), "--retry", "says a recording whole, on one connection"},
        {crowd.scheduled(), "--rate",
         "says messages at their recorded times, or with --fast as replies come"},
        {crowd.churn.has_value(), "--churn", "says a recording whole, on one connection"},
        {crowd.threads.has_value(), "--threads", "reads the recording on one thread"},
        {crowd.start.has_value(), "--start-at", "begins as soon as it is connected"},
    };
    for (const auto& [is_given, name, reason] : given)
        if (is_given)
            throw UsageError(std::string("--replay ") + reason + ", but " + name + " is given");
}

void check_replay(const ClientOptions& options) {
    const ReplayOptions& replay = options.replay;
    if (replay.fast && !replay.given()) throw UsageError("--fast is for --replay");
    if (!replay.given()) return;
    check_against_replay(options);
    if (options.window && !replay.fast)
        throw UsageError(
            "--window has no meaning where messages go at the times of a recording: "
            "--fast");
}

// Addresses of two families don't meet.
void check_families(const bufio::Endpoint& endpoint) {
    check_family(endpoint.family, endpoint.host);
    const int source = numeric_family(endpoint.source_host);
    const int target = numeric_family(endpoint.host);
    if (source != AF_UNSPEC && target != AF_UNSPEC && source != target)
        throw UsageError("-s " + endpoint.source_host + " and " + endpoint.host +
                         " are not of one family");
}

void set_target(ClientOptions& options, const std::vector<std::string>& words) {
    bufio::Endpoint& endpoint = options.session.endpoint;
    const bool path_given = !endpoint.path.empty();
    if (path_given && !words.empty()) throw UsageError("-U is given, and a target too");
    options.own_server = words.empty() && !path_given;
    if (words.empty()) return;
    const Target target = parse_target(words);
    endpoint.host = target.host;
    endpoint.service = target.service;
    endpoint.path = target.path;
    if (target.scheme == Target::Scheme::udp) endpoint.datagrams = true;
    if (target.scheme == Target::Scheme::tcp && endpoint.datagrams)
        throw UsageError("tcp:// is given, and -u, which sends datagrams");
    if (target.scheme == Target::Scheme::tls && endpoint.datagrams)
        throw UsageError("tls:// is given, and -u, whose datagrams are in plain text");
    if (target.scheme == Target::Scheme::tcp && options.use_tls)
        throw UsageError("tcp:// is without TLS, but --tls is given");
    if (target.scheme == Target::Scheme::tls) options.use_tls = true;
}

void check_relative(const std::string& option, const Requirement& clause,
                    const ClientOptions& options) {
    if (clause.relative() && options.compare.empty())
        throw UsageError(option + clause.clause() +
                         " is relative to a run of before, which --compare names");
}

void check_verdict(const ClientOptions& options) {
    for (const Requirement& each : options.report.verdict.required)
        check_relative("--require ", each, options);
    if (options.crowd.rate_while)
        check_relative("--rate max@", *options.crowd.rate_while, options);
}

// All words that are not options are files, too.
void check_merge(ClientOptions& options, const CommandLine& line) {
    std::vector<std::string>& files = options.merge;
    files.insert(files.end(), line.words.begin(), line.words.end());
    if (!line.for_run.empty())
        throw UsageError("--merge connects to nobody, but " + line.for_run + " is given");
    std::vector<std::string> sorted = files;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) throw UsageError("--merge: " + *twice + " is named twice");
}

void choose_form(ClientOptions& options) {
    Reporter::Form& form = options.report.form;
    if (options.hex) form = Reporter::Form::hex;
    if (options.replay.given() && options.hex) form = Reporter::Form::payload;
    options.report.hex = options.hex;
    if (options.unattended() && form != Reporter::Form::json) form = Reporter::Form::sequence;
}

}  // namespace

ClientOptions parse_client_options(int argc, char* argv[]) {
    ClientOptions options;
    const CommandLine line = parse_command_line(argc, argv, table(options));
    if (options.help || options.version || !options.completion.empty()) return options;
    check_verdict(options);
    if (!options.merge.empty()) {
        check_merge(options, line);
        return options;
    }
    set_target(options, line.words);
    prepare_datagrams(options);
    check_tls(options, line.for_tls);
    check_families(options.session.endpoint);
    check_pipe(options);
    check_crowd(options);
    check_recording(options);
    check_replay(options);
    choose_form(options);
    return options;
}

std::string client_completion(const std::string& shell) {
    ClientOptions unused;
    return completion_script(shell,
                             {.program = "yodel", .options = table(unused), .hosts = true});
}

std::string client_help() {
    ClientOptions unused;
    return "usage: yodel [options] [[tcp://|tls://|udp://|unix:]HOST[:PORT] [PORT]]\n"
           "Talks to a service, above all an echo server: sends what is typed or piped in,\n"
           "and times and checks every reply. Without a target it starts an echo server of\n"
           "its own. -z, -c, -i, --size, --json and --replay choose pipe mode, as --no-tui\n"
           "does. Many connections at once have a page that shows how they do.\n" +
           help_text(table(unused)) +
           "\n"
           "framings: " +
           framing_names() +
           "\n"
           "D: seconds, or a number with us, ms, s, m or h; SIZE: bytes, or with k, M or G\n"
           "\n"
           "Examples:\n"
           "  yodel                                  an echo server inside; F1: the keys\n"
           "  yodel -c 10 -i 200ms localhost 7000    ten messages, and a summary\n"
           "  seq 1000 | yodel localhost 7000        each line is a message\n"
           "The manual page yodel(1), `man yodel`, says more.\n";
}

}  // namespace yodel
