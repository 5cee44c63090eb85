// The echo server as a program.

#include "app/options/server/server_options.hpp"
#include "app/process/program.hpp"
#include "app/process/sandbox.hpp"
#include "app/server/echo_server.hpp"
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
constexpr ev::Duration grace_period = std::chrono::seconds(5);

// Attempts to find a port that is free for connections and for datagrams.
constexpr int max_attempts = 16;

class Daemon {
public:
    Daemon(ev::Loop& loop, ServerOptions options)
        : options_(std::move(options)),
          loop_(loop),
          server_(loop_, options_.server, [this](auto& peer, auto& text) {
              remark(peer + ": " + text, timed_object().text("peer", peer).text("text", text));
          }) {}
    // Blocks signals, so that a signal cannot end the program before the clean-up is complete.
    // Also runs after an exception.
    ~Daemon() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    }
    Daemon(const Daemon&) = delete;

    void run() {
        for (const bufio::Endpoint& endpoint : options_.endpoints) listen(endpoint);
        provide_descriptors();
        if (options_.line.has("self-signed")) {
            const std::string pin = options_.server.tls->pin();
            announce("--pinnedpubkey " + pin, JsonObject().text("pinnedpubkey", pin));
        }
        check_output();
        const PortFile file(options_.port_file, port_file_text_);
        give_up_rights();  // before the first byte of a peer
        diagnostics().enable_timestamps();
        loop_.run();
        check_output();
    }

private:
    void listen(const bufio::Endpoint& endpoint) {
        bufio::LookupResult found = bufio::look_up(endpoint);
        std::vector<bufio::Address>& wanted = found.addresses;
        if (wanted.empty())
            throw std::runtime_error("cannot listen on " + endpoint.text() + ": " +
                                     found.error);
        if (endpoint.service == "0") wanted.resize(1);  // each would get another port
        const bool is_udp = is_udp_ && endpoint.path.empty();
        // One datagram to such an address could be answered by many hosts.
        for (const bufio::Address& each : wanted)
            if (is_udp && bufio::is_broadcast_or_multicast(each))
                throw UsageError("-u cannot listen on the broadcast or multicast address " +
                                 endpoint.host);
        bool is_listening = false;
        for (const bufio::Address& each : wanted) {
            try {
                const bufio::Address address =
                    is_udp ? listen_on_both(each) : server_.listen(each);
                announce_listening(address, false);
                if (is_udp) announce_listening(address, true);
                is_listening = true;
            } catch (const std::system_error& error) {
                // If a name has several addresses, this machine may lack some of them.
                const int code = error.code().value();
                const bool has_others = is_listening || &each != &wanted.back();
                if (!has_others || (code != EADDRNOTAVAIL && code != EAFNOSUPPORT)) throw;
            }
        }
    }

    // Listens on one port for UDP and TCP. If TCP already uses the port that the system chose
    // for UDP, asks for another one.
    bufio::Address listen_on_both(const bufio::Address& wanted) {
        for (int attempt = 1;; ++attempt) {
            const bufio::Address address = server_.listen_datagrams(wanted);
            try {
                return server_.listen(address);
            } catch (const std::system_error& error) {
                server_.close_last_datagram_port();
                const bool is_any_port = wanted.port() == 0;
                if (!is_any_port || error.code().value() != EADDRINUSE ||
                    attempt == max_attempts)
                    throw;
            }
        }
    }

    void announce_listening(const bufio::Address& address, bool is_udp) {
        if (address.port() != 0 && !is_udp)
            port_file_text_ += std::to_string(address.port()) + "\n";
        JsonObject object;
        object.text("listening", address.text())
            .number("port", static_cast<std::uint64_t>(address.port()));
        if (is_udp) object.text("protocol", "udp");
        announce((is_udp ? "listening udp " : "listening ") + address.text(), object);
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

    // All sockets are bound by now. The port file and the sockets of -U are removed at the end.
    void give_up_rights() {
        SandboxRules rules;
        if (!options_.port_file.empty()) rules.removable.push_back(options_.port_file);
        for (const bufio::Endpoint& endpoint : options_.endpoints)
            if (!endpoint.path.empty()) rules.removable.push_back(endpoint.path);
        const bool is_refused = options_.line.has("no-sandbox");
        const std::string state = is_refused ? "none: --no-sandbox" : enter_sandbox(rules);
        if (options_.server.is_verbose) remark("sandbox: " + state);
    }

    void shut_down() {
        if (is_shutting_down_) return loop_.stop();
        is_shutting_down_ = true;
        server_.drain(grace_period, [this] { loop_.stop(); });
    }

    void reload() {
        if (!options_.server.tls || options_.line.has("self-signed")) return;
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

    void report_counters() const {
        const Counters counters = server_.counters();
        std::string text;
        JsonObject object = timed_object();
        for (const auto& [name, counter] : counter_rows) {
            if (name.starts_with("datagram") && !is_udp_) continue;
            const std::uint64_t count = counters.*counter;
            text +=
                (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(name);
            object.number(name, count);
        }
        std::replace(text.begin(), text.end(), '_', ' ');
        remark(text, object);
    }

    void remark(const std::string& text) const {
        remark(text, timed_object().text("text", text));
    }

    static JsonObject timed_object() {
        return JsonObject().text("time", timestamp_text(std::chrono::system_clock::now()));
    }

    // Writes to standard output.
    void announce(const std::string& text, const JsonObject& object) {
        output_.write((is_json_ ? object.str() : text) + "\n");
    }
    // Writes to standard error.
    void remark(const std::string& text, const JsonObject& object) const {
        if (is_json_) return diagnostics().write_line(object.str());
        diagnostics().remark(text);
    }

    // Throws if the addresses were not printed, because nobody could find the server.
    void check_output() const {
        if (output_.error() != 0)
            throw FileError(output_failed, "standard output", output_.error());
    }

    const ServerOptions options_;
    const bool is_json_ = options_.line.has("json");
    const bool is_udp_ = options_.line.has("udp");  // each port also answers datagrams
    ev::Loop& loop_;
    Output output_{loop_, STDOUT_FILENO, [this] {
                       if (output_.error() != 0) loop_.stop();
                   }};
    EchoServer server_;
    std::string port_file_text_;
    bool is_shutting_down_ = false;
    ev::Signal terminate_{loop_, SIGTERM, [this] { shut_down(); }};
    ev::Signal interrupt_{loop_, SIGINT, [this] { shut_down(); }};
    ev::Signal hangup_{loop_, SIGHUP, [this] { reload(); }};
    ev::Signal report_signal_{loop_, SIGUSR1, [this] { report_counters(); }};
};

int run(ev::Loop& loop, ServerOptions options, int&) {
    refuse_shared_outputs({{"--port-file", options.port_file}});
    if (options.line.has("tls") || options.line.has("self-signed"))
        options.server.tls = bufio::TlsContext::server(options.tls);
    Daemon(loop, std::move(options)).run();
    return success;
}

}  // namespace

}  // namespace yodel

int main(int argc, char* argv[]) {
    // With --json, errors in the options are printed as JSON, too.
    for (int i = 1; i < argc && argv[i] != std::string_view("--"); ++i)
        if (argv[i] == std::string_view("--json"))
            yodel::diagnostics().set_form(yodel::Diagnostics::Form::json);
    return yodel::run_program("yodeld", ev::backend_names(), argc, argv,
                              yodel::parse_server_options, yodel::server_help, yodel::run,
                              true);
}
