// The options of yodel, parsed from its command line and checked.
#pragma once

#include "app/options/crowd_options.hpp"
#include "app/options/replay_options.hpp"
#include "app/run/reporter.hpp"
#include "app/protocol/session.hpp"
#include "app/screen/screen_client.hpp"
#include "bufio/tls.hpp"

#include <optional>
#include <string>
#include <vector>

namespace yodel {

struct ClientOptions {
    Session::Options session;
    bufio::TlsClientOptions tls;
    bool use_tls = false;
    std::string framing_given;        // by -f; empty: the default
    std::optional<unsigned> retries;  // none: the default of the mode
    bool own_server = false;          // no target: run an echo server in this process
    bool no_tui = false;
    bool no_sandbox = false;
    bool busy = false;                      // never sleep while there is a connection
    Reporter::Options report;               // pipe mode
    std::optional<unsigned> window;         // pipe mode: messages in flight at once
    std::optional<std::size_t> scrollback;  // screen: messages kept
    bool escapes = false;                   // the input holds escape sequences
    bool hex = false;
    ui::Color color = ui::Color::automatic;  // screen
    bool mouse = false;                      // screen: the wheel scrolls
    // Each of these three selects an unattended run, and has a default there.
    std::optional<unsigned> count;
    std::optional<ev::Duration> interval;
    std::optional<std::size_t> size;  // bytes
    bool unattended() const { return count || interval || size; }
    CrowdOptions crowd;
    ReplayOptions replay;
    bool expect_given = false;  // by --expect, not the default
    std::string compare;        // the file with the end object of before; empty: none
    std::vector<std::string>
        merge;  // the files whose end objects are added up, instead of a run
    bool verdict() const {
        return !report.verdict.required.empty() || !compare.empty() || !report.hgrm.empty();
    }
    bool help = false;
    bool version = false;
    std::string completion;  // the shell to print completions for; empty: none
};

// Parses all of the command line. After --help or --version only that flag is set. Throws
// UsageError.
ClientOptions parse_client_options(int argc, char* argv[]);
std::string client_help();
std::string client_completion(const std::string& shell);  // all of the output of --help

}  // namespace yodel
