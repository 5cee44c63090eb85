// The client: a screen, a pipe, a ping, a probe or a replay, on one connection.

#include "app/options/yodel_options.hpp"
#include "app/process/program.hpp"
#include "app/process/sandbox.hpp"
#include "app/run/client_loop.hpp"
#include "app/run/run_client.hpp"
#include "app/screen/screen_client.hpp"
#include "app/server/own_server.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "bufio/tls.hpp"
#include "ev/backends/backends.hpp"
#include "ev/loop.hpp"

#include <memory>
#include <optional>

namespace yodel {

namespace {

// Reads the recording to replay, which may come through a pipe. Returns the exit status.
int await_recording(ev::Loop& loop, YodelOptions& options, int& signo) {
    Session::Options& session = options.run.session;
    auto recording = std::make_shared<Recording>(options.replay, session.max_frame);
    const EndingSignals ending(loop, [&](int) { loop.stop(); });
    const ev::Time begin = loop.read_clock();
    const bool arrived = recording->fetch(loop, session.max_time);
    session.spent = loop.read_clock() - begin;
    signo = ending.signo();
    if (signo != 0) return cannot_run;  // the signal decides the status
    if (!arrived)
        return fail({timed_out, recording->name() + ": no recording arrived within " +
                                    duration_text(*session.max_time) + " (--max-time)"});
    if (!recording->trouble().empty()) return fail({recording->status(), recording->trouble()});
    use_recording(options, std::move(recording));
    return success;
}

// The key log and a recording to replay are open by now. Returns the sandbox's state.
std::string give_up_rights(const YodelOptions& options, bool screen) {
    if (options.no_sandbox) return "none: --no-sandbox";
    const JournalFile& log = options.report.log;
    SandboxRules rules = rules_to_connect(options.run.session.endpoint);
    if (!log.empty()) rules.files = {log.path};
    if (screen && log.empty()) rules.folders = {"."};  // M-o creates a file there
    if (screen && log.recording) rules.folders = {folder_of(log.path)};
    return enter_sandbox(rules);
}

int run_on_screen(ev::Loop& loop, YodelOptions& options, int& signo) {
    Session::Options& session = options.run.session;
    session.retries = options.retries.value_or(Session::forever);
    session.mark_resent = true;
    ScreenClient::Options to;
    to.conversation = {.session = session,
                       .escapes = options.escapes,
                       .log = options.report.log,
                       .quiet = options.report.quiet};
    to.hex = options.report.hex;
    if (options.use_tls) to.key_log = options.tls.key_log_file;
    to.sandbox = give_up_rights(options, true);
    return run_client<ScreenClient>(loop, to, false, signo);
}

int run_in_pipe(ev::Loop& loop, YodelOptions& options, int& signo) {
    options.run.session.retries = options.retries.value_or(0);
    if (options.from != RunClient::Options::From::input) ask_for_exact_waits();
    const std::string sandbox = give_up_rights(options, false);
    if (options.report.verbose) print_error("sandbox: " + sandbox);
    return run_client<RunClient>(loop, options, false, signo);
}

int run(YodelOptions options, int& signo) {
    ev::Loop loop;
    const DiagnosticsOnLoop on_loop(loop);
    Session::Options& session = options.run.session;
    const int unreadable = options.replay.empty() ? 0 : await_recording(loop, options, signo);
    if (unreadable != success) return unreadable;
    std::optional<OwnServer> server;
    if (options.own_server)
        server.emplace(loop, session.endpoint,
                       OwnServer::Options{.framing = *session.framing,
                                          .tls = options.use_tls ? &options.tls : nullptr});
    refuse_shared_outputs(
        {{"-o", options.report.log.path}, {"SSLKEYLOGFILE", options.tls.key_log_file}});
    if (options.use_tls) session.tls = bufio::TlsContext::client(options.tls);
    const bool screen = may_have_screen(options) && check_terminal();
    check_display(options, screen);
    return screen ? run_on_screen(loop, options, signo) : run_in_pipe(loop, options, signo);
}

int main(int argc, char* argv[], int& signo) {
    const YodelOptions options = parse_yodel_options(argc, argv);
    if (options.help) return print(yodel_help());
    if (options.version) return print(version_text("yodel", ev::backend_names()));
    return run(options, signo);
}

}  // namespace

}  // namespace yodel

int main(int argc, char* argv[]) {
    return yodel::run_program("yodel",
                              [&](int& signo) { return yodel::main(argc, argv, signo); });
}
