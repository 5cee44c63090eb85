#include "app/options/server_options.hpp"

#include "app/options/option_values.hpp"
#include "app/options/target.hpp"
#include "app/text/escapes.hpp"
#include "app/text/units.hpp"
#include "bufio/address.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace yodel {

namespace {

std::size_t positive_size_value(const std::string& text) {
    const auto value = parse_size(text);
    return checked(value && *value > 0 ? value : std::nullopt, text,
                   "a size such as 512, 64k or 1M");
}

std::uint64_t count_value(const std::string& text) {
    return checked(parse_count(text), text, "a whole number");
}

double chance_value(const std::string& text) {
    return checked(parse_chance(text), text, "a probability from 0 to 1, such as 0.1 or 10%");
}

// Parses DELAY or DELAY~JITTER.
void set_delay(const std::string& text, Faults& faults) {
    const std::size_t mark = text.find('~');
    faults.delay = duration_value(text.substr(0, mark));
    faults.jitter = mark == text.npos ? ev::Duration{} : duration_value(text.substr(mark + 1));
}

std::string banner_value(const std::string& text) {
    const auto plain = unescaped(text);
    if (!plain) throw UsageError(escapes_expected);
    return *plain;
}

bufio::Endpoint endpoint_value(const std::string& word, int family) {
    const Target target = parse_listening_target(word);
    const bool unnamed = word.find(':') == word.npos;
    bufio::Endpoint endpoint;
    endpoint.host = unnamed && family == AF_INET6 ? "::1" : target.host;
    endpoint.service = target.service;
    endpoint.family = family;
    endpoint.passive = true;
    check_family(family, endpoint.host);
    return endpoint;
}

// --- Rows: letter, name, argument, help, action, excludes, needs, implies.

std::vector<Option> listening_options(ServerOptions& to) {
    return {
        {'4', none, none, "use IPv4 only", family_value(to.family, AF_INET)},
        {'6', none, none, "use IPv6 only", family_value(to.family, AF_INET6)},
        {'U', "unixsock", "PATH", "also listen on this Unix-domain socket",
         [&](auto& text) { to.endpoints.push_back({.path = text, .passive = true}); }},
        {'u', "udp", none, "also answer datagrams (UDP) on each port", flag(to.udp), "tls ws"},
        {0, "ws", none, "speak WebSocket, and echo each message",
         [&](auto&) { to.server.framing = websocket_framing(); }},
        {0, "port-file", "FILE", "write the ports to this file, one per line",
         into(to.port_file)},
    };
}

std::vector<Option> tls_options(ServerOptions& to) {
    return {
        {0, "tls", none, "use TLS", flag(to.use_tls)},
        {0, "cert", "FILE", "certificate and chain (PEM)", into(to.tls.certificate),
         "udp self-signed", "tls"},
        {0, "key", "FILE", "private key (default: in the --cert file)", into(to.tls.key),
         "udp self-signed", "tls"},
        {0, "self-signed", none, "use TLS with a new certificate; print its pin",
         [&](auto&) { to.use_tls = to.self_signed = true; }, "", "", "tls"},
        {0, "cacert", "FILE", "require client certificates from these CAs",
         into(to.tls.client_ca), "udp", "tls"},
    };
}

std::vector<Option> limit_options(ServerOptions& to) {
    EchoServer::Options& server = to.server;
    return {
        {'m', "max-conns", "N", "maximum number of connections (1024)",
         into(server.max_connections, number_up_to(1'000'000))},
        {0, "idle-timeout", "D", "close a connection that is idle for this time (off)",
         into(server.idle_timeout, limit_value)},
        {0, "handshake-timeout", "D", "time limit for the TLS and --ws handshakes (10s)",
         into(server.handshake_timeout, duration_value)},
        {0, "max-frame", "SIZE", "maximum size with a length framing or --ws (32M)",
         into(server.max_frame, positive_size_value)},
    };
}

std::vector<Option> message_options(ServerOptions& to) {
    return {{'f', "framing", "F", "how messages are delimited (raw)",
             [&](auto& text) { to.server.framing = framing_value(text, true); }, "ws"}};
}

std::vector<Option> output_options(ServerOptions& to) {
    return {
        {0, "json", none, "print JSON, one object per line", flag(to.json)},
        {'v', none, none, "log connections and reads", flag(to.server.verbose)},
        sandbox_option(to.no_sandbox),
        help_option(to.help),
        version_option(to.version),
    };
}

std::vector<Option> message_fault_options(Faults& to) {
    return {
        {0, "delay", "D[~JITTER]", "delay each echo by D, plus or minus the jitter",
         [&](auto& text) { set_delay(text, to); }},
        {0, "drop", "P", "probability that a message is dropped", into(to.drop, chance_value)},
        {0, "corrupt", "P", "probability that a bit of a message is flipped",
         into(to.corrupt, chance_value)},
        {0, "dup", "P", "probability that a message is duplicated", into(to.dup, chance_value)},
        {0, "reorder", "P", "-u: probability that two answers are swapped",
         into(to.reorder, chance_value), "", "udp"},
        {0, "seed", "N", "seed of probabilities and jitter (1)", into(to.seed, count_value)},
    };
}

std::vector<Option> connection_fault_options(Faults& to) {
    return {
        {0, "chunk", "N", "send N bytes at a time", into(to.chunk, positive_size_value)},
        {0, "close-after", "N", "close after N messages", into(to.close_after, count_value)},
        {0, "reset-after", "N", "reset after N messages", into(to.reset_after, count_value)},
        {0, "half-close", none, "shut down the sending side at once", flag(to.half_close)},
        {0, "no-read", none, "read nothing", flag(to.no_read)},
        {0, "stall-handshake", none, "never answer the TLS or --ws handshake",
         flag(to.stall_handshake)},
        {0, "banner", "TEXT", "send TEXT first; it may contain \\n \\r \\t \\0 \\\\ \\xNN",
         into(to.banner, banner_value)},
    };
}

bool has_port(const std::vector<bufio::Endpoint>& endpoints) {
    return std::any_of(endpoints.begin(), endpoints.end(),
                       [](const bufio::Endpoint& endpoint) { return endpoint.path.empty(); });
}

// Checks the rules that the table cannot express.
void check_server(const ServerOptions& options) {
    const Faults& faults = options.server.faults;
    if (options.use_tls && !options.self_signed && options.tls.certificate.empty())
        throw UsageError("--tls needs --cert or --self-signed");
    if (faults.stall_handshake && !options.use_tls && !options.server.framing->is_websocket())
        throw UsageError("--stall-handshake needs --tls or --ws");
    if (faults.close_after && faults.reset_after)
        throw UsageError("--close-after cannot be combined with --reset-after");
    if (options.udp && !has_port(options.endpoints))
        throw UsageError("-u needs a port, because datagrams cannot be sent to the path of -U");
}

}  // namespace

