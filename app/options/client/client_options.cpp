#include "app/options/client/client_options.hpp"

#include "app/options/target.hpp"
#include "app/text/units.hpp"

#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace yodel {

namespace {

// --- Values.

std::size_t size_value(const std::string& text) {
    return checked(parse_size(text), text, "a size such as 512, 64k or 32M");
}

unsigned retries_value(const std::string& text) {
    if (text == "forever") return Session::forever;
    return checked(parse_number(text, 0, 1'000'000), text,
                   "a number up to 1000000, or \"forever\"");
}

std::string port_value(const std::string& text) {
    return checked_text(parse_number(text, 1, 65535).has_value(), text,
                        "a port from 1 to 65535");
}

std::string source_address_value(const std::string& text) {
    return checked_text(numeric_family(text) != AF_UNSPEC || text == "localhost", text,
                        "a numeric address");
}

void set_destination(bufio::Endpoint& to, const std::string& text) {
    const Target target = parse_destination(text);
    to.connect_host = target.host;
    to.connect_service = target.service;
}

std::vector<std::string> protocols_value(const std::string& text) {
    std::vector<std::string> list = comma_separated(text);
    for (const std::string& each : list)
        if (each.empty() || each.size() > 255)
            throw UsageError("a protocol name must be 1 to 255 bytes long");
    return list;
}

std::vector<std::string> subprotocols_value(const std::string& text) {
    std::vector<std::string> list = comma_separated(text);
    for (const std::string& each : list)
        checked_text(websocket::is_token(each), each, "the name of a subprotocol");
    return list;
}

std::string header_value(const std::string& text) {
    return checked_text(websocket::is_header(text), text,
                        "a header that can be added, such as \"Origin: https://example.com\"");
}

void add_first_words(std::vector<std::string>& to, const std::string& text) {
    if (!text.starts_with('@')) return to.push_back(text);
    std::ifstream file(text.substr(1));
    for (std::string line; std::getline(file, line);) to.push_back(line);
    if (!file.eof()) throw UsageError("cannot read " + in_quotes(text.substr(1)));
}

std::string pin_value(const std::string& text) {
    // SHA-256 in base64: 32 bytes in 44 characters.
    const std::string scheme = "sha256//";
    return checked_text(text.starts_with(scheme) && text.size() == scheme.size() + 44, text,
                        "sha256// followed by 44 characters of base64");
}

std::string groups_value(const std::string& text) {
    return checked_text(bufio::TlsContext::knows_groups(text), text,
                        "a list of groups that OpenSSL knows, such as X25519:P-256");
}

// --- Values that act like options.

// Adds what the framing lacks, which some options need.
void add_framing(CommandLine& line, const Framing& framing) {
    const auto add = [&](const char* reason, const char* name) {
        line.given.push_back({framing.label() + reason, name});
    };
    if (!framing.has_frames()) add(", which has no messages", "raw");
    if (!framing.replies_framed()) add(", whose replies have no frames", "unframed");
    if (!framing.can_echo()) add(", whose replies never equal messages", "other-replies");
    if (!framing.greeting.empty()) add(", whose greeting only a server can send", "greeting");
}

void add_expectation(CommandLine& line, Expect expect) {
    const std::string option = line.written("expect");
    if (option.empty() || expect == Expect::any) return;
    line.given.push_back(expect == Expect::none
                             ? GivenOption{option + " none", "expect=none"}
                             : GivenOption{option + " echo", "expect=echo", "other-replies"});
}

// --- Checks that the table does not cover.

void check_tls(ClientOptions& options) {
    bufio::TlsClientOptions& tls = options.tls;
    const std::string& host = options.run.session.endpoint.host;
    if (!options.use_tls) return;
    if (!host.empty()) host_name_value(host);
    if (tls.max_version && *tls.max_version < tls.min_version)
        throw UsageError("--tls-max is below --tls-min");
    if (const char* const key_log = std::getenv("SSLKEYLOGFILE")) tls.key_log_file = key_log;
}

void check_size(const ClientOptions& options) {
    const Framing& framing = *options.run.session.framing;
    const std::size_t limit = options.run.session.max_frame;
    if (!options.size) return;
    const std::string size = "--size " + std::to_string(*options.size);
    if (*options.size > limit) throw UsageError(above_limit_text(size, limit));
    if (*options.size < framing.min_payload() || *options.size > framing.max_payload())
        throw UsageError(size + " does not fit into " + framing.label());
}

// Refuses a host name with -n, and a source address and a target of different families.
void check_families(const bufio::Endpoint& target) {
    const bufio::Endpoint endpoint = target.dialed();
    check_family(endpoint.family, endpoint.host);
    const int source_family = numeric_family(endpoint.source_host);
    const int target_family = numeric_family(endpoint.host);
    if (endpoint.numeric && !endpoint.host.empty() && target_family == AF_UNSPEC)
        throw UsageError("-n: " + in_quotes(endpoint.host) + " is not a numeric address");
    if (source_family != AF_UNSPEC && target_family != AF_UNSPEC &&
        source_family != target_family)
        throw UsageError("-s " + endpoint.source_host + " and " + endpoint.host +
                         " are of different address families");
}

// With -z, the options for generated messages are about attempts to connect.
void prepare_repetition(ClientOptions& options) {
    RunOptions& run = options.run;
    if (!run.probe || !options.wants_generated_messages()) return;
    const std::string other =
        options.line.written("connections connect-rate churn threads retry");
    if (!other.empty())
        throw UsageError(other + " cannot be combined with -z " +
                         options.line.written("generated"));
    run.repeat = options.interval.value_or(std::chrono::seconds(1));
    run.length = std::exchange(run.session.max_time, std::nullopt);
    if (!options.json()) options.report.form = Reporter::Form::sequence;
}

// --- The target.

void set_endpoint(ClientOptions& options, const Target& target, const std::string& word) {
    bufio::Endpoint& endpoint = options.run.session.endpoint;
    endpoint.host = target.host;
    endpoint.service = target.service;
    if (!target.path.empty()) endpoint.path = target.path;
    const Scheme none_given;
    const Scheme& scheme = target.scheme ? *target.scheme : none_given;
    options.line.given.push_back(
        {target.scheme ? std::string(scheme.prefix) : "the target " + word,
         "operand target " + std::string(scheme.names), std::string(scheme.excludes)});
    endpoint.udp = endpoint.udp || scheme.names == "udp";
    options.use_tls = options.use_tls || scheme.names.ends_with("tls");
    if (!target.websocket()) return;
    websocket::Request& request = options.run.session.websocket.emplace(options.websocket);
    request.host = endpoint.text();
    const std::string default_port = ":" + std::string(scheme.default_port);
    if (request.host.ends_with(default_port))
        request.host.resize(request.host.size() - default_port.size());
    request.path = target.resource;
}

// Messages from a client answer nothing, so no reply is expected.
void set_listening_endpoint(ClientOptions& options) {
    Session::Options& session = options.run.session;
    const std::vector<std::string>& operands = options.line.operands;
    session.expect = Expect::none;
    session.endpoint.passive = true;
    if (!operands.empty()) set_endpoint(options, parse_accepting_target(operands), operands[0]);
    if (session.endpoint.text() == ":") throw UsageError("-l needs a port: -l [ADDR:]PORT");
    if (session.endpoint.host.empty() && session.endpoint.path.empty())
        session.endpoint.host = session.endpoint.family == AF_INET6 ? "::1" : "127.0.0.1";
}

void set_target(ClientOptions& options, const char* comparing) {
    std::vector<std::string> words = options.line.operands;
    options.own_server =
        words.empty() && !options.listens && options.run.session.endpoint.path.empty();
    if (options.listens) return set_listening_endpoint(options);
    if (words.empty()) return;
    const std::string first = words[0];
    set_endpoint(options, take_target(words), first);
    if (words.size() == 2 || (words.size() == 1 && words[0].find(':') != std::string::npos))
        throw UsageError(comparing);
    if (!words.empty()) throw UsageError("unexpected argument " + in_quotes(words[0]));
}

// --starttls smtp implies -f smtp, because the service continues in these words. Each datagram
// or WebSocket message is one message, so any other framing is refused, except -f raw with
// datagrams. If replies and messages have different framings, replies cannot be echoes, and the
// default is to expect any answer. A client of such a service sends lines.
void choose_framing(ClientOptions& options) {
    Session::Options& session = options.run.session;
    CommandLine& line = options.line;
    const std::string framing = line.written("framing C");
    if (session.starttls && framing.empty() && !framing_of(*session.starttls)->can_echo())
        session.framing = framing_of(*session.starttls);
    if (session.endpoint.udp && !framing.empty() && session.framing->has_frames())
        line.given.push_back({framing, "", "udp"});
    if (session.endpoint.udp) session.framing = datagram_framing();
    if (session.websocket) session.framing = websocket_framing();
    add_framing(line, *session.framing);
    const bool can_echo = session.framing->can_echo();
    if (!can_echo && options.listens) session.framing = find_framing("crlf");
    if (!can_echo && !options.listens && !line.has("expect")) session.expect = Expect::any;
    add_expectation(line, session.expect);
    if (line.has("match")) session.expect = Expect::any;
}

}  // namespace

