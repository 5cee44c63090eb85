// What yodel is asked to do: its command line, read and checked.
#pragma once

#include "app/session.hpp"
#include "bufio/tls.hpp"

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
    bool quiet = false;
    unsigned window = 64;  // messages in flight at once, in pipe mode
    bool help = false;
    bool version = false;
};

// Throws UsageError.
ClientOptions parse_client_options(int argc, char* argv[]);
std::string client_help();

}  // namespace yodel
