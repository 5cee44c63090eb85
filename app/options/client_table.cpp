#include "app/options/client_options.hpp"

#include "app/options/option_values.hpp"
#include "app/options/target.hpp"
#include "app/text/units.hpp"

#include <sys/socket.h>

#include <cmath>
#include <string_view>

namespace yodel {

namespace {

// --- Values.

std::size_t size(const std::string& text) {
    return checked(parse_size(text), text, "a size such as 512, 64k or 32M");
}

unsigned retries(const std::string& text) {
    if (text == "forever") return Session::forever;
    return checked(parse_number(text, 0, 1'000'000), text,
                   "a number up to 1000000, or \"forever\"");
}

std::string port(const std::string& text) {
    return accepted(parse_number(text, 1, 65535).has_value(), text, "a port, from 1 to 65535");
}

// The minimum is shorter than sending a message takes, so a shorter interval could only fall
// behind. An interval below the clock's resolution is refused, because 0 means something else.
ev::Duration interval(const std::string& text) {
    const auto value = parse_duration(text);
    const bool zero =
        value == ev::Duration::zero() && text.find_first_of("123456789") == text.npos;
    accepted(zero || value >= std::chrono::microseconds(1), text,
             "an interval: 0, or a duration of at least 1us");
    return *value;
}

std::string source_address(const std::string& text) {
    return accepted(numeric_family(text) != AF_UNSPEC || text == "localhost", text,
                    "a numeric address");
}

std::vector<std::string> protocols(const std::string& text) {
    std::vector<std::string> list = comma_separated(text);
    for (const std::string& each : list)
        if (each.empty() || each.size() > 255)
            throw UsageError("a protocol name must be 1 to 255 bytes long");
    return list;
}

std::vector<std::string> subprotocols(const std::string& text) {
    std::vector<std::string> list = comma_separated(text);
    for (const std::string& each : list)
        accepted(websocket::is_token(each), each, "the name of a subprotocol");
    return list;
}

std::string header(const std::string& text) {
    return accepted(websocket::is_header(text), text,
                    "a header to add, such as \"Origin: https://example.com\"");
}

std::string pin(const std::string& text) {
    // SHA-256 in base64: 32 bytes in 44 characters.
    const std::string scheme = "sha256//";
    return accepted(text.starts_with(scheme) && text.size() == scheme.size() + 44, text,
                    "a pin: sha256// and 44 characters of base64");
}

std::string known_groups(const std::string& text) {
    return accepted(bufio::TlsContext::knows_groups(text), text,
                    "a list of groups that OpenSSL knows, such as X25519:P-256");
}

std::uint64_t thousandths_per_second(const std::string& text) {
    const auto rate = parse_rate(text);
    accepted(rate && *rate >= 0.001 && *rate <= 10e6, text,
             "a rate from 0.001 to 10M a second, such as 50, 2.5 or 20k");
    return static_cast<std::uint64_t>(std::llround(*rate * 1000));
}

std::chrono::system_clock::time_point start_time(const std::string& text) {
    const auto now = std::chrono::system_clock::now();
    const auto delay = text.starts_with('+') ? parse_duration(text.substr(1)) : std::nullopt;
    const auto start =
        delay ? now + std::chrono::duration_cast<std::chrono::system_clock::duration>(*delay)
              : checked(parse_timestamp(text), text,
                        "a time such as 2026-12-01T10:00:00Z, or +5s");
    if (start < now) throw UsageError(in_quotes(text) + " has passed");
    return start;
}

// Masks what any of the expressions matches.
void add_mask(std::optional<Expression>& to, const std::string& text) {
    if (to) return to->add(text);
    to.emplace(text);
}

// A number counts messages; a time has a unit.
void set_churn(LoadOptions& to, const std::string& text) {
    const bool number = text.find_first_not_of("0123456789") == text.npos;
    to.lifetime = number ? std::nullopt : parse_duration(text);
    to.churn = number ? std::optional(up_to(4'000'000'000)(text)) : std::nullopt;
    accepted(to.churn || to.lifetime, text,
             "a number of messages, or a time with its unit, such as 10s");
}

void add_requirements(ClientOptions& to, const std::string& text) {
    const std::vector<Requirement> parsed = parse_requirements(text);
    std::vector<Requirement>& list = to.report.required;
    list.insert(list.end(), parsed.begin(), parsed.end());
}

// --- Rows: letter, name, argument, help, action, modes, chosen modes.

std::vector<Option> connection_options(ClientOptions& to) {
    bufio::Endpoint& endpoint = to.session.endpoint;
    constexpr Modes network = (mode::streams & ~mode::path) | mode::datagrams;
    return {
        {'4', nothing, nothing, "use IPv4 only", [&](auto&) { endpoint.family = AF_INET; },
         network | mode::v4},
        {'6', nothing, nothing, "use IPv6 only", [&](auto&) { endpoint.family = AF_INET6; },
         network | mode::v6, mode::v6},
        {'n', nothing, nothing, "accept numeric addresses only", flag(endpoint.numeric),
         network},
        {'s', "source", "ADDR", "connect from this address",
         into(endpoint.source_host, source_address), network},
        {'p', "source-port", "PORT", "connect from this port", into(endpoint.source_port, port),
         network | mode::single},
        {'U', "unixsock", "PATH", "connect to this Unix-domain socket", into(endpoint.path),
         mode::stream | mode::path, mode::path},
        {'u', "udp", nothing, "use UDP, as with udp://", flag(endpoint.datagrams), mode::plain,
         mode::datagrams},
        {'z', nothing, nothing, "connect, report, exit; with a load: only connect",
         flag(to.report.probe), mode::probe | mode::probe_load | mode::streams,
         mode::probe | mode::probe_load},
    };
}

std::vector<Option> timing_options(ClientOptions& to) {
    Session::Options& session = to.session;
    return {
        {'w', "connect-timeout", "D", "time limit for look-up, TCP and handshakes (10s)",
         into(session.connect_timeout, duration_value)},
        {0, "idle-timeout", "D", "close after this time without traffic (off)",
         into(session.idle_timeout, limit_value)},
        {'m', "max-time", "D", "time limit; length with -c, -i or --rate (off)",
         into(session.max_time, limit_value)},
        {0, "retry", "N", "number of retries (pipe: 0, screen: forever)",
         into(to.retries, retries), mode::runs & ~mode::replay},
        {0, "retry-delay", "D", "delay before a retry; doubles up to 30s (0.5s)",
         into(session.retry_delay, duration_value)},
        {0, "busy", nothing, "never sleep while connected; uses a whole CPU", flag(to.busy)},
    };
}

// These options do not switch TLS on, so that a forgotten --tls is reported.
std::vector<Option> tls_options(ClientOptions& to) {
    bufio::TlsClientOptions& tls = to.tls;
    const auto version = one_of<bufio::TlsVersion>(
        {{"1.2", bufio::TlsVersion::v1_2}, {"1.3", bufio::TlsVersion::v1_3}});
    return {
        {0, "tls", nothing, "use TLS; verify certificate and host name", flag(to.use_tls),
         mode::stream | mode::path | mode::websocket, mode::tls},
        {'E', "cert", "FILE", "client certificate and chain (PEM)", into(tls.certificate)},
        {0, "key", "FILE", "private key of --cert (in the same file)", into(tls.key)},
        {0, "servername", "NAME", "server name to send with SNI (HOST)",
         into(tls.server_name, host_name_value)},
        {0, "alpn", "A,B", "protocols to offer", into(tls.alpn, protocols)},
        {0, "groups", "A:B", "key exchange groups to offer, such as X25519:P-256",
         into(tls.groups, known_groups)},
        {0, "no-sessionid", nothing, "resume no TLS session: full handshakes only",
         [&](auto&) { tls.resume = false; }},
        {0, "tls-min", "V", "minimum version: 1.2 or 1.3 (1.2)",
         into(tls.min_version, version)},
        {0, "tls-max", "V", "maximum version: 1.2 or 1.3 (1.3)",
         into(tls.max_version, version)},
    };
}

std::vector<Option> trust_options(ClientOptions& to) {
    bufio::TlsClientOptions& tls = to.tls;
    return {
        {0, "cacert", "FILE", "trust these CA certificates, not the system's",
         into(tls.ca_file)},
        {0, "verify-hostname", "NAME", "name to expect in the certificate (HOST)",
         into(tls.verify_name, host_name_value)},
        {0, "pinnedpubkey", "PIN", "trust this public key only, sha256//BASE64",
         [&](auto& text) { tls.pins.push_back(pin(text)); }},
        {'k', "insecure", nothing, "accept any certificate",
         [&](auto&) { tls.verify = false; }},
    };
}

std::vector<Option> websocket_options(websocket::Request& to) {
    return {
        {0, "header", "LINE", "add \"NAME: VALUE\" to the request",
         [&](auto& text) { to.headers.push_back(header(text)); }},
        {0, "subprotocol", "A,B", "subprotocols to offer", into(to.subprotocols, subprotocols)},
    };
}

std::vector<Option> message_options(ClientOptions& to) {
    Session::Options& session = to.session;
    constexpr Modes talks = mode::runs & ~(mode::probe | mode::probe_load);
    const auto expectation =
        one_of<Expect>({{"echo", Expect::echo}, {"any", Expect::any}, {"none", Expect::none}});
    return {
        {'f', "framing", "F", "how messages are delimited (line)",
         [&](auto& text) { session.framing = framing_value(text); }, 0,
         mode::framed | mode::raw},
        {'C', nothing, nothing, "same as -f crlf",
         [&](auto&) { session.framing = find_framing("crlf"); }, 0, mode::framed},
        {0, "max-frame", "SIZE", "maximum size of a message (32M)",
         into(session.max_frame, size)},
        {0, "expect", "echo|any|none", "which reply to expect (echo)",
         into(session.expect, expectation), talks & ~mode::replay,
         mode::replies | mode::no_reply},
        {0, "match", "REGEX", "accept any reply that matches (POSIX extended)",
         [&](auto& text) { session.pattern.emplace(text); },
         (talks & ~mode::replay) | mode::any_reply},
        {'W', "reply-timeout", "D", "time limit for each reply (5s)",
         into(session.reply_timeout, duration_value), talks},
        {0, "window", "N", "maximum messages in flight (64, or 128 KiB)",
         into(to.window, up_to(1'000'000)),
         (talks & ~(mode::screen | mode::replay)) | mode::unpaced | mode::replies},
        {0, "escapes", nothing, "interpret \\n \\r \\t \\0 \\\\ \\xNN in the input",
         flag(to.escapes),
         mode::input | mode::screen | mode::generated | mode::load | mode::framed},
        {'q', nothing, "D", "time limit for the server to close (5s)",
         into(session.close_timeout, duration_value)},
    };
}

std::vector<Option> generated_options(ClientOptions& to) {
    constexpr Modes either = mode::generated | mode::load;
    return {
        {'c', "count", "N", "send N generated messages (unlimited)",
         into(to.count, up_to(4'000'000'000)), either, mode::generated},
        {'i', "interval", "D", "send one every D (1s); 0: as replies arrive",
         into(to.interval, interval), either | mode::unpaced | mode::interval,
         mode::generated | mode::interval},
        {0, "size", "SIZE", "bytes in each generated message (64)", into(to.size, size), either,
         mode::generated},
        {0, "warm-up", "D", "send messages for D first, and count them apart",
         into(to.warm_up, duration_value), either, mode::generated},
        {0, "messages", "FILE", "send the lines of FILE over and over (-: stdin)",
         into(to.messages), either, mode::generated},
    };
}

// Any of these options makes a load run, of one connection if no number is given.
std::vector<Option> load_options(LoadOptions& to) {
    constexpr Modes probes = mode::load | mode::probe_load;
    return {
        {0, "connections", "N", "open N connections at once (1)",
         into(to.connections, up_to(1'000'000)), probes, mode::load},
        {0, "connect-rate", "R", "open R connections a second (all at once)",
         into(to.connect_rate, thousandths_per_second), probes, mode::load},
        {0, "rate", "R", "messages a second in total", into(to.rate, thousandths_per_second),
         mode::load, mode::load | mode::rate},
        {0, "arrivals", "KIND", "gaps of --rate: even or poisson (even)",
         into(to.random_arrivals, one_of<bool>({{"even", false}, {"poisson", true}})),
         mode::rate},
        {0, "seed", "N", "seed of --arrivals poisson (1)", into(to.seed, up_to(4'000'000'000)),
         mode::rate},
        {0, "churn", "N|D", "replace a connection after N messages or time D",
         [&](auto& text) { set_churn(to, text); }, probes, mode::load},
        {0, "threads", "N|auto", "spread connections over N threads (1)",
         [&](auto& text) {
             to.threads = threads_value(text);
             to.threads_auto = text == "auto";
         },
         probes, mode::load},
        {0, "start-at", "TIME|+D", "send the first message at this time, in UTC",
         into(to.start, start_time), mode::load, mode::load},
    };
}

std::vector<Option> replay_options(ClientOptions& options) {
    ReplayOptions& to = options.replay;
    return {
        {0, "payload", nothing, "include payloads in --json, to make a recording",
         flag(options.report.payloads),
         (mode::piped & ~(mode::probe | mode::probe_load)) | mode::json | mode::framed},
        {0, "replay", "FILE", "replay a recording and require its replies", into(to.file),
         mode::replay, mode::replay},
        {0, "fast", nothing, "replay as replies arrive, not at recorded times", flag(to.fast),
         mode::replay},
        {0, "mask", "REGEX", "ignore parts of replies that match, such as times",
         [&](auto& text) { add_mask(options.session.pattern, text); }, mode::replay},
    };
}

std::vector<Option> verdict_options(ClientOptions& to) {
    return {
        {0, "require", "LIST", "fail unless true: p99<5ms,lost<0.1%,rate>10k",
         [&](auto& text) { add_requirements(to, text); }},
        {0, "merge", "FILE...", "add up saved runs instead of connecting",
         [&](auto& text) { to.merge.push_back(text); }, mode::merge, mode::merge},
    };
}

std::vector<Option> output_options(ClientOptions& to) {
    constexpr Modes any = mode::runs | mode::merge;
    return {
        {0, "json", nothing, "print JSON, one object a line (pipe mode)",
         [&](auto&) { to.report.form = Reporter::Form::json; }, any & ~mode::screen,
         mode::input | mode::json},
        {'x', "hex", nothing, "print replies in hex", flag(to.report.hex),
         mode::input | mode::screen | mode::replay | mode::text},
        {'o', "log", "FILE", "append a transcript with times to FILE",
         [&](auto& text) { to.report.log = JournalFile(text); },
         mode::input | mode::screen | mode::probe | mode::generated | mode::replay},
        {'v', nothing, nothing, "also report connections (pipe mode)", flag(to.report.verbose)},
        {0, "quiet", nothing, "print results only: replies, or the summary",
         flag(to.report.quiet), any},
        {0, "no-tui", nothing, "use pipe mode, even on a terminal", flag(to.no_tui),
         any & ~mode::screen, mode::input},
        sandbox_option(to.no_sandbox),
        help_option(to.help),
        version_option(to.version),
    };
}

}  // namespace

std::vector<OptionGroup> client_table(ClientOptions& to) {
    constexpr Modes over_tls = mode::streams | mode::tls;
    return {{"Connection", connection_options(to)},
            {"Timeouts and retries", timing_options(to)},
            {"TLS", tls_options(to), over_tls},
            {"TLS verification", trust_options(to), over_tls},
            {"WebSocket (ws:// and wss://)", websocket_options(to.websocket), mode::websocket},
            {"Messages", message_options(to)},
            {"Generated messages (pipe mode)", generated_options(to)},
            {"Load", load_options(to.load)},
            {"Recording and replay (pipe mode)", replay_options(to)},
            {"Verdicts (pipe mode)", verdict_options(to), mode::piped | mode::merge},
            {"Output", output_options(to)}};
}

}  // namespace yodel