// --- Rows: letter, name, argument, help, action, excludes, needs, implies.

OptionGroup connection_options(ClientOptions& to) {
    Session::Options& session = to.run.session;
    bufio::Endpoint& endpoint = session.endpoint;
    constexpr const char* network = "unixsock";
    constexpr const char* source = "unixsock listen";
    return {"Connection",
            {{'4', absent, absent, "use IPv4 only; -6: IPv6 only; -n: no look-ups",
              set(endpoint.family, AF_INET), network},
             {'6', absent, absent, no_help_row, set(endpoint.family, AF_INET6), "4 unixsock"},
             {'n', absent, absent, no_help_row, into(endpoint.numeric), network},
             {'s', "source", "ADDR", "connect from this address",
              into(endpoint.source_host, source_address_value), source},
             {'p', "source-port", "PORT", "connect from this port",
              into(endpoint.source_port, port_value), source},
             {0, "connect-to", "ADDR", "connect to ADDR[:PORT]; keep the target's name",
              [&](auto& text) { set_destination(endpoint, text); }, source, "target"},
             {'U', "unixsock", "PATH", "connect to this Unix-domain socket",
              into(endpoint.path), "udp operand", "", "target"},
             {'u', "udp", absent, "use UDP, as with udp://", into(endpoint.udp), "tls"},
             {'z', absent, absent, "connect, report, exit; with -c or -i, like ping",
              into(to.run.probe), "udp examine"},
             {'w', "connect-timeout", "D", "time limit for look-up, TCP and handshakes (10s)",
              into(session.connect_timeout)},
             {0, "idle-timeout", "D", "close after this time without traffic (off)",
              into(session.idle_timeout)},
             {'m', "max-time", "D", "time limit of the run (off)", into(session.max_time)},
             {0, "retry", "N", "number of retries (0; full-screen mode: forever)",
              into(to.retries, retries_value), "replay examine listen"},
             {0, "retry-delay", "D", "delay before a retry; doubles up to 30s (0.5s)",
              into(session.retry_delay), "listen"}}};
}

