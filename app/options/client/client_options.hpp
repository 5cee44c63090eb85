// The options that both clients share: targets, timeouts, TLS, WebSocket and messages.
#pragma once

#include "app/options/command_line.hpp"
#include "app/run/run_client.hpp"

#include <optional>
#include <string>
#include <vector>

namespace yodel {

struct ClientOptions : RunClient::Options {
    CommandLine line;
    std::optional<ev::Duration> interval;  // between messages or attempts; 0 for a closed loop
    std::optional<std::size_t> size;       // bytes per generated message
    bufio::TlsClientOptions tls;
    websocket::Request websocket;  // the request that opens a WebSocket

    // Without a target, an echo server runs in this process, unless a recording is shown.
    bool own_server() const { return !line.has("target read"); }
    bool connects() const { return line.has("target") || own_server(); }
    bool json() const { return report.form == Reporter::Form::json; }
    bool use_tls() const { return line.has("tls"); }
    bool expects_no_reply() const { return run.session.expect == Expect::none; }
    bool wants_generated_messages() const { return line.has("generated"); }
};

// Return the options that are in the tables of both clients. Each sets its value in `to`, which
// must outlive the table.
std::vector<Option> connection_options(ClientOptions& to);
std::vector<Option> tls_options(ClientOptions& to);
std::vector<Option> message_options(ClientOptions& to);
std::vector<Option> generated_options(ClientOptions& to);  // without a heading

// The options of only one client, so that the other one can name the right program.
inline constexpr const char* only_yodel =
    "l listen i interval examine r read replay mask x hex o log";
inline constexpr const char* only_load =
    "connections connect-rate rate arrivals seed churn threads start-at no-sessionid window "
    "messages warm-up require";
inline constexpr const char* load_numbers = "connections connect-rate rate seed churn window";

// Sets the target from the operands, and the framing and the expectation that it implies. Then
// checks the options. The error about a second target quotes `comparing`, which tells how to
// compare two servers. Throws UsageError.
void complete_client_options(ClientOptions& options, const char* comparing);

// The last lines of --help, which explain the arguments.
std::string argument_help();

}  // namespace yodel
