#include "app/options/server/server_options.hpp"

#include "app/options/target.hpp"
#include "app/text/units.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace yodel {

namespace {

constexpr auto count_value = value_parser(parse_count, "a whole number");
constexpr auto chance_value =
    value_parser(parse_chance, "a probability from 0 to 1, such as 0.1 or 10%");

// Parses DELAY or DELAY~JITTER.
void set_delay(Faults& to, const std::string& text) {
    const std::size_t mark = text.find('~');
    to.delay = duration_value(text.substr(0, mark));
    to.jitter = mark == text.npos ? ev::Duration{} : duration_value(text.substr(mark + 1));
}

std::string banner_value(const std::string& text) {
    if (const auto plain = unescaped(text)) return *plain;
    throw UsageError(escapes_expected);
}

}  // namespace

// Rows: label, help, action, excludes, needs, implies.
std::vector<Option> server_table(ServerOptions& to) {
    EchoServer::Options& server = to.server;
    Faults& faults = server.faults;
    const std::vector<Option> general = {
        {"Listening:"},
        {"-4", "use IPv4 only", set(to.family, AF_INET)},
        {"-6", "use IPv6 only", set(to.family, AF_INET6), "4"},
        {"-U, --unixsock=PATH", "also listen on this Unix-domain socket",
         [&](auto& text) {
             to.endpoints.push_back({.path = socket_path_value(text), .is_passive = true});
         }},
        {"-u, --udp",
         "also answer datagrams (UDP) on each port",
         {},
         "tls ws",
         "port, because datagrams cannot be sent to the path of -U"},
        {"--ws", "speak WebSocket, and echo each message",
         set(server.framing, websocket_framing())},
        {"--port-file=FILE", "write the ports to this file, one per line", into(to.port_file)},
        {"TLS:"},
        {"--tls", "use TLS", {}, "udp", "cert self-signed"},
        {"--cert=FILE", "certificate and chain (PEM)", into(to.tls.certificate),
         "udp self-signed", "tls"},
        {"--key=FILE", "private key (default: in the --cert file)", into(to.tls.key),
         "udp self-signed", "tls"},
        {.label = "--self-signed",
         .help = "use TLS with a new certificate; print its pin",
         .excludes = "udp",
         .implies = "tls"},
        {"--cacert=FILE", "require client certificates from these CAs", into(to.tls.client_ca),
         "udp", "tls"},
        {"Limits:"},
        {"-m, --max-conns=N", "maximum number of connections (1024)",
         into(server.max_connections, number_up_to(1'000'000))},
        {"--idle-timeout=D", "close a connection that is idle for this time (off)",
         into(server.idle_timeout)},
        {"--handshake-timeout=D", "time limit for the TLS and --ws handshakes (10s)",
         into(server.handshake_timeout)},
        {"--max-frame=SIZE", "limit of length-prefixed and --ws messages (32M)",
         into(server.max_frame, size_from(1))},
        {"Messages:"},
        {"-f, --framing=F", "how messages are delimited (raw)",
         [&](auto& text) { server.framing = framing_value(text, true); }, "ws"},
        {"Output:"},
        {"--json", "print JSON, one object per line"},
        {"-v", "log connections and reads", into(server.is_verbose)}};
    const std::vector<Option> fault_options = {
        {"Message faults:"},
        {"--delay=D[~JITTER]", "delay each echo by D, plus or minus the jitter",
         [&](auto& text) { set_delay(faults, text); }},
        {"--drop=P", "probability that a message is dropped", into(faults.drop, chance_value)},
        {"--corrupt=P", "probability that one bit of a message is flipped",
         into(faults.corrupt, chance_value)},
        {"--dup=P", "probability that a message is duplicated", into(faults.dup, chance_value)},
        {"--reorder=P", "with -u, probability that two answers are swapped",
         into(faults.reorder, chance_value), "", "udp"},
        {"--seed=N", "seed of probabilities and jitter (1)", into(faults.seed, count_value)},
        {"Connection faults:"},
        {"--chunk=N", "send N bytes at a time", into(faults.chunk, size_from(1)), "udp"},
        {"--close-after=N", "close after N messages", into(faults.close_after, count_value),
         "udp reset-after"},
        {"--reset-after=N", "reset after N messages", into(faults.reset_after, count_value),
         "udp"},
        {"--half-close", "shut down the sending side", into(faults.is_half_closed), "udp"},
        {"--no-read", "read nothing", into(faults.must_not_read), "udp"},
        {"--stall-handshake", "never answer the TLS or --ws handshake",
         into(faults.is_handshake_stalled), "udp", "tls ws"},
        {"--banner=TEXT", "send TEXT first; it may contain \\n \\r \\t \\0 \\\\ \\xNN",
         into(faults.banner, banner_value), "udp"}};
    return joined({general, common_options(), fault_options});
}

ServerOptions parse_server_options(int argc, char* argv[]) {
    ServerOptions options;
    options.line = parse_command_line(argc, argv, server_table(options));
    if (options.line.has("help version")) return options;
    for (const std::string& word : options.line.operands) {
        std::vector<std::string> words{word};
        const Target target = take_target(words, to_listen);
        options.line.given.push_back(target.given);
        const char* const loopback = options.family == AF_INET6 ? "::1" : "127.0.0.1";
        check_family(options.family, target.host);
        options.endpoints.push_back({.host = target.host.empty() ? loopback : target.host,
                                     .service = target.service,
                                     .family = options.family,
                                     .is_passive = true});
    }
    if (options.endpoints.empty()) throw UsageError("a port to listen on is missing");
    options.line.check();
    return options;
}

std::string server_help() {
    ServerOptions unused;
    return "usage: yodeld [options] [ADDR:]PORT...\n"
           "       yodeld [options] -U PATH\n"
           "Echoes all data that it receives. Listens on the loopback address unless ADDR is\n"
           "given; port 0 is any free port. On SIGTERM or SIGINT, sends pending echoes and\n"
           "exits. On SIGHUP, reloads the certificates. On SIGUSR1, prints counters.\n" +
           help_text(server_table(unused)) + argument_help(true) +
           "P: 0.1 or 10%\n"
           "Examples:\n"
           "  yodeld 7000                 an echo server for this machine\n"
           "  yodeld --self-signed 7443   the same with TLS; prints the option to trust it\n"
           "  yodeld -f line --drop 10% --delay 200ms~50ms 7000\n"
           "See yodeld(8) for details.\n";
}

}  // namespace yodel
