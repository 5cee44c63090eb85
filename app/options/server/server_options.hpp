// The options of yodeld, parsed from its command line and checked.
#pragma once

#include "app/options/command_line.hpp"
#include "app/server/echo_server.hpp"

#include <string>
#include <vector>

namespace yodel {

// `server.tls` is created later, from `tls`.
struct ServerOptions {
    CommandLine line;
    EchoServer::Options server;

    bufio::TlsServerOptions tls;

    int family = AF_UNSPEC;
    std::vector<bufio::Endpoint> endpoints;  // at least one
    std::string port_file;
};

// Throws UsageError.
ServerOptions parse_server_options(int argc, char* argv[]);
// Returns the table of options. Each sets its value in `to`, which must outlive the table.
std::vector<Option> server_table(ServerOptions& to);
std::string server_help();

}  // namespace yodel
