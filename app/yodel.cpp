// The client.

#include "app/options/client_options.hpp"
#include "app/options/command_line.hpp"
#include "app/process/program.hpp"
#include "app/process/sandbox.hpp"
#include "app/run/merge.hpp"
#include "app/run/run_client.hpp"
#include "app/screen/load_screen.hpp"
#include "app/screen/screen_client.hpp"
#include "app/server/datagram_server.hpp"
#include "app/server/echo_server.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "bufio/lookup.hpp"
#include "bufio/tls.hpp"
#include "ev/backends/backends.hpp"
#include "ev/loop.hpp"
#include "ui/terminal.hpp"
#include "ui/tty.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace yodel {

namespace {

constexpr std::uint16_t dns_port = 53;  // look-ups with long answers go over TCP

// Records the first of the signals that end the program.
class EndingSignals {
public:
    template <class Leave>
    EndingSignals(ev::Loop& loop, Leave leave) {
        for (const int number : {SIGINT, SIGTERM, SIGHUP})
            signals_.emplace_back(loop, number, [this, leave, number] {
                if (signo_ == 0) signo_ = number;
                std::signal(SIGTTOU, SIG_IGN);  // the summary may be written in the background
                leave(signo_);
            });
    }
    int signo() const { return signo_; }

private:
    std::vector<ev::Signal> signals_;
    int signo_ = 0;
};

// An echo server in this process, on a loopback port, as the target.
struct OwnServer {
    std::unique_ptr<EchoServer> streams;
    std::unique_ptr<DatagramServer> datagrams;  // instead, with -u
};

bufio::Address loopback_address(const bufio::Endpoint& endpoint) {
    const bufio::LookupResult found = bufio::resolve_without_network(endpoint);
    if (found.addresses.empty())
        throw std::runtime_error("cannot resolve the local address " + endpoint.host);
    return found.addresses.front();
}

// Answers only our own messages, so that the same message again and again is no loop.
OwnServer own_datagram_server(ev::Loop& loop, bufio::Endpoint& endpoint) {
    DatagramServer::Options server;
    server.reflect_any = true;
    auto made = std::make_unique<DatagramServer>(loop, std::move(server), [](auto&) {});
    endpoint.service = std::to_string(made->listen(loopback_address(endpoint)).port());
    return {nullptr, std::move(made)};
}

OwnServer own_server(ev::Loop& loop, ClientOptions& options) {
    EchoServer::Options server;
    server.framing = options.session.framing;
    if (!server.framing->can_echo())
        throw UsageError(server.framing->holder() +
                         " needs a target, because the server inside only echoes");
    const std::size_t connections = options.load.connections.value_or(1);
    server.max_connections = std::max(server.max_connections, connections);
    if (options.use_tls) {
        server.tls = bufio::TlsContext::self_signed_server();
        options.tls.pins = {server.tls->pin()};
    }
    bufio::Endpoint& endpoint = options.session.endpoint;
    endpoint.host = endpoint.family == AF_INET6 ? "::1" : "127.0.0.1";
    endpoint.service = "0";
    if (endpoint.datagrams) return own_datagram_server(loop, endpoint);
    provide_descriptors(2 * connections);  // both ends of each
    auto made = std::make_unique<EchoServer>(loop, std::move(server), [](auto&) {});
    endpoint.service = std::to_string(made->listen(loopback_address(endpoint)).port());
    return {std::move(made), nullptr};
}

// A terminal of unknown type counts as "dumb", with a remark.
bool terminal_able() {
    const char* const term = std::getenv("TERM");
    const bool able = term && *term != '\0' && std::strcmp(term, "dumb") != 0;
    if (!able || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return false;
    const std::string trouble = ui::terminal_trouble();
    if (!trouble.empty()) print_error("yodel", trouble + "; using pipe mode");
    return trouble.empty();
}

// Returns the source of the messages. Without a terminal, a load without a schedule and a
// length sends the lines of standard input.
RunClient::Options::From source_of(const ClientOptions& options) {
    using enum RunClient::Options::From;
    if (options.replay.given()) return recording;
    if (options.report.probe) return nothing;
    const LoadOptions& load = options.load;
    if (options.generated() || load.rate) return generator;
    const bool unread = options.session.max_time || ::isatty(STDIN_FILENO) == 1;
    return load.given() && unread ? generator : input;
}

// Returns the pace. An interval gives one message to each connection in turn. A single
// connection has an interval of a second by default, unless a window makes it a closed loop.
std::optional<Pace> pace(const ClientOptions& options) {
    if (options.load.rate) return Pace::per_second(*options.load.rate);
    std::optional<ev::Duration> interval = options.interval;
    if (!interval && !options.load.given() && !options.window)
        interval = std::chrono::seconds(1);
    if (!interval || *interval == ev::Duration::zero()) return std::nullopt;
    return Pace(options.load.connections.value_or(1), *interval);
}

RunOptions run_options(const ClientOptions& options, RunClient::Options::From from) {
    const bool generated = from == RunClient::Options::From::generator;
    const LoadOptions& load = options.load;
    RunOptions to;
    to.session = options.session;
    to.connections = load.connections.value_or(1);
    to.threads = std::min<std::size_t>(load.threads.value_or(1), to.connections);
    to.busy = options.busy;
    if (load.connect_rate) to.connect_pace = Pace::per_second(*load.connect_rate);
    to.churn = load.churn.value_or(0);
    to.lifetime = load.lifetime;
    to.window = options.window;
    const bool single = !load.given() || (!generated && to.connections == 1);
    if (!to.window && (!single || to.session.framing->turns)) to.window = 1;
    to.probe = options.report.probe;
    if (to.probe && load.given()) {
        to.length = std::exchange(to.session.max_time, std::nullopt);
        to.session.closed_early = "the server closed before the end of the run";
    }
    if (!generated) return to;
    to.pace = pace(options);
    to.fixed_connections = !load.rate;
    if (load.random_arrivals) to.seed = load.seed.value_or(1);
    to.count = options.count.value_or(0);
    to.length = options.session.max_time;
    to.warm_up = options.warm_up;
    to.size = options.size.value_or(std::min(to.size, options.session.max_frame));
    if (options.messages.empty()) return to;
    to.messages = read_own_messages(options.messages, *to.session.framing, to.session.max_frame,
                                    options.escapes);
    for (const std::string& each : *to.messages) to.size = std::max(to.size, each.size());
    return to;
}

RunClient::Options run_client_options(ev::Loop& loop, const ClientOptions& options,
                                      std::shared_ptr<Recording> recording) {
    RunClient::Options to;
    to.from = source_of(options);
    to.run = run_options(options, to.from);
    to.report = options.report;
    to.load = options.load.given();
    to.report.probe = options.report.probe && !to.load;
    to.escapes = options.escapes;
    to.fast = options.replay.fast;
    to.start = options.load.start;
    to.recording = std::move(recording);
    const bool generated = to.from == RunClient::Options::From::generator;
    if (to.report.payloads && to.load && generated)
        throw UsageError("--payload cannot record generated messages on many connections, only "
                         "standard input");
    if (to.from == RunClient::Options::From::input && to.run.threads > 1) {
        if (!options.load.threads_auto)
            throw UsageError("--threads needs generated messages (-c, -i, --size, --rate or "
                             "-m), because one thread reads standard input");
        to.run.threads = 1;
    }
    // A load has a page, which takes no input, because a script comes from elsewhere. In the
    // background, the page would stop a run that needs no terminal.
    const bool piped = options.no_tui || options.report.form == Reporter::Form::json;
    if (to.load && !piped && !ui::in_background() && terminal_able())
        to.page = [&loop](RunDisplay::User& user) {
            return std::make_unique<LoadScreen>(loop, user);
        };
    return to;
}

// Waits for a recording that comes through a pipe. Returns false if a signal or the limit of
// the run comes first.
bool await_recording(ev::Loop& loop, Recording& recording, ClientOptions& options, int& signo) {
    const EndingSignals ending(loop, [&](int) { loop.stop(); });
    const ev::Time begin = loop.read_clock();
    const bool fetched = recording.fetch(loop, options.session.max_time);
    options.session.spent = loop.read_clock() - begin;
    signo = ending.signo();
    return fetched;
}

std::string recorded_with(const Framing& framing) {
    if (framing.datagrams) return "datagrams (-u)";
    return framing.websocket() ? "WebSocket (ws:// or wss://)"
                               : "-f " + std::string(framing.name);
}

// The recording defines the framing, which need not be given again. Datagrams and WebSocket
// must be.
void check_recording(const Recording& recording, const ClientOptions& options) {
    const std::string& file = recording.name();
    const Framing& framing = *recording.framing();
    if (options.session.pattern && !framing.replies_framed())
        throw UsageError("--mask cannot be combined with -f " + std::string(framing.name) +
                         " of " + file + ", whose replies have no frames");
    const Framing& wanted = *options.session.framing;
    const bool given = !framing.is_option() || !wanted.is_option() ||
                       !chosen_by(options.given, mode::framed | mode::raw).empty();
    if (given && &framing != &wanted)
        throw UsageError(file + " was recorded with " + recorded_with(framing) + ", not with " +
                         recorded_with(wanted));
}

// The key log and a recording to replay are open by now.
SandboxRules sandbox_rules(const ClientOptions& options, bool screen) {
    SandboxRules rules;
    if (!options.report.log.empty()) rules.files = {options.report.log.path};
    if (screen && rules.files.empty()) rules.folders = {"."};  // M-o creates a file there
    if (screen && options.report.log.recording)  // M-o creates files in its folder
        rules.folders = {folder_of(options.report.log.path)};
    const bufio::Endpoint& endpoint = options.session.endpoint;
    rules.connects = {dns_port};
    if (endpoint.datagrams || !endpoint.path.empty()) return rules;
    rules.connects.push_back(tcp_port(endpoint.service));
    const bool any_port = endpoint.source_port.empty();
    if (!any_port || !endpoint.source_host.empty())
        rules.binds = {any_port ? std::uint16_t{0} : tcp_port(endpoint.source_port)};
    return rules;
}

// Returns the sandbox's state in a few words.
std::string give_up_rights(const ClientOptions& options, bool screen) {
    if (options.no_sandbox) return "none: --no-sandbox";
    return enter_sandbox(sandbox_rules(options, screen));
}

ScreenClient::Options screen_options(const ClientOptions& options) {
    ScreenClient::Options to;
    Conversation::Options& conversation = to.conversation;
    conversation.session = options.session;
    conversation.session.mark_resent = true;
    conversation.escapes = options.escapes;
    conversation.log = options.report.log;
    conversation.quiet = options.report.quiet;
    to.hex = options.report.hex;
    if (options.use_tls) to.key_log = options.tls.key_log_file;
    to.sandbox = give_up_rights(options, true);
    return to;
}

// With --busy the loop never sleeps while a connection is open. Otherwise it only waits for
// the network and the clock, and waking up delays no round trip.
template <class Client>
int run(ev::Loop& loop, const typename Client::Options& options, bool busy, int& signo) {
    std::optional<Client> client;
    const EndingSignals ending(loop, [&](int number) { client->quit(number); });
    const ev::Signal continued(loop, SIGCONT, [&] { client->continued(); });
    client.emplace(loop, options);  // may take the terminal: signals are handled by now
    while (loop.step()) {
        client->turn_ended();
        loop.set_busy(busy && client->has_open_connection());
    }
    signo = ending.signo();
    return client->report();
}

template <class Client>
int run_piped(ev::Loop& loop, const typename Client::Options& options,
              const ClientOptions& given, int& signo) {
    const std::string sandbox = give_up_rights(given, false);
    if (given.report.verbose) print_error("yodel", "sandbox: " + sandbox);
    return run<Client>(loop, options, given.busy, signo);
}

// Standard input is not read if messages are generated: data there was meant to be sent.
void note_unread_input() {
    struct stat input {};
    int count = 0;
    if (::fstat(STDIN_FILENO, &input) != 0) return;
    if (S_ISREG(input.st_mode)) count = ::lseek(STDIN_FILENO, 0, SEEK_CUR) < input.st_size;
    if (S_ISFIFO(input.st_mode)) ::ioctl(STDIN_FILENO, FIONREAD, &count);
    if (count > 0)
        print_error("yodel",
                    "standard input was not read; --messages - sends its lines instead of "
                    "generated messages");
}

int run_without_screen(ev::Loop& loop, ClientOptions& options,
                       std::shared_ptr<Recording> recording, int& signo) {
    options.session.retries = options.retries.value_or(0);
    // A server may refuse our certificate, or the lack of one, only after the handshake.
    const ev::Duration longest = options.use_tls ? std::chrono::seconds(1) : ev::Duration();
    if (options.report.probe)
        options.session.close_timeout = std::min(options.session.close_timeout, longest);
    const bool generated = source_of(options) == RunClient::Options::From::generator;
    const RunClient::Options run = run_client_options(loop, options, std::move(recording));
    if (run.load || run.from != RunClient::Options::From::input) ask_for_exact_waits();
    const int status = run_piped<RunClient>(loop, run, options, signo);
    if (generated && options.messages.empty() && !options.report.quiet) note_unread_input();
    return status;
}

int run(ClientOptions options, int& signo) {
    if (!options.merge.empty()) return merge(options.merge, options.report);
    ev::Loop loop;
    const DiagnosticsOnLoop on_loop(loop);
    std::shared_ptr<Recording> recording;
    if (options.replay.given()) {
        recording = std::make_shared<Recording>(options.replay.file, options.session.max_frame);
        const bool arrived = await_recording(loop, *recording, options, signo);
        if (signo != 0) return cannot_run;  // the signal decides the status
        if (!arrived)
            return fail({timed_out, recording->name() + ": no recording arrived within " +
                                        duration_text(*options.session.max_time) +
                                        " (--max-time)"});
        if (!recording->trouble().empty())
            return fail({recording->status(), recording->trouble()});
        check_recording(*recording, options);
        options.session.framing = recording->framing();
    }
    const OwnServer server = options.own_server ? own_server(loop, options) : OwnServer();
    const char* const key_log = std::getenv("SSLKEYLOGFILE");
    if (key_log && options.use_tls) options.tls.key_log_file = key_log;
    refuse_shared_outputs(
        {{"-o", options.report.log.path}, {"SSLKEYLOGFILE", options.tls.key_log_file}});
    if (options.use_tls) options.session.tls = bufio::TlsContext::client(options.tls);
    const bool screen = may_have_screen(options) && terminal_able();
    check_display(options, screen);
    if (screen) {
        options.session.retries = options.retries.value_or(Session::forever);
        return run<ScreenClient>(loop, screen_options(options), options.busy, signo);
    }
    return run_without_screen(loop, options, std::move(recording), signo);
}

int main(int argc, char* argv[]) {
    prepare_process("yodel");
    std::setlocale(LC_CTYPE, "");
    int signo = 0;
    int status = 0;
    try {
        const ClientOptions options = parse_client_options(argc, argv);
        if (options.help) {
            print(client_help());
        } else if (options.version) {
            print(version_text("yodel", ev::backend_names(), ", " + ui::curses_library()));
        } else {
            status = run(options, signo);
        }
    } catch (const std::exception&) {
        status = fail(current_trouble("yodel"));
    }
    if (signo != 0) print_error("yodel", ended_by(signo));
    finish_diagnostics();
    if (signo == 0) return status;
    std::signal(signo, SIG_DFL);
    std::raise(signo);
    return status;
}

}  // namespace

}  // namespace yodel

int main(int argc, char* argv[]) { return yodel::main(argc, argv); }
