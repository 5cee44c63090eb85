// The client: a conversation in full-screen or pipe mode, ping, probe, replay, and the
// examination of a server. With -l, it accepts clients instead of connecting.

#include "app/examine/examine.hpp"
#include "app/options/client/client_options.hpp"
#include "app/process/program.hpp"
#include "app/process/sandbox.hpp"
#include "app/protocol/event.hpp"
#include "app/run/run_client.hpp"
#include "app/screen/screen_client.hpp"
#include "app/server/echo_server.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/output.hpp"
#include "app/text/units.hpp"
#include "bufio/listen.hpp"
#include "bufio/tls.hpp"
#include "ev/backends/backends.hpp"
#include "ev/loop.hpp"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

namespace yodel {

namespace {

// Reads the recording to replay or to show, perhaps from a pipe, and stores the signal that
// interrupts reading. Returns the exit status. A damaged recording can be shown up to the
// damage, but not replayed.
int await_recording(ev::Loop& loop, YodelOptions& options, int& signo) {
    Session::Options& session = options.run.session;
    const bool is_shown = options.line.has("read");
    const EndingSignals ending(loop, [&](int) { loop.stop(); });
    const ev::Time begun_at = loop.read_clock();
    Recording recording = read_recording(loop, options.recording_file,
                                         {!is_shown, session.max_frame}, session.max_time);
    session.time_spent = loop.read_clock() - begun_at;
    signo = ending.signo();
    if (signo != 0) return cannot_run;  // the signal decides the status
    const bool is_usable = is_shown && (recording.framing || !recording.events.empty());
    if (!recording.trouble.text.empty() && !is_usable) return print_trouble(recording.trouble);
    use_recording(options, std::make_shared<const Recording>(std::move(recording)));
    return success;
}

// Returns the sandbox's state. The key log and the port to listen on are already open, and a
// recording has been read.
std::string give_up_rights(const YodelOptions& options, bool has_screen) {
    if (options.line.has("no-sandbox")) return "none: --no-sandbox";
    const JournalFile& log = options.report.log;
    if (!options.connects()) return enter_sandbox({});
    const bufio::Endpoint& endpoint = options.run.session.endpoint;
    SandboxRules rules;
    if (!endpoint.is_passive) rules = rules_to_connect(endpoint);
    if (endpoint.is_passive && !endpoint.path.empty()) rules.removable = {endpoint.path};
    if (!log.empty()) rules.files = {log.path};
    if (has_screen && log.empty()) rules.folders = {"."};  // M-o creates a file there
    if (has_screen && log.is_recording) rules.folders = {folder_of(log.path)};
    return enter_sandbox(rules);
}

// Listens, and stores the acceptor and the actual port in the endpoint. Throws std::exception
// on failure.
void listen(ev::Loop& loop, Session::Options& session,
            std::optional<bufio::Acceptor>& acceptor) {
    bufio::Endpoint& endpoint = session.endpoint;
    const bufio::LookupResult found = bufio::look_up(endpoint);
    if (found.addresses.empty())
        throw std::runtime_error("cannot listen on " + endpoint.text() + ": " + found.error);
    acceptor.emplace(loop, found.addresses.front(), endpoint.is_udp);
    endpoint.acceptor = &*acceptor;
    if (endpoint.path.empty()) endpoint.service = std::to_string(acceptor->address().port());
}

bufio::TlsContext tls_context(const YodelOptions& options) {
    const bufio::TlsClientOptions& tls = options.tls;
    if (!options.run.session.endpoint.is_passive) return bufio::TlsContext::client(tls);
    return bufio::TlsContext::server(
        {.certificate = tls.certificate, .key = tls.key, .key_log_file = tls.key_log_file});
}

// Makes pipe mode with -l like nc -l: it passes bytes as they are, unless an option needs
// messages. Without -q, it waits indefinitely for the client to close.
void prepare_listening_in_pipe(YodelOptions& options) {
    Session::Options& session = options.run.session;
    const bool needs_messages =
        options.report.log.is_recording || options.line.has("framing C json escapes");
    if (!needs_messages && session.framing->is_option()) session.framing = find_framing("raw");
    if (!options.line.has("q")) {
        if (session.endpoint.is_udp) session.answer_time = session.close_timeout;
        session.close_timeout = ev::Duration::max() / 4;
    }
    if (!options.report.is_quiet) print_error(session.listening_text());
}

int run_on_screen(ev::Loop& loop, YodelOptions& options, int& signo) {
    Session::Options& session = options.run.session;
    session.may_retry_after_answers = options.line.has("retry");
    if (!options.line.has("retry")) session.retries = Session::forever;
    ScreenClient::Options screen{.session = session,
                                 .has_escapes = options.run.has_escapes,
                                 .is_hex = options.report.is_hex,
                                 .log = options.report.log,
                                 .is_quiet = options.report.is_quiet,
                                 .recording = options.run.recording,
                                 .has_target = options.connects()};
    if (options.uses_tls()) screen.key_log = options.tls.key_log_file;
    screen.sandbox = give_up_rights(options, true);
    return run_client<ScreenClient>(loop, screen, signo);
}

int run_in_pipe(ev::Loop& loop, YodelOptions& options, int& signo) {
    if (options.run.from != RunOptions::From::input) minimize_timer_slack();
    if (options.run.session.listens()) prepare_listening_in_pipe(options);
    const std::string sandbox = give_up_rights(options, false);
    if (options.report.is_verbose) print_error("sandbox: " + sandbox);
    return run_client<RunClient>(loop, options, signo);
}

// Prints a recording as the transcript that -o would have written.
int print_recording(const YodelOptions& options) {
    give_up_rights(options, false);
    const Recording& recording = *options.run.recording;
    std::string text;
    for (const StoredEvent& event : recording.events) {
        text += lines(recording.started +
                          std::chrono::duration_cast<std::chrono::system_clock::duration>(
                              event->at.time_since_epoch()),
                      *event);
        if (text.size() < 64 * 1024) continue;
        print(text);
        text.clear();
    }
    print(text);
    const Trouble& trouble = recording.trouble;
    return trouble.text.empty() ? success : print_trouble(trouble);
}

// Examines the server, and waits until its report is written.
int run_examination(ev::Loop& loop, YodelOptions& options, int& signo) {
    Session::Options& session = options.run.session;
    if (!options.line.has("reply-timeout")) session.reply_timeout = std::chrono::seconds(1);
    if (!options.line.has("connect-timeout")) session.connect_timeout = std::chrono::seconds(4);
    give_up_rights(options, false);
    const EndingSignals ending(loop, [&](int) { loop.stop(); });
    const bool is_shown = ::isatty(STDERR_FILENO) == 1 && !options.report.is_quiet;
    Output output(loop, STDOUT_FILENO, [] {});
    const ev::Time begun_at = loop.read_clock();
    const auto show_check = [&](std::size_t number, std::size_t count) {
        if (is_shown)
            diagnostics().show_temporary("check " + std::to_string(number) + " of " +
                                         std::to_string(count));
    };
    const auto print_lines = [&](const std::string& lines) {
        diagnostics().clear_temporary();
        output.write(lines);
    };
    const Trouble trouble = examine(loop, {session, options.prints_json(),
                                           options.report.is_verbose, print_lines, show_check});
    diagnostics().clear_temporary();
    ev::Timer deadline_timer(loop, [&] { loop.stop(); });
    if (session.max_time) deadline_timer.start_at(begun_at + *session.max_time);
    while (ending.signo() == 0 && !output.is_done() && loop.step()) continue;
    signo = ending.signo();
    if (output.error() != 0)
        return print_trouble({output_failed, "standard output: " + output.error_text()});
    if (!output.is_done() && signo == 0)
        return print_trouble({timed_out, "standard output was not read in time (-m)"});
    return trouble.text.empty() ? trouble.status : print_trouble(trouble);
}

int run(ev::Loop& loop, YodelOptions options, int& signo) {
    Session::Options& session = options.run.session;
    if (options.line.has("replay read")) {
        const int status = await_recording(loop, options, signo);
        if (status != success) return status;
    }
    std::unique_ptr<EchoServer> server;
    std::optional<bufio::Acceptor> acceptor;
    if (options.has_own_server())
        server = start_own_server(loop, session.endpoint, *session.framing, 1,
                                  options.uses_tls() ? &options.tls : nullptr);
    refuse_shared_outputs(
        {{"-o", options.report.log.path}, {"SSLKEYLOGFILE", options.tls.key_log_file}});
    if (options.uses_tls()) session.tls = tls_context(options);
    if (session.endpoint.is_passive) listen(loop, session, acceptor);
    if (session.listens() && options.line.has("q")) session.answer_time = session.close_timeout;
    if (options.line.has("examine")) return run_examination(loop, options, signo);
    const bool has_screen = may_have_screen(options) && can_use_screen_or_warn();
    check_display(options, has_screen);
    if (!has_screen && options.line.has("read")) return print_recording(options);
    return has_screen ? run_on_screen(loop, options, signo) : run_in_pipe(loop, options, signo);
}

}  // namespace

}  // namespace yodel

int main(int argc, char* argv[]) {
    return yodel::run_program("yodel", ev::backend_names(), argc, argv,
                              yodel::parse_yodel_options, yodel::yodel_help, yodel::run);
}
