#include "app/options/client/client_options.hpp"

#include "app/options/target.hpp"
#include "app/text/units.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// --- Values.

constexpr auto port_value =
    value_parser([](std::string_view text) { return parse_number(text, 1, 65535).has_value(); },
                 "a port from 1 to 65535");
constexpr auto source_address_value = value_parser(
    [](const std::string& text) {
        return text == "localhost" || numeric_family(text) != AF_UNSPEC;
    },
    "a numeric address");
constexpr auto protocol_value =
    value_parser([](std::string_view text) { return !text.empty() && text.size() <= 255; },
                 "a protocol name of 1 to 255 bytes");
constexpr auto subprotocol_value =
    value_parser(websocket::is_token, "the name of a subprotocol");
constexpr auto header_value =
    value_parser(websocket::is_allowed_header,
                 "a header that can be added, such as \"Origin: https://example.com\"");
constexpr auto groups_value =
    value_parser(bufio::TlsContext::knows_groups,
                 "a list of groups that OpenSSL knows, such as X25519:P-256");
// In base64, the 32 bytes of a SHA-256 hash have 44 characters.
constexpr auto pin_value = value_parser(
    [](std::string_view text) { return text.starts_with("sha256//") && text.size() == 8 + 44; },
    "sha256// followed by 44 characters of base64");
constexpr auto retries_value = value_parser(
    [](std::string_view text) {
        return text == "forever" ? Session::forever : parse_number(text, 0, 1'000'000);
    },
    "a number up to 1000000, or \"forever\"");

// Returns a parser of comma-separated lists, whose elements `parse` checks.
template <class Parse>
auto list_of(Parse parse) {
    return [parse](const std::string& text) {
        std::vector<std::string> list = comma_separated(text);
        for (const std::string& each : list) parse(each);
        return list;
    };
}

void add_first_lines(std::vector<std::string>& to, const std::string& text) {
    if (!text.starts_with('@')) return to.push_back(text);
    errno = 0;
    std::ifstream file(text.substr(1));
    for (std::string line; std::getline(file, line);) to.push_back(line);
    if (!file.eof())
        throw UsageError("cannot read " + in_quotes(text.substr(1)) + ": " +
                         std::generic_category().message(errno));
}

void set_destination(bufio::Endpoint& to, const std::string& text) {
    std::vector<std::string> words{text};
    const Target target = take_target(words, to_redirect);
    to.connect_host = target.host;
    to.connect_service = target.service;
}

// --- What follows from several options.

void set_target(ClientOptions& options, const char* compare_hint) {
    CommandLine& line = options.line;
    Session::Options& session = options.run.session;
    bufio::Endpoint& endpoint = session.endpoint;
    const bool is_listening = line.has("listen");
    std::vector<std::string> words = line.operands;
    Target target;
    if (!words.empty()) {
        target = take_target(words, is_listening ? to_accept : to_connect);
        line.given.push_back(target.given);
        if (!target.path.empty()) endpoint.path = target.path;
    }
    if (!is_listening &&
        (words.size() == 2 || (words.size() == 1 && words[0].find(':') != std::string::npos)))
        throw UsageError(compare_hint);
    if (!words.empty()) throw UsageError("unexpected argument " + in_quotes(words[0]));
    endpoint.is_udp = line.has("udp");
    endpoint.host = target.host;
    endpoint.service = target.service;
    if (line.has("ws://")) {
        websocket::Request& request = session.websocket.emplace(options.websocket);
        request.path = target.resource;
        request.host = endpoint.text();
        const std::string_view default_port = options.uses_tls() ? ":443" : ":80";
        if (request.host.ends_with(default_port))
            request.host.erase(request.host.size() - default_port.size());
    }
    if (!is_listening) return;
    // Messages from a client answer nothing, so no reply is expected.
    session.expect = Expect::none;
    endpoint.is_passive = true;
    if (endpoint.host.empty() && endpoint.path.empty())
        endpoint.host = endpoint.family == AF_INET6 ? "::1" : "127.0.0.1";
}

