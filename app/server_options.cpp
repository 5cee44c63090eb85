#include "app/server_options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/echo.hpp"
#include "app/escapes.hpp"
#include "app/target.hpp"
#include "app/units.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace yodel {

namespace {

std::size_t connections(const std::string& text) {
    return checked(parse_number(text, 1, 1'000'000), text,
                   "a number of connections, from 1 to 1000000");
}

std::size_t size(const std::string& text) {
    const auto value = parse_size(text);
    return checked(value && *value > 0 ? value : std::nullopt, text,
                   "a size such as 512, 64k or 1M");
}

std::uint64_t count(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    if (code == std::errc() && stop == end) return number;
    throw UsageError("\"" + text + "\" is not a whole number");
}

double chance(const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool percent = *end == '%';
    const double value = percent ? number / 100 : number;
    if (end == text.c_str() || end[percent ? 1 : 0] != '\0' || !(value >= 0 && value <= 1))
        throw UsageError("\"" + text + "\" is not a chance such as 0.1 or 10%, up to 1");
    return value;
}

// DELAY or DELAY~JITTER
void set_delay(const std::string& text, Faults& faults) {
    const std::size_t mark = text.find('~');
    faults.delay = duration_argument(text.substr(0, mark));
    faults.jitter =
        mark == text.npos ? ev::Duration{} : duration_argument(text.substr(mark + 1));
}

std::string banner(const std::string& text) {
    const auto plain = unescaped(text);
    if (!plain) throw UsageError(escapes_expected);
    return *plain;
}

bufio::Endpoint unix_endpoint(const std::string& path) {
    bufio::Endpoint endpoint;
    endpoint.path = path;
    endpoint.passive = true;
    return endpoint;
}

bufio::Endpoint endpoint(const std::string& word, int family) {
    const Target target = parse_listening_target(word);
    const bool unnamed = word.find(':') == word.npos;
    bufio::Endpoint endpoint;
    endpoint.host = unnamed && family == AF_INET6 ? "::1" : target.host;
    endpoint.service = target.service;
    endpoint.family = family;
    endpoint.passive = true;
    return endpoint;
}

std::vector<Option> fault_table(Faults& to) {
    return {
        {0, "delay", "D[~D]", "hold every echo back for so long, give or take the second",
         [&](auto& text) { set_delay(text, to); }},
        {0, "drop", "P", "swallow a message with this chance",
         [&](auto& text) { to.drop = chance(text); }},
        {0, "corrupt", "P", "turn one bit of it over",
         [&](auto& text) { to.corrupt = chance(text); }},
        {0, "dup", "P", "send it twice", [&](auto& text) { to.dup = chance(text); }},
        {0, "chunk", "N", "send N bytes at a time", [&](auto& text) { to.chunk = size(text); }},
        {0, "close-after", "N", "close after N messages",
         [&](auto& text) { to.close_after = count(text); }},
        {0, "reset-after", "N", "reset after N messages",
         [&](auto& text) { to.reset_after = count(text); }},
        {0, "half-close", nullptr, "close the sending side at once",
         [&](auto&) { to.half_close = true; }},
        {0, "no-read", nullptr, "read nothing", [&](auto&) { to.no_read = true; }},
        {0, "stall-handshake", nullptr, "never answer the TLS handshake",
         [&](auto&) { to.stall_handshake = true; }},
        {0, "banner", "TEXT", "send TEXT first; \\n, \\r, \\t, \\0, \\\\ and \\xNN as in C",
         [&](auto& text) { to.banner = banner(text); }},
        {0, "seed", "N", "of the chances and the jitter (1)",
         [&](auto& text) { to.seed = count(text); }},
    };
}

std::vector<Option> table(ServerOptions& to) {
    EchoServer::Options& server = to.server;
    return {
        {'4', nullptr, nullptr, "IPv4 only", [&](auto&) { to.family = AF_INET; }},
        {'6', nullptr, nullptr, "IPv6 only", [&](auto&) { to.family = AF_INET6; }},
        {'U', "unixsock", "PATH", "listen on a unix-domain socket too",
         [&](auto& text) { to.endpoints.push_back(unix_endpoint(text)); }},
        {0, "tls", nullptr, "speak TLS", [&](auto&) { to.use_tls = true; }},
        {0, "cert", "FILE", "the certificate, PEM with its chain",
         [&](auto& text) { to.tls.certificate = text; }},
        {0, "key", "FILE", "its key (in the certificate's file)",
         [&](auto& text) { to.tls.key = text; }},
        {0, "self-signed", nullptr, "TLS with a certificate made now; prints its pin",
         [&](auto&) { to.use_tls = to.self_signed = true; }},
        {0, "cacert", "FILE", "demand client certificates by these authorities",
         [&](auto& text) { to.tls.client_ca = text; }},
        {'m', "max-conns", "N", "connections at once (1024)",
         [&](auto& text) { server.max_connections = connections(text); }},
        {0, "idle-timeout", "D", "drop a connection that is idle for so long (0: off)",
         [&](auto& text) { server.idle_timeout = limit_argument(text); }},
        {0, "handshake-timeout", "D", "for TLS to be agreed on (10s)",
         [&](auto& text) { server.handshake_timeout = duration_argument(text); }},
        {0, "max-buffer", "SIZE", "bytes waiting for a connection; above, it is not read (1M)",
         [&](auto& text) { server.max_buffer = size(text); }},
        {0, "max-frame", "SIZE", "the longest message, where its length is told (32M)",
         [&](auto& text) { server.max_frame = size(text); }},
        {0, "grace", "D", "for connections to get what is theirs, at the end (5s)",
         [&](auto& text) { to.grace = duration_argument(text); }},
        {'f', "framing", "F", "how messages are told apart (raw); see below",
         [&](auto& text) { server.framing = framing_argument(text); }},
        {0, "port-file", "FILE", "write the ports to this file, one a line",
         [&](auto& text) { to.port_file = text; }},
        {0, "json", nullptr, "one JSON object for each line", [&](auto&) { to.json = true; }},
        {'v', nullptr, nullptr, "tell of every connection",
         [&](auto&) { server.verbose = true; }},
        {'h', "help", nullptr, "this text", [&](auto&) { to.help = true; }},
        {'V', "version", nullptr, "the version", [&](auto&) { to.version = true; }},
    };
}

// What has to wait at once, whoever the client is.
std::size_t least_buffer(const EchoServer::Options& server) {
    const bool caret = server.framing->kind == Framing::Kind::caret;
    const std::size_t greeting = caret ? caret_greeting.size() : 0;
    return std::max<std::size_t>(server.framing->prefix,
                                 greeting + server.faults.banner.size());
}

// What is asked for together must make sense together.
void check(const ServerOptions& options) {
    const bufio::TlsServerOptions& tls = options.tls;
    const Faults& faults = options.server.faults;
    const bool tls_needed =
        faults.stall_handshake || !(tls.certificate + tls.key + tls.client_ca).empty();
    if (options.endpoints.empty()) throw UsageError("a port to listen on is missing");
    if (tls_needed && !options.use_tls)
        throw UsageError("an option for TLS is given, but not --tls");
    if (options.self_signed && !(tls.certificate + tls.key).empty())
        throw UsageError("--self-signed makes a certificate, but one is given");
    if (options.use_tls && !options.self_signed && tls.certificate.empty())
        throw UsageError("--tls needs --cert, or --self-signed");
    if (faults.close_after && faults.reset_after)
        throw UsageError("--close-after and --reset-after: one of them");
    if (options.server.max_buffer < least_buffer(options.server))
        throw UsageError("--max-buffer is too small for the framing or the banner");
}

}  // namespace

ServerOptions parse_server_options(int argc, char* argv[]) {
    ServerOptions options;
    std::vector<Option> rows = table(options);
    const std::vector<Option> faults = fault_table(options.server.faults);
    rows.insert(rows.end(), faults.begin(), faults.end());
    const std::vector<std::string> words = parse_command_line(argc, argv, rows);
    if (options.help || options.version) return options;
    for (const std::string& word : words)
        options.endpoints.push_back(endpoint(word, options.family));
    check(options);
    return options;
}

std::string server_help() {
    ServerOptions unused;
    return "usage: yodeld [options] [ADDR:]PORT...\n"
           "Sends back what it receives. Listens on the loopback unless ADDR is given; port 0 "
           "is\n"
           "any free one. TERM or INT: leaves when what is on its way is delivered. HUP: "
           "reads\n"
           "the certificates again. USR1: counters.\n\n" +
           help_text(table(unused)) + "\nwrong on purpose:\n" +
           help_text(fault_table(unused.server.faults)) + "\nframings: " + framing_names() +
           "\nD is a number of seconds, or one with ms, s, m or h; P is 0.1 or 10%.\n";
}

}  // namespace yodel
