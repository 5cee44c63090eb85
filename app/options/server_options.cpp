#include "app/options/server_options.hpp"

#include "app/options/command_line.hpp"
#include "app/options/completion.hpp"
#include "app/options/option_values.hpp"
#include "app/options/target.hpp"
#include "app/server/responder.hpp"
#include "app/text/escapes.hpp"
#include "app/text/quotes.hpp"
#include "app/text/units.hpp"
#include "bufio/address.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace yodel {

namespace {

std::size_t connections(const std::string& text) {
    return checked(parse_number(text, 1, 1'000'000), text,
                   "a number of connections, from 1 to 1000000");
}

std::size_t positive_size(const std::string& text) {
    const auto value = parse_size(text);
    return checked(value && *value > 0 ? value : std::nullopt, text,
                   "a size such as 512, 64k or 1M");
}

std::uint64_t count(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    if (code == std::errc() && stop == end) return number;
    throw UsageError(in_quotes(text) + " is not a whole number");
}

double chance(const std::string& text) {
    return checked(parse_chance(text), text, "a chance such as 0.1 or 10%, up to 1");
}

// DELAY or DELAY~JITTER
void set_delay(const std::string& text, Faults& faults) {
    const std::size_t mark = text.find('~');
    faults.delay = duration_value(text.substr(0, mark));
    faults.jitter = mark == text.npos ? ev::Duration{} : duration_value(text.substr(mark + 1));
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
    check_family(family, endpoint.host);
    return endpoint;
}

std::vector<Option> message_fault_options(Faults& to) {
    return {
        {.name = "delay",
         .argument = "D[~JITTER]",
         .help = "delay each echo by D, plus or minus the jitter",
         .apply = [&](auto& text) { set_delay(text, to); }},
        {.name = "drop",
         .argument = "P",
         .help = "chance that a message is dropped",
         .apply = [&](auto& text) { to.drop = chance(text); }},
        {.name = "corrupt",
         .argument = "P",
         .help = "chance that one of its bits is flipped",
         .apply = [&](auto& text) { to.corrupt = chance(text); }},
        {.name = "dup",
         .argument = "P",
         .help = "chance that it is sent twice",
         .apply = [&](auto& text) { to.dup = chance(text); }},
        {.name = "reorder",
         .argument = "P",
         .help = "-u: chance that the next echo overtakes it",
         .apply = [&](auto& text) { to.reorder = chance(text); }},
        {.name = "seed",
         .argument = "N",
         .help = "seed of the chances and the jitter (1)",
         .apply = [&](auto& text) { to.seed = count(text); }},
    };
}

std::vector<Option> connection_fault_options(Faults& to) {
    return {
        {.name = "chunk",
         .argument = "N",
         .help = "send N bytes at a time",
         .apply = [&](auto& text) { to.chunk = positive_size(text); }},
        {.name = "close-after",
         .argument = "N",
         .help = "close after N messages",
         .apply = [&](auto& text) { to.close_after = count(text); }},
        {.name = "reset-after",
         .argument = "N",
         .help = "reset after N messages",
         .apply = [&](auto& text) { to.reset_after = count(text); }},
        {.name = "half-close",
         .help = "close the sending side at once",
         .apply = [&](auto&) { to.half_close = true; }},
        {.name = "no-read", .help = "read nothing", .apply = [&](auto&) { to.no_read = true; }},
        {.name = "stall-handshake",
         .help = "never answer the TLS handshake",
         .apply = [&](auto&) { to.stall_handshake = true; },
         .for_tls = true},
        {.name = "banner",
         .argument = "TEXT",
         .help = "send TEXT first; it may hold \\n \\r \\t \\0 \\\\ \\xNN",
         .apply = [&](auto& text) { to.banner = banner(text); }},
    };
}

std::vector<Option> listening_options(ServerOptions& to) {
    return {
        {.letter = '4',
         .help = "use IPv4 only",
         .apply = [&](auto&) { set_family(to.family, AF_INET); }},
        {.letter = '6',
         .help = "use IPv6 only",
         .apply = [&](auto&) { set_family(to.family, AF_INET6); }},
        {.letter = 'U',
         .name = "unixsock",
         .argument = "PATH",
         .help = "listen on this unix-domain socket too",
         .apply = [&](auto& text) { to.endpoints.push_back(unix_endpoint(text)); }},
        {.letter = 'u',
         .name = "udp",
         .help = "answer datagrams, too, on each port",
         .apply = [&](auto&) { to.udp = true; }},
        {.name = "reflect-any",
         .help = "-u: answer all, also what looks like a loop",
         .apply = [&](auto&) { to.reflect_any = true; }},
        {.name = "port-file",
         .argument = "FILE",
         .help = "write the ports to this file, one a line",
         .apply = [&](auto& text) { to.port_file = text; }},
        {.name = "threads",
         .argument = "N|auto",
         .help = "serve each port by N threads; auto: one a core (1)",
         .apply =
             [&](auto& text) {
                 to.threads = threads_value(text);
                 to.threads_by_system = text == "auto";
             },
         .values = {"auto"}},
        {.name = "busy",
         .help = "never sleep while connected; takes a processor",
         .apply = [&](auto&) { to.busy = true; }},
    };
}

std::vector<Option> tls_options(ServerOptions& to) {
    return {
        {.name = "tls", .help = "use TLS", .apply = [&](auto&) { to.use_tls = true; }},
        {.name = "cert",
         .argument = "FILE",
         .help = "the certificate, PEM with its chain",
         .apply = [&](auto& text) { to.tls.certificate = text; },
         .for_tls = true},
        {.name = "key",
         .argument = "FILE",
         .help = "its key (in the certificate's file)",
         .apply = [&](auto& text) { to.tls.key = text; },
         .for_tls = true},
        {.name = "self-signed",
         .help = "TLS with a certificate made now; prints its pin",
         .apply = [&](auto&) { to.use_tls = to.self_signed = true; }},
        {.name = "cacert",
         .argument = "FILE",
         .help = "demand client certificates by these authorities",
         .apply = [&](auto& text) { to.tls.client_ca = text; },
         .for_tls = true},
    };
}

std::vector<Option> limit_options(ServerOptions& to) {
    EchoServer::Options& server = to.server;
    return {
        {.letter = 'm',
         .name = "max-conns",
         .argument = "N",
         .help = "connections at once (1024)",
         .apply = [&](auto& text) { server.max_connections = connections(text); }},
        {.name = "idle-timeout",
         .argument = "D",
         .help = "drop a connection that is idle for this time (off)",
         .apply = [&](auto& text) { server.idle_timeout = limit_value(text); }},
        {.name = "message-timeout",
         .argument = "D",
         .help = "drop a connection if a message takes longer (off)",
         .apply = [&](auto& text) { server.message_timeout = limit_value(text); }},
        {.name = "handshake-timeout",
         .argument = "D",
         .help = "limit for the TLS handshake (10s)",
         .apply = [&](auto& text) { server.handshake_timeout = duration_value(text); }},
        {.name = "max-buffer",
         .argument = "SIZE",
         .help = "stop reading above it (1M, or a message if more)",
         .apply = [&](auto& text) { server.max_buffer = positive_size(text); }},
        {.name = "max-frame",
         .argument = "SIZE",
         .help = "the longest message of a length framing (32M)",
         .apply = [&](auto& text) { server.max_frame = positive_size(text); }},
        {.name = "grace",
         .argument = "D",
         .help = "at the end, wait for what is under way (5s)",
         .apply = [&](auto& text) { to.grace = duration_value(text); }},
    };
}

std::vector<Option> message_options(ServerOptions& to) {
    return {
        {.letter = 'f',
         .name = "framing",
         .argument = "F",
         .help = "how messages are delimited (raw)",
         .apply = [&](auto& text) { to.server.framing = framing_value(text); },
         .values = framing_list()},
    };
}

std::vector<Option> output_options(ServerOptions& to) {
    return {
        {.name = "json",
         .help = "one JSON object for each line",
         .apply = [&](auto&) { to.json = true; }},
        {.letter = 'v',
         .help = "log connections, reads and messages",
         .apply = [&](auto&) { to.server.verbose = true; }},
        sandbox_option(to.no_sandbox),
        help_option(to.help),
        version_option(to.version),
        completion_option(to.completion),
    };
}

std::vector<OptionGroup> table(ServerOptions& to) {
    return {{"Listening", listening_options(to)},
            {"TLS", tls_options(to)},
            {"Limits", limit_options(to)},
            {"Messages", message_options(to)},
            {"Output", output_options(to)},
            {"Faults of messages, on purpose", message_fault_options(to.server.faults)},
            {"Faults of connections, on purpose", connection_fault_options(to.server.faults)}};
}

// Returns the bytes that must fit into the output buffer at once with any client.
std::size_t least_buffer(const EchoServer::Options& server) {
    const std::size_t first = server.framing->greeting.size() + server.faults.banner.size();
    return std::max<std::size_t>(server.framing->prefix, first);
}

// Returns the first fault that acts on a connection, not on messages; empty if there is none.
std::string connection_fault(const Faults& faults) {
    const struct {
        bool given;
        const char* name;
    } rows[] = {{faults.chunk > 0, "--chunk"},
                {faults.close_after.has_value(), "--close-after"},
                {faults.reset_after.has_value(), "--reset-after"},
                {faults.half_close, "--half-close"},
                {faults.no_read, "--no-read"},
                {!faults.banner.empty(), "--banner"}};
    for (const auto& row : rows)
        if (row.given) return row.name;
    return {};
}

bool has_port(const std::vector<bufio::Endpoint>& endpoints) {
    return std::any_of(endpoints.begin(), endpoints.end(),
                       [](const bufio::Endpoint& endpoint) { return endpoint.path.empty(); });
}

void check_datagrams(const ServerOptions& options) {
    const Faults& faults = options.server.faults;
    if (!options.udp && faults.reorder > 0)
        throw UsageError("--reorder is for datagrams, but -u is not given");
    if (!options.udp && options.reflect_any)
        throw UsageError("--reflect-any is for datagrams, but -u is not given");
    if (!options.udp) return;
    if (!has_port(options.endpoints))
        throw UsageError("-u needs a port: datagrams don't come to the path of -U");
    if (options.use_tls)
        throw UsageError("-u answers in plain text, which --tls and --self-signed forbid");
    if (const std::string fault = connection_fault(faults); !fault.empty())
        throw UsageError(fault + " is for connections, not for the datagrams of -u");
}

// These make sense together, or not at all.
void check(const ServerOptions& options, const std::string& for_tls) {
    const bufio::TlsServerOptions& tls = options.tls;
    const Faults& faults = options.server.faults;
    if (options.endpoints.empty()) throw UsageError("a port to listen on is missing");
    if (!for_tls.empty() && !options.use_tls)
        throw UsageError(for_tls + " is given, but " +
                         (options.udp ? "-u answers in plain text" : "not --tls"));
    if (options.self_signed && !(tls.certificate + tls.key).empty())
        throw UsageError("--self-signed makes a certificate, but one is given");
    if (options.use_tls && !options.self_signed && tls.certificate.empty())
        throw UsageError("--tls needs --cert, or --self-signed");
    if (options.server.message_timeout && !options.server.framing->has_frames())
        throw UsageError(
            "--message-timeout needs a framing that has messages, such as -f line");
    if (faults.close_after && faults.reset_after)
        throw UsageError("--close-after and --reset-after: one of them");
    check_datagrams(options);
    if (options.threads > 1 && !options.threads_by_system && !has_port(options.endpoints))
        throw UsageError(
            "--threads is for ports: what comes to the path of -U is of one thread");
    if (options.threads > 1 && !options.threads_by_system && !bufio::ports_can_be_shared())
        throw UsageError("--threads: this system does not deal out to several threads what "
                         "comes to a port");
    if (options.server.buffer() < least_buffer(options.server))
        throw UsageError("--max-buffer is too small for the framing or the banner");
}

}  // namespace