// --starttls smtp implies -f smtp unless -f or -C is given, because the service keeps its
// framing after STARTTLS. If replies and messages have different framings, replies cannot be
// echoes, and the default is to expect any answer. With --listen, yodel takes the place of such
// a service, whose clients send lines that end with CRLF.
void derive_settings(ClientOptions& options) {
    Session::Options& session = options.run.session;
    CommandLine& line = options.line;
    const std::string given = line.written("framing C");
    if (session.starttls && given.empty() && !framing_of(*session.starttls)->can_echo())
        session.framing = framing_of(*session.starttls);
    if (session.endpoint.is_udp && !given.empty() && session.framing->has_frames())
        line.given.push_back({given, "", "udp, because each datagram is one message"});
    if (session.endpoint.is_udp) session.framing = datagram_framing();
    if (session.websocket) session.framing = websocket_framing();
    const Framing& framing = *session.framing;
    if (!framing.can_echo() && session.endpoint.is_passive)
        session.framing = find_framing("crlf");
    if (!framing.can_echo() && !session.endpoint.is_passive && !line.has("expect"))
        session.expect = Expect::any;
    // Adds the settings that exclude options, as if the settings were options themselves. A row
    // has a text for errors, names, and what the setting excludes.
    const std::string label = framing.label();
    const std::string expect = line.written("expect");
    line.add_if(!framing.has_frames(), {label + ", which has no messages", "raw"});
    line.add_if(!framing.has_framed_replies(),
                {label + ", whose replies have no frames", "unframed"});
    line.add_if(!framing.can_echo(),
                {label + ", whose replies never equal messages", "other-replies"});
    line.add_if(!framing.greeting.empty(),
                {label + ", whose greeting only a server can send", "greeting"});
    if (!expect.empty()) {
        line.add_if(session.expect == Expect::none, {expect + " none", "expect=none"});
        line.add_if(session.expect == Expect::echo,
                    {expect + " echo", "expect=echo", "other-replies"});
    }
    line.add_if(options.run.is_probe && options.wants_generated_messages(),
                {"-z " + line.written("generated"), "repetition"});
    if (line.has("match")) session.expect = Expect::any;
}

}  // namespace

// --- Rows: label, help, action, excludes, needs, implies.

std::vector<Option> connection_options(ClientOptions& to) {
    RunOptions& run = to.run;
    Session::Options& session = run.session;
    bufio::Endpoint& endpoint = session.endpoint;
    return {
        {"Connection:"},
        {"-4", "use only IPv4, or IPv6 with -6; -n refuses names",
         set(endpoint.family, AF_INET), "unixsock"},
        {"-6", "", set(endpoint.family, AF_INET6), "4 unixsock"},
        {"-n", "", into(endpoint.is_numeric), "unixsock"},
        {"-s, --source=ADDR", "connect from this address",
         into(endpoint.source_host, source_address_value), "unixsock listen"},
        {"-p, --source-port=PORT", "connect from this port",
         into(endpoint.source_port, port_value), "unixsock listen many"},
        {"--connect-to=ADDR", "connect to ADDR[:PORT]; TLS and Host use TARGET",
         [&](auto& text) { set_destination(endpoint, text); }, "unixsock listen",
         "target, because it replaces only the address"},
        {"-U, --unixsock=PATH", "connect to this Unix-domain socket",
         into(endpoint.path, socket_path_value), "udp operand", "", "target port"},
        {"-u, --udp", "use UDP, as with udp://", {}, "tls"},
        {"-z", "connect, report, exit; with -c, like ping", into(run.is_probe), "udp examine"},
        {"-w, --connect-timeout=D", "time limit for look-up, TCP and handshakes (10s)",
         into(session.connect_timeout)},
        {"--idle-timeout=D", "close after this time without traffic (off)",
         into(session.idle_timeout)},
        {"-m, --max-time=D", "time limit of the run (off)", into(session.max_time)},
        {"--retry=N", "number of retries (0; forever in full-screen mode)",
         into(session.retries, retries_value), "replay examine listen repetition"},
        {"--retry-delay=D", "delay before a retry; doubles up to 30s (0.5s)",
         into(session.retry_delay), "listen"}};
}

// Of these options, only --tls and --starttls switch TLS on, so that a forgotten --tls is
// reported.
std::vector<Option> tls_options(ClientOptions& to) {
    bufio::TlsClientOptions& tls = to.tls;
    const auto version = one_of<bufio::TlsVersion>(
        {{"1.2", bufio::TlsVersion::v1_2}, {"1.3", bufio::TlsVersion::v1_3}});
    const auto service_value = one_of(starttls_services());
    return {{"TLS:"},
            {"--tls", "use TLS; verify certificate and host name", {}, "udp"},
            {"--starttls=NAME", "ask smtp, imap, pop3 or ftp to begin TLS",
             into(to.run.session.starttls, service_value), "udp ws:// listen", "target", "tls"},
            {"-E, --cert=FILE", "certificate and chain (PEM); --key FILE is its key",
             into(tls.certificate), "udp", "tls"},
            {"--key=FILE", "", into(tls.key), "udp", "cert"},
            {"--alpn=A,B", "protocols to offer with ALPN",
             into(tls.alpn, list_of(protocol_value)), "udp listen", "tls"},
            {"--groups=A:B", "key exchange groups to offer, such as X25519:P-256",
             into(tls.groups, groups_value), "udp listen", "tls"},
            {"--tls-min=V", "minimum version: 1.2 or 1.3 (1.2); also --tls-max",
             into(tls.min_version, version), "udp listen", "tls"},
            {"--tls-max=V", "", into(tls.max_version, version), "udp listen", "tls"},
            {"--cacert=FILE", "trust these CA certificates, not the system's",
             into(tls.ca_file), "udp listen", "tls"},
            {"--pinnedpubkey=PIN", "trust only this public key, sha256//BASE64",
             [&](auto& text) { tls.pins.push_back(pin_value(text)); }, "udp listen", "tls"},
            {"-k, --insecure", "accept any certificate, unless a key is pinned",
             set(tls.must_verify, false), "udp listen", "tls"}};
}

