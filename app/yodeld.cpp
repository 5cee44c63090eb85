// The echo server as a program.

#include "app/options/server/server_options.hpp"
#include "app/process/program.hpp"
#include "app/process/sandbox.hpp"
#include "app/server/echo_server.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"
#include "app/text/output.hpp"
#include "app/text/units.hpp"
#include "bufio/dial.hpp"
#include "bufio/tls.hpp"
#include "ev/backends/backends.hpp"
#include "ev/loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// Descriptors besides connections and listeners: for standard streams, look-ups and the loop.
constexpr std::size_t own_descriptors = 16;

// Time for pending echoes at exit.
constexpr ev::Duration grace = std::chrono::seconds(5);

// Attempts to find a port that is free for connections and for datagrams.
constexpr int max_attempts = 16;

class Daemon {
public:
    explicit Daemon(ServerOptions options)
        : options_(std::move(options)),
          server_(loop_, options_.server, [this](auto& peer, auto& text) { log(peer, text); }) {
    }
    // Blocks signals, so that a signal cannot end the program before the clean-up is complete.
    // Also runs after an exception.
    ~Daemon() { block_signals(); }
    Daemon(const Daemon&) = delete;

    void run() {
        for (const bufio::Endpoint& endpoint : options_.endpoints) listen(endpoint);
        provide_descriptors();
        if (options_.self_signed) announce_pin();
        check_output();
        const PortFile file(options_.port_file, port_file_text_);
        give_up_rights();  // before the first byte of a peer
        diagnostics().set_timestamps();
        loop_.run();
        check_output();
    }

private:
    static void block_signals() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    }

    void listen(const bufio::Endpoint& endpoint) {
        const bufio::LookupResult found = bufio::look_up(endpoint);
        if (found.addresses.empty())
            throw std::runtime_error("cannot listen on " + endpoint.text() + ": " +
                                     found.error);
        const bool any_port = endpoint.service == "0";  // each address would get another port
        const std::size_t count = any_port ? 1 : found.addresses.size();
        bool listening = false;
        for (std::size_t i = 0; i < count; ++i) check_answerable(endpoint, found.addresses[i]);
        for (std::size_t i = 0; i < count; ++i)
            listening |= listen(found.addresses[i], listening || i + 1 < count);
    }

    // One datagram to such an address could be answered by many hosts.
    void check_answerable(const bufio::Endpoint& endpoint, const bufio::Address& wanted) const {
        if (options_.udp && bufio::is_broadcast_or_multicast(wanted))
            throw UsageError("-u cannot listen on the broadcast or multicast address " +
                             endpoint.host);
    }

    void listen_on(const bufio::Address& wanted) {
        const bool udp = options_.udp && wanted.family() != AF_UNIX;
        const bufio::Address address = udp ? listen_on_both(wanted) : server_.listen(wanted);
        announce_listening(address, false);
        if (udp) announce_listening(address, true);
    }

    // If the system chose a port that is taken for connections, tries another one.
    bufio::Address listen_on_both(const bufio::Address& wanted) {
        for (int attempt = 1;; ++attempt) {
            const bufio::Address address = server_.listen_datagrams(wanted);
            try {
                return server_.listen(address);
            } catch (const std::system_error& error) {
                server_.close_datagrams();
                const bool any_port = wanted.port() == 0;
                if (!any_port || error.code().value() != EADDRINUSE || attempt == max_attempts)
                    throw;
            }
        }
    }

    // Returns false if this machine does not have the address, and there are others to try.
    bool listen(const bufio::Address& wanted, bool others) {
        try {
            listen_on(wanted);
            return true;
        } catch (const std::system_error& error) {
            const int code = error.code().value();
            if (others && (code == EADDRNOTAVAIL || code == EAFNOSUPPORT)) return false;
            throw;
        }
    }

    void announce_listening(const bufio::Address& address, bool udp) {
        if (address.port() != 0 && !udp)
            port_file_text_ += std::to_string(address.port()) + "\n";
        JsonObject object;
        object.text("listening", address.text())
            .number("port", static_cast<std::uint64_t>(address.port()));
        if (udp) object.text("protocol", "udp");
        announce((udp ? "listening udp " : "listening ") + address.text(), object);
    }

    // Raises the descriptor limit to fit --max-conns, or reports that --max-conns is too high.
    void provide_descriptors() const {
        const std::size_t max_connections = options_.server.max_connections;
        const std::size_t needed =
            max_connections + own_descriptors + options_.endpoints.size();
        const std::size_t allowed = raise_descriptor_limit(needed);
        if (allowed < needed)
            remark("--max-conns " + std::to_string(max_connections) +
                   " is too high: the system allows " + std::to_string(allowed) +
                   " descriptors (ulimit -Hn)");
    }

    // All sockets are bound by now. The only right still needed is to remove files at the end.
    SandboxRules sandbox_rules() const {
        SandboxRules rules;
        if (!options_.port_file.empty()) rules.removable.push_back(options_.port_file);
        for (const bufio::Endpoint& endpoint : options_.endpoints)
            if (!endpoint.path.empty()) rules.removable.push_back(endpoint.path);
        return rules;
    }

    void give_up_rights() {
        const std::string state =
            options_.no_sandbox ? "none: --no-sandbox" : enter_sandbox(sandbox_rules());
        if (options_.server.verbose) remark("sandbox: " + state);
    }

    void announce_pin() {
        const std::string pin = options_.server.tls->pin();
        announce("--pinnedpubkey " + pin, JsonObject().text("pinnedpubkey", pin));
    }

    void shut_down() {
        if (shutting_down_) return loop_.stop();
        shutting_down_ = true;
        server_.drain(grace, [this] { loop_.stop(); });
    }

    void reload() {
        if (!options_.use_tls || options_.self_signed) return;
        try {
            bufio::TlsServerOptions tls = options_.tls;
            tls.must_not_block = true;
            server_.set_tls(bufio::TlsContext::server(tls));
            remark("certificates reloaded");
        } catch (const bufio::TlsError& error) {
            remark(std::string("cannot reload the certificates; the old ones stay in use: ") +
                   error.what());
        }
    }

    void report() const {
        const Counters counters = server_.counters();
        std::string text;
        JsonObject object = timed_object();
        for (const CounterRow& row : counter_rows) {
            if (row.only_udp && !options_.udp) continue;
            const std::uint64_t count = counters.*row.count;
            text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + row.name;
            object.number(row.name, count);
        }
        std::replace(text.begin(), text.end(), '_', ' ');
        remark(text, object);
    }

    void log(const std::string& peer, const std::string& text) const {
        remark(peer + ": " + text, timed_object().text("peer", peer).text("text", text));
    }

    void remark(const std::string& text) const {
        remark(text, timed_object().text("text", text));
    }

    static JsonObject timed_object() {
        const auto now = std::chrono::system_clock::now();
        return JsonObject().text("time", timestamp_text(now));
    }

    // Writes to standard output.
    void announce(const std::string& text, const JsonObject& object) {
        output_.write((options_.json ? object.str() : text) + "\n");
    }
    // Writes to standard error.
    void remark(const std::string& text, const JsonObject& object) const {
        if (options_.json) return diagnostics().write_line(object.str());
        diagnostics().remark(text);
    }

    // Throws if nobody can find the server, because its addresses were not printed.
    void check_output() const {
        if (output_.error() != 0) throw OutputError("standard output", output_.error());
    }

    const ServerOptions options_;
    ev::Loop loop_;
    const DiagnosticsOnLoop diagnostics_on_loop_{loop_};
    Output output_{loop_, STDOUT_FILENO, [this] {
                       if (output_.error() != 0) loop_.stop();
                   }};
    EchoServer server_;
    std::string port_file_text_;
    bool shutting_down_ = false;
    ev::Signal terminate_{loop_, SIGTERM, [this] { shut_down(); }};
    ev::Signal interrupt_{loop_, SIGINT, [this] { shut_down(); }};
    ev::Signal hangup_{loop_, SIGHUP, [this] { reload(); }};
    ev::Signal report_signal_{loop_, SIGUSR1, [this] { report(); }};
};

