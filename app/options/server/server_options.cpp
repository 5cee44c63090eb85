#include "app/options/server/server_options.hpp"

#include "app/options/target.hpp"
#include "app/text/escapes.hpp"
#include "app/text/units.hpp"
#include "bufio/address.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace yodel {

namespace {

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

bool has_port(const std::vector<bufio::Endpoint>& endpoints) {
    return std::any_of(endpoints.begin(), endpoints.end(),
                       [](const bufio::Endpoint& endpoint) { return endpoint.path.empty(); });
}

}  // namespace

// Rows: letter, name, argument, help, action, excludes, needs, implies.
std::vector<OptionGroup> server_table(ServerOptions& to) {
    EchoServer::Options& server = to.server;
    Faults& faults = server.faults;
    return {
        {"Listening",
         {{'4', absent, absent, "use IPv4 only", set(to.family, AF_INET)},
          {'6', absent, absent, "use IPv6 only", set(to.family, AF_INET6), "4"},
          {'U', "unixsock", "PATH", "also listen on this Unix-domain socket",
           [&](auto& text) { to.endpoints.push_back({.path = text, .passive = true}); }},
          {'u', "udp", absent, "also answer datagrams (UDP) on each port", into(to.udp),
           "tls ws"},
          {0, "ws", absent, "speak WebSocket, and echo each message",
           set(server.framing, websocket_framing())},
          {0, "port-file", "FILE", "write the ports to this file, one per line",
           into(to.port_file)}}},
        {"TLS",
         {{0, "tls", absent, "use TLS", into(to.use_tls), "", "cert self-signed"},
          {0, "cert", "FILE", "certificate and chain (PEM)", into(to.tls.certificate),
           "udp self-signed"},
          {0, "key", "FILE", "private key (default: in the --cert file)", into(to.tls.key),
           "udp self-signed"},
          {0, "self-signed", absent, "use TLS with a new certificate; print its pin",
           [&](auto&) { to.use_tls = to.self_signed = true; }, "", "", "tls"},
          {0, "cacert", "FILE", "require client certificates from these CAs",
           into(to.tls.client_ca)}},
         "udp",
         "tls"},
        {"Limits",
         {{'m', "max-conns", "N", "maximum number of connections (1024)",
           into(server.max_connections, number_up_to(1'000'000))},
          {0, "idle-timeout", "D", "close a connection that is idle for this time (off)",
           into(server.idle_timeout)},
          {0, "handshake-timeout", "D", "time limit for the TLS and --ws handshakes (10s)",
           into(server.handshake_timeout)},
          {0, "max-frame", "SIZE", "maximum size with a length framing or --ws (32M)",
           into(server.max_frame, positive_size_value)}}},
        {"Messages",
         {{'f', "framing", "F", "how messages are delimited (raw)",
           [&](auto& text) { server.framing = framing_value(text, true); }, "ws"}}},
        {"Output",
         with_common_options(
             {{0, "json", absent, "print JSON, one object per line", into(to.json)},
              {'v', absent, absent, "log connections and reads", into(server.verbose)}},
             to)},
        {"Message faults",
         {{0, "delay", "D[~JITTER]", "delay each echo by D, plus or minus the jitter",
           [&](auto& text) { set_delay(text, faults); }},
          {0, "drop", "P", "probability that a message is dropped",
           into(faults.drop, chance_value)},
          {0, "corrupt", "P", "probability that a bit of a message is flipped",
           into(faults.corrupt, chance_value)},
          {0, "dup", "P", "probability that a message is duplicated",
           into(faults.dup, chance_value)},
          {0, "reorder", "P", "-u: probability that two answers are swapped",
           into(faults.reorder, chance_value), "", "udp"},
          {0, "seed", "N", "seed of probabilities and jitter (1)",
           into(faults.seed, count_value)}}},
        {"Connection faults",
         {{0, "chunk", "N", "send N bytes at a time", into(faults.chunk, positive_size_value)},
          {0, "close-after", "N", "close after N messages",
           into(faults.close_after, count_value), "udp reset-after"},
          {0, "reset-after", "N", "reset after N messages",
           into(faults.reset_after, count_value)},
          {0, "half-close", absent, "shut down the sending side", into(faults.half_close)},
          {0, "no-read", absent, "read nothing", into(faults.no_read)},
          {0, "stall-handshake", absent, "never answer the TLS or --ws handshake",
           into(faults.stall_handshake), "udp", "tls ws"},
          {0, "banner", "TEXT", "send TEXT first; it may contain \\n \\r \\t \\0 \\\\ \\xNN",
           into(faults.banner, banner_value)}},
         "udp"}};
}

ServerOptions parse_server_options(int argc, char* argv[]) {
    ServerOptions options;
    options.line = parse_command_line(argc, argv, server_table(options));
    if (options.help || options.version) return options;
    for (const std::string& word : options.line.operands)
        options.endpoints.push_back(endpoint_value(word, options.family));
    if (options.endpoints.empty()) throw UsageError("a port to listen on is missing");
    options.line.check();
    if (options.udp && !has_port(options.endpoints))
        throw UsageError("-u needs a port, because datagrams cannot be sent to the path of -U");
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
