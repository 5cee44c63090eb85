// Parses the addresses to connect to or to listen on, as users write them.
#pragma once

#include "app/options/command_line.hpp"

#include <sys/un.h>

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

// What a target may be besides HOST:PORT and [IPV6]:PORT.
struct TargetForm {
    bool may_have_scheme = false;  // SCHEME://HOST:PORT, unix:PATH, or HOST PORT in two words
    bool may_lack_host = false;    // PORT alone; the port may be 0, with or without a host
    bool may_lack_port = false;    // HOST alone
};
inline constexpr TargetForm to_connect{.may_have_scheme = true};
inline constexpr TargetForm to_accept{.may_have_scheme = true, .may_lack_host = true};
inline constexpr TargetForm to_listen{.may_lack_host = true};
inline constexpr TargetForm to_redirect{.may_lack_port = true};

// Takes a target from the beginning of `words`, which must not be empty. To connect, ws:// and
// wss:// have default ports and take a path: HOST[:PORT][/PATH]. Throws UsageError.
Target take_target(std::vector<std::string>& words, const TargetForm& form);

inline constexpr auto socket_path_value = value_parser(
    [](const std::string& text) { return text.size() < sizeof sockaddr_un::sun_path; },
    "short enough for the path of a Unix-domain socket");

// Returns AF_INET or AF_INET6 if the host is a numeric address, otherwise AF_UNSPEC.
int numeric_family(const std::string& host);

// Throws UsageError if the host is a numeric address of another family than `family`, unless
// that is AF_UNSPEC. Does not look up names. The error names `option`, by default -4 or -6.
void check_family(int family, const std::string& host, std::string option = {});

}  // namespace yodel