void serve(ServerOptions options) {
    if (options.self_signed) {
        options.server.tls = bufio::TlsContext::self_signed_server(options.tls.client_ca);
    } else if (options.use_tls) {
        options.server.tls = bufio::TlsContext::server(options.tls);
    }
    Daemon(std::move(options)).run();
}

// Called before the options are parsed, because errors in them are also printed as JSON.
bool asks_for_json(int argc, char* argv[]) {
    for (int i = 1; i < argc && argv[i] != std::string_view("--"); ++i)
        if (argv[i] == std::string_view("--json")) return true;
    return false;
}

int run(int argc, char* argv[]) {
    ServerOptions options = parse_server_options(argc, argv);
    refuse_shared_outputs({{"--port-file", options.port_file}});
    if (options.json) diagnostics().set_form(Diagnostics::Form::json);
    if (options.help) return print(server_help());
    if (options.version) return print(version_text("yodeld", ev::backend_names()));
    serve(std::move(options));
    return success;
}

// Replaces the statuses that only clients have: an unusable --cacert file counts like an
// unusable certificate, and a server cannot run without its listening lines or port file.
Trouble server_trouble() {
    Trouble trouble = current_trouble("yodeld");
    if (trouble.status == trust_unusable) trouble.status = own_certificate_unusable;
    if (trouble.status == output_failed) trouble.status = cannot_run;
    return trouble;
}

int main(int argc, char* argv[]) {
    if (asks_for_json(argc, argv)) diagnostics().set_form(Diagnostics::Form::json);
    try {
        return run(argc, argv);
    } catch (const std::exception&) {
        return print_trouble(server_trouble());
    }
}

}  // namespace

}  // namespace yodel

int main(int argc, char* argv[]) {
    return yodel::run_program("yodeld", [&](int&) { return yodel::main(argc, argv); });
}
