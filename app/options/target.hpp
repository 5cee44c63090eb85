// Parses the addresses to connect to or to listen on, as users write them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// A scheme of targets, such as tls://, which acts like an option.
struct Scheme {
    std::string_view prefix = {};  // "tls://"
    std::string_view names = {};   // see GivenOption
    std::string_view excludes = {};
    std::string_view default_port = {};  // empty: none
};

struct Target {
    const Scheme* scheme = nullptr;  // null: none
    std::string host;                // an IPv6 address without its brackets
    std::string service;             // a port or the name of a service
    std::string path;                // a unix-domain socket; host and service are then empty
    std::string resource;            // the path and query of ws:// and wss://

    bool websocket() const { return scheme && scheme->names.starts_with("ws"); }
};

// Takes one of these forms from the beginning of `words`: HOST PORT (two words), HOST:PORT or
// [IPV6]:PORT, each perhaps after tcp://, tls:// or udp://; unix:PATH; or ws:// or wss:// and
// HOST[:PORT][/PATH]. There must be a word. Throws UsageError.
Target take_target(std::vector<std::string>& words);

// Parses [ADDR:]PORT. Port 0 means any free port; the default address is the loopback. Throws
// UsageError.
Target parse_listening_target(const std::string& word);

// Parses [ADDR:]PORT or ADDR PORT, perhaps after a scheme, or unix:PATH. Without an address,
// the host is empty. Throws UsageError.
Target parse_accepting_target(const std::vector<std::string>& words);

// Parses ADDR[:PORT], in which the address may be a name. Without a port, the service is empty.
// Throws UsageError.
Target parse_destination(const std::string& word);

// Returns AF_INET or AF_INET6 if the host is a numeric address, and AF_UNSPEC if it is a name.
int numeric_family(const std::string& host);

}  // namespace yodel