// The options other than --tls do not switch TLS on, so that a forgotten --tls is reported.
OptionGroup tls_options(ClientOptions& to) {
    bufio::TlsClientOptions& tls = to.tls;
    const auto version = one_of<bufio::TlsVersion>(
        {{"1.2", bufio::TlsVersion::v1_2}, {"1.3", bufio::TlsVersion::v1_3}});
    const auto service = one_of(starttls_services());
    return {
        "TLS",
        {{0, "tls", absent, "use TLS; verify certificate and host name", into(to.use_tls),
          "udp", ""},
         {0, "starttls", "NAME", "ask smtp, imap, pop3 or ftp to begin TLS",
          [&to, service](auto& text) {
              to.run.session.starttls = service(text);
              to.use_tls = true;
          },
          "udp ws:// listen", "target", "tls"},
         {'E', "cert", "FILE", "certificate and chain (PEM); --key FILE: its key",
          into(tls.certificate), "udp"},
         {0, "key", "FILE", no_help_row, into(tls.key), "udp", "cert"},
         {0, "alpn", "A,B", "protocols to offer with ALPN", into(tls.alpn, protocols_value)},
         {0, "groups", "A:B", "key exchange groups to offer, such as X25519:P-256",
          into(tls.groups, groups_value)},
         {0, "tls-min", "V", "minimum version: 1.2 or 1.3 (1.2); also --tls-max",
          into(tls.min_version, version)},
         {0, "tls-max", "V", no_help_row, into(tls.max_version, version)},
         {0, "cacert", "FILE", "trust these CA certificates, not the system's",
          into(tls.ca_file)},
         {0, "pinnedpubkey", "PIN", "trust this public key only, sha256//BASE64",
          [&](auto& text) { tls.pins.push_back(pin_value(text)); }},
         {'k', "insecure", absent, "accept any certificate", set(tls.verify, false)}},
        "udp listen",
        "tls"};
}

