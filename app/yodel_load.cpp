// The load tool: many connections, planned times, and a verdict.

#include "app/load/load_page.hpp"
#include "app/options/client/client_options.hpp"
#include "app/process/program.hpp"
#include "app/process/sandbox.hpp"
#include "app/run/run_client.hpp"
#include "app/server/echo_server.hpp"
#include "app/text/output.hpp"
#include "bufio/tls.hpp"
#include "ev/backends/backends.hpp"
#include "ev/loop.hpp"

#include <unistd.h>

#include <memory>
#include <optional>

namespace yodel {

namespace {

int run(ev::Loop& loop, LoadOptions options, int& signo) {
    RunOptions& run = options.run;
    Session::Options& session = run.session;
    std::unique_ptr<EchoServer> server;
    if (options.has_own_server()) {
        if (!session.endpoint.is_udp)
            provide_descriptors(2 * run.connections);  // both ends of each
        server = start_own_server(loop, session.endpoint, *session.framing, run.connections,
                                  options.uses_tls() ? &options.tls : nullptr);
    }
    refuse_shared_outputs({{"SSLKEYLOGFILE", options.tls.key_log_file}});
    if (options.uses_tls()) session.tls = bufio::TlsContext::client(options.tls);
    plan_load(options);
    // In the background, the page would stop a run that needs no terminal.
    const bool has_page = !options.line.has("no-tui") && !options.prints_json() &&
                          !run.probe_interval && !options.shares_stdin() &&
                          !ui::is_in_background(STDIN_FILENO);
    if (has_page && can_use_screen_or_warn())
        options.page = [&loop](RunDisplay::Owner& owner) {
            return std::make_unique<LoadScreen>(loop, owner);
        };
    minimize_timer_slack();
    const std::string sandbox = options.line.has("no-sandbox")
                                    ? "none: --no-sandbox"
                                    : enter_sandbox(rules_to_connect(session.endpoint));
    if (options.report.is_verbose) print_error("sandbox: " + sandbox);
    return run_client<RunClient>(loop, options, signo);
}

}  // namespace

}  // namespace yodel

int main(int argc, char* argv[]) {
    return yodel::run_program("yodel-load", ev::backend_names(), argc, argv,
                              yodel::parse_load_options, yodel::load_help, yodel::run);
}
