// Parses the addresses to connect to or to listen on, as users write them.
#pragma once

#include "app/options/command_line.hpp"

#include <string>
#include <vector>

namespace yodel {

// A target in parts. `host` and `service` are empty with a path.
struct Target {
    GivenOption given = {};     // the scheme or the target, as an option
    std::string host = {};      // an IPv6 address without its brackets
    std::string service = {};   // a port or the name of a service
    std::string path = {};      // a Unix-domain socket
    std::string resource = {};  // the path and query of ws:// and wss://
};

// What a target may be: HOST:PORT or [IPV6]:PORT and, if the form allows it, one of the others.
struct TargetForm {
    bool allows_schemes = false;    // SCHEME://HOST:PORT, unix:PATH, or HOST PORT in two words
    bool allows_lone_port = false;  // PORT, perhaps 0, without a host
    bool allows_lone_host = false;  // HOST without a port
};
inline constexpr TargetForm to_connect{.allows_schemes = true};
inline constexpr TargetForm to_accept{.allows_schemes = true, .allows_lone_port = true};
inline constexpr TargetForm to_listen{.allows_lone_port = true};
inline constexpr TargetForm to_redirect{.allows_lone_host = true};

// Takes a target from the beginning of `words`, which must not be empty. ws:// and wss://
// have default ports and take a path: HOST[:PORT][/PATH]. Throws UsageError.
Target take_target(std::vector<std::string>& words, const TargetForm& form);

// Returns AF_INET or AF_INET6 if the host is a numeric address, and AF_UNSPEC if it is a name.
int numeric_family(const std::string& host);

}  // namespace yodel