OptionGroup message_options(ClientOptions& to) {
    Session::Options& session = to.run.session;
    const auto expectation =
        one_of<Expect>({{"echo", Expect::echo}, {"any", Expect::any}, {"none", Expect::none}});
    return {"Messages",
            {{'f', "framing", "F", "how messages are delimited (line); -C: crlf",
              [&](auto& text) { session.framing = framing_value(text); }, "ws://"},
             {'C', absent, absent, no_help_row, set(session.framing, find_framing("crlf")),
              "ws://"},
             {0, "max-frame", "SIZE", "maximum size of a message (32M)",
              into(session.max_frame, positive_size_value)},
             {0, "expect", "echo|any|none", "which reply to expect (echo)",
              into(session.expect, expectation), "z replay examine listen"},
             {0, "match", "REGEX", "accept any reply that matches (POSIX extended)",
              [&](auto& text) { session.pattern.emplace(text); },
              "z replay examine listen unframed expect=echo expect=none"},
             {'W', "reply-timeout", "D", "reply timeout (5s); -q D: time limit to close (5s)",
              into(session.reply_timeout), "z"},
             {'q', absent, "D", no_help_row,
              [&](auto& text) {
                  session.stays_open = text == "forever";
                  session.close_timeout =
                      session.stays_open ? ev::Duration::max() / 4 : duration_value(text);
              },
              "examine"},
             {0, "on-connect", "LINE", "first line on each connection; @FILE: its lines",
              [&](auto& text) { add_first_words(session.on_connect, text); },
              "udp listen replay examine"},
             {0, "escapes", absent, "interpret \\n \\r \\t \\0 \\\\ \\xNN in the input",
              into(to.escapes), "z replay examine raw"},
             {0, "header", "LINE", "ws://: add \"NAME: VALUE\" to the request",
              [&](auto& text) { to.websocket.headers.push_back(header_value(text)); }, "listen",
              "ws://"},
             {0, "subprotocol", "A,B", "ws://: protocols to offer; --ping D: ping if idle",
              into(to.websocket.subprotocols, subprotocols_value), "listen", "ws://"},
             {0, "ping", "D", no_help_row, into(session.ping), "z examine", "ws://"}}};
}

std::vector<Option> generated_options(ClientOptions& to) {
    return {
        {'c', "count", "N", "send N generated messages (unlimited)",
         into(to.run.count, number_up_to(4'000'000'000)), "replay examine read", "",
         "generated"},
        {0, "size", "SIZE", "bytes in each generated message (64)", into(to.size, size_value),
         "z replay examine read", "", "generated"},
    };
}

std::vector<Option> with_output_options(std::vector<Option> rows, ClientOptions& to) {
    rows.push_back({0, "quiet", absent, "print results only: replies, or the summary",
                    into(to.report.quiet)});
    return with_common_options(std::move(rows), to);
}

void finish_client(ClientOptions& options, const char* comparing) {
    set_target(options, comparing);
    choose_framing(options);
    options.line.check();
    check_tls(options);
    check_families(options.run.session.endpoint);
    check_size(options);
    prepare_repetition(options);
}

std::string argument_help() {
    return "F: " + join(framing_list(), " ") +
           "\nD: seconds, or a number with us, ms, s, m or h; SIZE: bytes, or with k, M or G\n";
}

}  // namespace yodel