std::vector<OptionGroup> server_table(ServerOptions& to) {
    return {{"Listening", listening_options(to)},
            {"TLS", tls_options(to)},
            {"Limits", limit_options(to)},
            {"Messages", message_options(to)},
            {"Output", output_options(to)},
            {"Message faults", message_fault_options(to.server.faults)},
            {"Connection faults", connection_fault_options(to.server.faults), "udp"}};
}

ServerOptions parse_server_options(int argc, char* argv[]) {
    ServerOptions options;
    const CommandLine line = parse_command_line(argc, argv, server_table(options));
    if (options.help || options.version) return options;
    for (const std::string& word : line.operands)
        options.endpoints.push_back(endpoint_value(word, options.family));
    if (options.endpoints.empty()) throw UsageError("a port to listen on is missing");
    check_given(line.given);
    check_server(options);
    return options;
}

std::string server_help() {
    ServerOptions unused;
    return "usage: yodeld [options] [ADDR:]PORT...\n"
           "       yodeld [options] -U PATH\n"
           "Echoes all data that it receives. Listens on the loopback address unless ADDR is\n"
           "given; port 0 is any free port. SIGTERM or SIGINT: sends pending echoes, then\n"
           "exits. SIGHUP: reloads the certificates. SIGUSR1: prints counters.\n" +
           help_text(server_table(unused)) +
           "\n"
           "F: " +
           join(framing_list(true), ", ") +
           "\n"
           "D: seconds, or a number with us, ms, s, m or h; SIZE: bytes, or with k, M or G;\n"
           "P: 0.1 or 10%\n"
           "\n"
           "Examples:\n"
           "  yodeld 7000                 an echo server for this machine\n"
           "  yodeld --self-signed 7443   the same with TLS; prints the option to trust it\n"
           "  yodeld -f line --drop 10% --delay 200ms~50ms 7000\n"
           "See yodeld(8) for details.\n";
}

}  // namespace yodel
