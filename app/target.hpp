// Where to connect to, or to listen on, as it is written on a command line.
#pragma once

#include <string>
#include <vector>

namespace yodel {

struct Target {
    enum class Scheme { none, tcp, tls };
    Scheme scheme = Scheme::none;
    std::string host;     // an IPv6 address without its brackets
    std::string service;  // a port or a service's name
    std::string path;     // of a unix-domain socket; then the two above are empty
};

// HOST PORT, HOST:PORT, [v6]:PORT, each also behind tcp:// or tls://; unix:PATH.
// Throws UsageError.
Target parse_target(const std::vector<std::string>& words);

// [ADDR:]PORT, where a port of 0 is any free one, and ADDR is the loopback if it is left out.
Target parse_listening_target(const std::string& word);

// AF_INET or AF_INET6 where the host is an address, AF_UNSPEC where it is a name.
int numeric_family(const std::string& host);

}  // namespace yodel
