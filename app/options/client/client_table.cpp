#include "app/options/client/client_options.hpp"

#include "app/options/option_values.hpp"
#include "app/options/target.hpp"
#include "app/text/units.hpp"

#include <sys/socket.h>

#include <fstream>

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

}  // namespace

// --- Rows: letter, name, argument, help, action, excludes, needs, implies.

OptionGroup connection_options(ClientOptions& to) {
    Session::Options& session = to.run.session;
    bufio::Endpoint& endpoint = session.endpoint;
    constexpr const char* network = "unixsock";
    constexpr const char* source = "unixsock listen";
    return {"Connection",
            {{'4', none, none, "use IPv4 only; -6: IPv6 only; -n: no look-ups",
              family_value(endpoint.family, AF_INET), network},
             {'6', none, none, no_help_row, family_value(endpoint.family, AF_INET6), network},
             {'n', none, none, no_help_row, flag(endpoint.numeric), network},
             {'s', "source", "ADDR", "connect from this address",
              into(endpoint.source_host, source_address_value), source},
             {'p', "source-port", "PORT", "connect from this port",
              into(endpoint.source_port, port_value), source},
             {0, "connect-to", "ADDR", "connect to ADDR[:PORT]; keep the target's name",
              [&](auto& text) { set_destination(endpoint, text); }, source},
             {'U', "unixsock", "PATH", "connect to this Unix-domain socket",
              into(endpoint.path), "udp"},
             {'u', "udp", none, "use UDP, as with udp://", flag(endpoint.udp), "tls"},
             {'z', none, none, "connect, report, exit; with -c or -i, like ping",
              flag(to.run.probe), "udp examine"},
             {'w', "connect-timeout", "D", "time limit for look-up, TCP and handshakes (10s)",
              into(session.connect_timeout, duration_value)},
             {0, "idle-timeout", "D", "close after this time without traffic (off)",
              into(session.idle_timeout, limit_value)},
             {'m', "max-time", "D", "time limit of the run (off)",
              into(session.max_time, limit_value)},
             {0, "retry", "N", "number of retries (0; full-screen mode: forever)",
              into(to.retries, retries_value), "replay examine listen"},
             {0, "retry-delay", "D", "delay before a retry; doubles up to 30s (0.5s)",
              into(session.retry_delay, duration_value), "listen"}}};
}

// The options other than --tls do not switch TLS on, so that a forgotten --tls is reported.
OptionGroup tls_options(ClientOptions& to) {
    bufio::TlsClientOptions& tls = to.tls;
    const auto version = one_of<bufio::TlsVersion>(
        {{"1.2", bufio::TlsVersion::v1_2}, {"1.3", bufio::TlsVersion::v1_3}});
    const auto service = one_of(starttls_services());
    return {
        "TLS",
        {{0, "tls", none, "use TLS; verify certificate and host name", flag(to.use_tls), "udp",
          ""},
         {0, "starttls", "NAME", "ask smtp, imap, pop3 or ftp to begin TLS",
          [&to, service](auto& text) {
              to.run.session.starttls = service(text);
              to.use_tls = true;
          },
          "udp ws listen", "", "tls"},
         {'E', "cert", "FILE", "certificate and chain (PEM); --key FILE: its key",
          into(tls.certificate), "udp"},
         {0, "key", "FILE", no_help_row, into(tls.key), "udp"},
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
         {'k', "insecure", none, "accept any certificate", [&](auto&) { tls.verify = false; }}},
        "udp listen",
        "tls"};
}

OptionGroup message_options(ClientOptions& to) {
    Session::Options& session = to.run.session;
    const auto expectation =
        one_of<Expect>({{"echo", Expect::echo}, {"any", Expect::any}, {"none", Expect::none}});
    return {
        "Messages",
        {{'f', "framing", "F", "how messages are delimited (line); -C: crlf",
          [&](auto& text) { session.framing = framing_value(text); }},
         {'C', none, none, no_help_row, [&](auto&) { session.framing = find_framing("crlf"); }},
         {0, "max-frame", "SIZE", "maximum size of a message (32M)",
          into(session.max_frame, size_value)},
         {0, "expect", "echo|any|none", "which reply to expect (echo)",
          into(session.expect, expectation), "z replay examine listen"},
         {0, "match", "REGEX", "accept any reply that matches (POSIX extended)",
          [&](auto& text) { session.pattern.emplace(text); },
          "z replay examine listen expect-echo expect-none"},
         {'W', "reply-timeout", "D", "reply timeout (5s); -q D: time limit to close (5s)",
          into(session.reply_timeout, duration_value), "z"},
         {'q', none, "D", no_help_row, into(session.close_timeout, duration_value), "examine"},
         {0, "on-connect", "LINE", "send LINE first on each connection; @FILE: its lines",
          [&](auto& text) { add_first_words(session.on_connect, text); },
          "udp listen replay examine"},
         {0, "escapes", none, "interpret \\n \\r \\t \\0 \\\\ \\xNN in the input",
          flag(to.escapes), "z replay examine raw"},
         {0, "header", "LINE", "ws://: add \"NAME: VALUE\" to the request",
          [&](auto& text) { to.websocket.headers.push_back(header_value(text)); }, "listen",
          "ws"},
         {0, "subprotocol", "A,B", "ws://: protocols to offer; --ping D: ping if idle",
          into(to.websocket.subprotocols, subprotocols_value), "listen", "ws"},
         {0, "ping", "D", no_help_row, into(session.ping, limit_value), "z examine", "ws"}}};
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

std::vector<Option> process_options(ClientOptions& to) {
    return {
        {0, "quiet", none, "print results only: replies, or the summary",
         flag(to.report.quiet)},
        sandbox_option(to.no_sandbox),
        help_option(to.help),
        version_option(to.version),
    };
}

}  // namespace yodel
