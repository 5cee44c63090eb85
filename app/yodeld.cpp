// The echo server as a program.

#include "app/command_line.hpp"
#include "app/echo_server.hpp"
#include "app/exit_status.hpp"
#include "app/target.hpp"
#include "app/units.hpp"
#include "bufio/lookup.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <clocale>
#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace yodel {

namespace {

struct ServerOptions {
    EchoServer::Options server;
    bufio::TlsServerOptions tls;
    bool use_tls = false;
    int family = AF_UNSPEC;
    std::vector<bufio::Endpoint> endpoints;
    ev::Duration grace = std::chrono::seconds(5);
    bool help = false;
    bool version = false;
};

ev::Duration duration(const std::string& text) {
    if (const auto value = parse_duration(text)) return *value;
    throw UsageError("\"" + text + "\" is not a duration such as 1.5s, 200ms or 2m");
}

std::size_t connections(const std::string& text) {
    if (const auto value = parse_number(text, 1, 1'000'000)) return *value;
    throw UsageError("\"" + text + "\" is not a number of connections, from 1 to 1000000");
}

std::size_t size(const std::string& text) {
    if (const auto value = parse_size(text); value && *value > 0) return *value;
    throw UsageError("\"" + text + "\" is not a size such as 512, 64k or 1M");
}

std::vector<Option> table(ServerOptions& to) {
    return {
        {'4', nullptr, nullptr, "IPv4 only", [&](auto&) { to.family = AF_INET; }},
        {'6', nullptr, nullptr, "IPv6 only", [&](auto&) { to.family = AF_INET6; }},
        {0, "tls", nullptr, "speak TLS", [&](auto&) { to.use_tls = true; }},
        {0, "cert", "FILE", "the certificate, PEM with its chain",
         [&](auto& text) { to.tls.certificate = text; }},
        {0, "key", "FILE", "its key (in the certificate's file)",
         [&](auto& text) { to.tls.key = text; }},
        {0, "cacert", "FILE", "demand client certificates by these authorities",
         [&](auto& text) { to.tls.client_ca = text; }},
        {'m', "max-conns", "N", "connections at once (1024)",
         [&](auto& text) { to.server.max_connections = connections(text); }},
        {0, "idle-timeout", "D", "drop a connection that is idle for so long (off)",
         [&](auto& text) { to.server.idle_timeout = duration(text); }},
        {0, "handshake-timeout", "D", "for TLS to be agreed on (10s)",
         [&](auto& text) { to.server.handshake_timeout = duration(text); }},
        {0, "max-buffer", "SIZE", "bytes held for a connection; above, it is not read (1M)",
         [&](auto& text) { to.server.max_buffer = size(text); }},
        {0, "grace", "D", "for connections to get what is theirs, at the end (5s)",
         [&](auto& text) { to.grace = duration(text); }},
        {'h', "help", nullptr, "this text", [&](auto&) { to.help = true; }},
        {'V', "version", nullptr, "the version", [&](auto&) { to.version = true; }},
    };
}

ServerOptions parse(int argc, char* argv[]) {
    ServerOptions options;
    const auto words = parse_command_line(argc, argv, table(options));
    if (options.help || options.version) return options;
    if (words.empty()) throw UsageError("a port to listen on is missing");
    for (const std::string& word : words) {
        const Target target = parse_listening_target(word);
        bufio::Endpoint endpoint;
        endpoint.host = target.host;
        endpoint.service = target.service;
        endpoint.family = options.family;
        endpoint.passive = true;
        options.endpoints.push_back(endpoint);
    }
    if (options.use_tls && options.tls.certificate.empty())
        throw UsageError("--tls needs --cert");
    if (!options.use_tls &&
        !(options.tls.certificate + options.tls.key + options.tls.client_ca).empty())
        throw UsageError("an option for TLS is given, but not --tls");
    return options;
}

std::string help() {
    ServerOptions unused;
    return "usage: yodeld [options] [ADDR:]PORT...\n"
           "Sends back what it receives. Listens on the loopback unless ADDR is given; port 0 "
           "is\n"
           "any free one. TERM or INT: leaves when what is on its way is delivered.\n\n" +
           help_text(table(unused)) +
           "\nD is a number of seconds, or one with ms, s, m or h.\n";
}

void listen(EchoServer& server, const bufio::Endpoint& endpoint) {
    const bufio::Found found = bufio::look_up(endpoint);
    if (found.addresses.empty())
        throw std::runtime_error("cannot listen on " + endpoint.text() + ": " + found.error);
    const bufio::Address& address = server.listen(found.addresses.front());
    std::printf("listening %s\n", address.text().c_str());
    if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write to standard output");
}

void serve(const ServerOptions& options) {
    ev::Loop loop;
    EchoServer server(loop, options.server,
                      [](const std::string& line) { complain("yodeld", line); });
    bool leaving = false;
    const auto leave = [&] {
        if (leaving) return loop.stop();
        leaving = true;
        server.drain(options.grace, [&] { loop.stop(); });
    };
    const ev::Signal terminate(loop, SIGTERM, leave);
    const ev::Signal interrupt(loop, SIGINT, leave);
    for (const bufio::Endpoint& endpoint : options.endpoints) listen(server, endpoint);
    loop.run();
}

int main(int argc, char* argv[]) {
    fill_standard_descriptors();
    std::setlocale(LC_CTYPE, "");
    std::signal(SIGPIPE, SIG_IGN);
    try {
        ServerOptions options = parse(argc, argv);
        if (options.help) return std::fputs(help().c_str(), stdout) < 0;
        if (options.version) return std::puts("yodeld " YODEL_VERSION) < 0;
        if (options.use_tls) options.server.tls = bufio::TlsContext::server(options.tls);
        serve(options);
    } catch (const UsageError& error) {
        complain("yodeld", std::string(error.what()) + " (yodeld -h shows the options)");
        return usage_error;
    } catch (const bufio::TlsError& error) {
        complain("yodeld", error.what());
        return exit_status(error.end()) == 77 ? 58 : exit_status(error.end());
    } catch (const std::exception& error) {
        complain("yodeld", error.what());
        return cannot_run;
    }
    return all_well;
}

}  // namespace

}  // namespace yodel

int main(int argc, char* argv[]) { return yodel::main(argc, argv); }
