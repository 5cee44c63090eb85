// The options of yodel and yodel-load, parsed from their command lines and checked. Both
// clients have the options for connections, TLS, WebSocket and messages.
#pragma once

#include "app/options/command_line.hpp"
#include "app/run/run_client.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

struct ClientOptions : RunClient::Options {
    CommandLine line;
    std::optional<ev::Duration> interval;  // between messages or attempts; 0 for a closed loop
    std::optional<std::size_t> size;       // bytes per generated message
    bufio::TlsClientOptions tls;
    websocket::Request websocket;  // the request that opens a WebSocket

    // Without a target, an echo server runs in this process, unless a recording is shown.
    bool has_own_server() const { return !line.has("target read"); }
    bool connects() const { return line.has("target") || has_own_server(); }
    bool prints_json() const { return report.form == Reporter::Form::json; }
    bool uses_tls() const { return line.has("tls"); }
    bool wants_generated_messages() const { return line.has("generated"); }
};

struct YodelOptions : ClientOptions {
    std::string recording_file;  // to show or to replay
};

struct LoadOptions : ClientOptions {
    // Messages per second at the end of a run whose rate climbs.
    std::optional<double> last_rate;
    bool has_random_arrivals = false;  // a Poisson process instead of even gaps
    std::string messages_file;         // empty if messages are generated
    bool shares_stdin() const { return messages_file == "-"; }
    bool may_reduce_threads = false;
};

// Parse the command line, and check it unless it contains --help or --version. Both throw
// UsageError.
YodelOptions parse_yodel_options(int argc, char* argv[]);
LoadOptions parse_load_options(int argc, char* argv[]);

std::string yodel_help();  // the whole output of --help
std::string load_help();

// --- What follows from the options of yodel.

// Returns true unless an option excludes full-screen mode.
bool may_have_screen(const YodelOptions& options);

// Throws UsageError about options that cannot be combined if there is no screen. Call it as
// soon as it is known whether there is a screen.
void check_display(const YodelOptions& options, bool has_screen);

// Sets the recording and its framing. With -r, also sets the recorded --expect, unless an
// option sets it. Throws UsageError if the options contradict the recording.
void use_recording(YodelOptions& options, std::shared_ptr<const Recording> recording);

// --- What follows from the options of yodel-load.

// Sets the source, schedule, messages and threads of the run. Checks whether standard input is
// a terminal, and reads the file of --messages, of at most 64 MiB. Throws UsageError. Throws
// FileError if the file is empty, too large or unreadable, or if one of its lines, which the
// error names, cannot be sent.
void plan_load(LoadOptions& options);

// --- Tables. Each option sets its value in `to`, which must outlive the table.

std::vector<Option> yodel_table(YodelOptions& to);
std::vector<Option> load_table(LoadOptions& to);

// Return the options that are in the tables of both clients.
std::vector<Option> connection_options(ClientOptions& to);
std::vector<Option> tls_options(ClientOptions& to);
std::vector<Option> message_options(ClientOptions& to);
std::vector<Option> generated_options(ClientOptions& to, std::string_view heading);

// Sets the target from the operands, and what the target and the options imply. Checks the
// options, and applies $SSLKEYLOGFILE and the defaults of repeated probes. The error about a
// second target is `compare_hint`, which tells how to compare two servers. Throws UsageError.
void complete_client_options(ClientOptions& options, const char* compare_hint);

}  // namespace yodel
