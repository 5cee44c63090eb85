// The options that both clients share: targets, timeouts, TLS, WebSocket and messages.
#pragma once

#include "app/options/command_line.hpp"
#include "app/run/run_client.hpp"
#include "app/run/run_options.hpp"
#include "bufio/tls.hpp"

#include <optional>
#include <string>
#include <vector>

namespace yodel {

struct ClientOptions : RunClient::Options {
    std::optional<ev::Duration> interval;  // between messages or attempts; 0: as replies arrive
    std::optional<std::size_t> size;       // bytes per generated message
    bufio::TlsClientOptions tls;
    bool use_tls = false;
    websocket::Request websocket;     // the request that opens a WebSocket
    std::optional<unsigned> retries;  // none: the default of the mode
    bool listens = false;             // accept clients, and answer by hand
    bool own_server = false;          // no target: run an echo server in this process
    bool no_tui = false;
    bool no_sandbox = false;
    bool help = false;
    bool version = false;
    std::vector<GivenOption> given;  // the options on the command line and the scheme, in order

    bool json() const { return report.form == Reporter::Form::json; }
    bool expects_no_reply() const { return run.session.expect == Expect::none; }
    bool wants_generated_messages() const { return !given_with(given, "generated").empty(); }
};

// Return the options that are in the tables of both clients. Each sets its value in `to`, which
// must outlive the table.
OptionGroup connection_options(ClientOptions& to);
OptionGroup tls_options(ClientOptions& to);
OptionGroup message_options(ClientOptions& to);
std::vector<Option> generated_options(ClientOptions& to);
std::vector<Option> process_options(ClientOptions& to);

// Sets the target from the operands, and the framing and the expectation that it implies.
// `comparing`: how to compare two servers, for the error about a second target. Throws
// UsageError.
void set_target(ClientOptions& options, const std::vector<std::string>& operands,
                const char* comparing);

// Checks the options. Throws UsageError.
void check_client(ClientOptions& options);

// The last lines of --help, which explain the arguments.
std::string argument_help();

}  // namespace yodel