ServerOptions parse_server_options(int argc, char* argv[]) {
    ServerOptions options;
    const CommandLine line = parse_command_line(argc, argv, table(options));
    if (options.help || options.version || !options.completion.empty()) return options;
    for (const std::string& word : line.words)
        options.endpoints.push_back(endpoint(word, options.family));
    check(options, line.for_tls);
    if (!has_port(options.endpoints) || !bufio::ports_can_be_shared()) options.threads = 1;
    return options;
}

std::string server_completion(const std::string& shell) {
    ServerOptions unused;
    return completion_script(shell, {.program = "yodeld", .options = table(unused)});
}

std::string server_help() {
    ServerOptions unused;
    return "usage: yodeld [options] [ADDR:]PORT...\n"
           "       yodeld [options] -U PATH\n"
           "Sends back what it receives. Listens on the loopback unless ADDR is given; port\n"
           "0 is any free one. TERM or INT: delivers what is under way, and leaves. HUP:\n"
           "reads the certificates again. USR1: prints counters.\n" +
           help_text(table(unused)) +
           "\n"
           "framings: " +
           framing_names() +
           "\n"
           "D: seconds, or a number with us, ms, s, m or h; SIZE: bytes, or with k, M or G;\n"
           "P: 0.1 or 10%\n"
           "\n"
           "Examples:\n"
           "  yodeld 7000                 an echo server for this machine\n"
           "  yodeld --self-signed 7443   the same with TLS; prints how to trust it\n"
           "  yodeld -f line --drop 10% --delay 200ms~50ms 7000\n"
           "The manual page yodeld(8), `man yodeld`, says more.\n";
}

}  // namespace yodel
