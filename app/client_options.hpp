// What yodel is asked to do: its command line, read and checked.
#pragma once

#include "app/pipe/reporter.hpp"
#include "app/protocol/session.hpp"
#include "bufio/tls.hpp"
#include "ui/terminal.hpp"

#include <optional>
#include <string>

namespace yodel {

struct ClientOptions {
    Session::Options session;
    bufio::TlsClientOptions tls;
    bool use_tls = false;
    std::optional<unsigned> retries;  // none: as the mode has it
    bool own_server = false;  // no target was named: talk to an echo server in this process
    bool no_tui = false;
    Reporter::Options report;               // in pipe mode
    std::optional<unsigned> window;         // messages in flight at once, in pipe mode
    std::optional<std::size_t> scrollback;  // messages kept, on the screen
    bool escapes = false;
    bool hex = false;
    ui::Color color = ui::Color::automatic;  // on the screen
    // Of the unattended run, which each of them asks for.
    std::optional<unsigned> count;
    std::optional<ev::Duration> interval;
    std::optional<std::size_t> size;
    bool unattended() const { return count || interval || size; }
    bool help = false;
    bool version = false;
};

// Throws UsageError.
ClientOptions parse_client_options(int argc, char* argv[]);
std::string client_help();

}  // namespace yodel