std::vector<Option> message_options(ClientOptions& to) {
    Session::Options& session = to.run.session;
    const auto expectation =
        one_of<Expect>({{"echo", Expect::echo}, {"any", Expect::any}, {"none", Expect::none}});
    constexpr const char* no_framing = "ws://, because each WebSocket message is one message";
    return {{"Messages:"},
            {"-f, --framing=F", "how messages are delimited (line); -C means crlf",
             [&](auto& text) { session.framing = framing_value(text, false); }, no_framing},
            {"-C", "", set(session.framing, find_framing("crlf")), no_framing},
            {"--max-frame=SIZE", "maximum size of a message (32M)",
             into(session.max_frame, size_from(1))},
            {"--expect=echo|any|none", "which reply to expect (echo; for resp, smtp: any)",
             into(session.expect, expectation), "z replay examine listen"},
            {"--match=REGEX", "accept any reply that matches (POSIX extended)",
             [&](auto& text) { session.pattern.emplace(text); },
             "z replay examine listen unframed expect=echo expect=none"},
            {"-W, --reply-timeout=D", "reply timeout (5s); -q D is the close timeout (5s)",
             into(session.reply_timeout), "z"},
            {"-q D", "",
             [&](auto& text) {
                 session.stays_open = text == "forever";
                 session.close_timeout =
                     session.stays_open ? ev::Duration::max() / 4 : duration_value(text);
             },
             "examine"},
            {"--on-connect=LINE", "line to send first on each connection, or @FILE",
             [&](auto& text) { add_first_lines(session.on_connect, text); },
             "udp listen replay examine"},
            {"--escapes", "interpret \\n \\r \\t \\0 \\\\ \\xNN in the input",
             into(to.run.has_escapes), "z replay examine raw generator"},
            {"--header=LINE", "ws://: add \"NAME: VALUE\" to the request",
             [&](auto& text) { to.websocket.headers.push_back(header_value(text)); }, "listen",
             "ws://"},
            {"--subprotocol=A,B", "ws://: protocols to offer; --ping D pings if idle",
             into(to.websocket.subprotocols, list_of(subprotocol_value)), "listen", "ws://"},
            {"--ping=D", "", into(session.ping), "z examine", "ws://"}};
}

std::vector<Option> generated_options(ClientOptions& to, std::string_view heading) {
    return {{heading},
            {"-c, --count=N", "send N generated messages (unlimited)",
             into(to.run.count, number_up_to(4'000'000'000)), "replay examine read", "",
             "generated"},
            {"--size=SIZE", "bytes in each generated message (64)", into(to.size, size_from(0)),
             "z replay examine read", "", "generated"}};
}

void complete_client_options(ClientOptions& options, const char* compare_hint) {
    set_target(options, compare_hint);
    derive_settings(options);
    options.line.check();
    RunOptions& run = options.run;
    bufio::TlsClientOptions& tls = options.tls;
    const std::string& name = run.session.endpoint.host;
    if (options.uses_tls()) {
        if (!name.empty() && bufio::name_in_certificate(name).empty())
            throw UsageError(in_quotes(name) + " is neither a host name nor an address");
        if (tls.max_version && *tls.max_version < tls.min_version)
            throw UsageError("--tls-max is below --tls-min");
        if (const char* const log = std::getenv("SSLKEYLOGFILE")) tls.key_log_file = log;
    }
    const bufio::Endpoint dialed = run.session.endpoint.dialed();
    check_family(dialed.family, dialed.host);
    if (dialed.is_numeric && !dialed.host.empty() && numeric_family(dialed.host) == AF_UNSPEC)
        throw UsageError("-n: " + in_quotes(dialed.host) + " is not a numeric address");
    const std::string& source = dialed.source_host;
    check_family(numeric_family(source), dialed.host, "-s " + source);
    const Framing& framing = *run.session.framing;
    const std::size_t limit = run.session.max_frame;
    const std::size_t size = options.size.value_or(framing.min_payload());
    if (size < framing.min_payload() || size > std::min(limit, framing.max_payload()))
        throw UsageError("--size: " + framing.misfit_text(size, limit));
    if (!options.line.has("repetition")) return;
    run.probe_interval = options.interval.value_or(std::chrono::seconds(1));
    run.length = std::exchange(run.session.max_time, std::nullopt);
    if (!options.prints_json()) options.report.form = Reporter::Form::sequence;
}

}  // namespace yodel
