// The options of yodel, parsed from its command line and checked.
#pragma once

#include "app/options/command_line.hpp"
#include "app/options/modes.hpp"
#include "app/protocol/session.hpp"
#include "app/run/reporter.hpp"
#include "app/stats/requirement.hpp"
#include "bufio/tls.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

// A load: many connections at once.
struct LoadOptions {
    std::optional<unsigned> connections;
    std::optional<std::uint64_t> connect_rate;  // thousandths of connections a second
    std::optional<std::uint64_t> rate;          // thousandths of messages a second
    bool random_arrivals = false;               // a Poisson process; false: even gaps
    std::optional<std::uint64_t> seed;          // start of the random gaps (1)
    std::optional<unsigned> churn;              // messages
    std::optional<ev::Duration> lifetime;       // also by --churn
    std::optional<std::chrono::system_clock::time_point> start;
    std::optional<std::size_t> threads;
    bool threads_auto = false;  // `auto`: no more than can be used

    // True if any of these options was given. Each makes a load, of one connection by default.
    bool given() const {
        return connections || connect_rate || rate || churn || lifetime || start || threads;
    }
};

// The replay of a recording.
struct ReplayOptions {
    std::string file;   // the recording to replay; empty: none
    bool fast = false;  // send as soon as replies come

    bool given() const { return !file.empty(); }
};

struct ClientOptions {
    Session::Options session;
    bufio::TlsClientOptions tls;
    bool use_tls = false;
    websocket::Request websocket;     // what the options add to the request
    std::optional<unsigned> retries;  // none: the default of the mode
    bool own_server = false;          // no target: run an echo server in this process
    bool no_tui = false;
    bool no_sandbox = false;
    bool busy = false;               // never sleep while there is a connection
    Reporter::Options report;        // pipe mode
    std::optional<unsigned> window;  // pipe mode: messages in flight at once
    bool escapes = false;            // the input contains escape sequences
    std::string messages;            // file of the messages to send; empty: generated ones
    // Each of these options selects generated messages, and has a default for them.
    std::optional<unsigned> count;
    std::optional<ev::Duration> interval;
    std::optional<std::size_t> size;  // bytes
    std::optional<ev::Duration> warm_up;
    bool generated() const { return count || interval || size || warm_up || !messages.empty(); }
    LoadOptions load;
    ReplayOptions replay;
    std::vector<std::string> merge;  // files with runs to add up; empty: make a run
    bool help = false;
    bool version = false;
    std::vector<Given> given;  // all of these, in their order
};

// Parses and checks the command line. After --help or --version only that flag is set. Throws
// UsageError.
ClientOptions parse_client_options(int argc, char* argv[]);

// Returns true unless an option excludes the full screen.
bool may_have_screen(const ClientOptions& options);

// Throws UsageError about an option that does not apply with this display. Call it as soon as
// it is known whether there is a screen.
void check_display(const ClientOptions& options, bool screen);

std::string client_help();  // the whole output of --help

// Returns the table of options. Each sets its value in `to`, which must outlive the table.
std::vector<OptionGroup> client_table(ClientOptions& to);

}  // namespace yodel
