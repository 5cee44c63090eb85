#include "app/options/target.hpp"

#include "app/options/command_line.hpp"
#include "app/text/units.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>

namespace yodel {

namespace {

bool is_v6(const std::string& host) { return numeric_family(host) == AF_INET6; }

bool is_service(const std::string& text) {
    return is_number(text) || ::getservbyname(text.c_str(), "tcp");
}

// Refuses an invalid port, and removes the leading zeros of a number.
void check_service(std::string& service, unsigned min) {
    if (is_number(service)) {
        const bool valid = parse_number(service, min, 65535).has_value();
        if (valid)
            service.erase(0, std::min(service.find_first_not_of('0'), service.size() - 1));
        if (valid) return;
        throw UsageError(in_quotes(service) + " is not a port from " + std::to_string(min) +
                         " to 65535");
    }
    if (service.empty()) throw UsageError("a port is missing");
    if (!is_service(service))
        throw UsageError(in_quotes(service) + " is neither a port nor the name of a service");
}

// Refuses hosts that the resolver would refuse later with a worse error.
void check_host(const std::string& host) {
    if (host.find_first_of(" /@") != host.npos || host.starts_with('['))
        throw UsageError(in_quotes(host) + " is not a valid host");
}

std::string unbracketed(const std::string& host) {
    if (host.starts_with('[') && host.find(']') == host.size() - 1)
        return host.substr(1, host.size() - 2);
    return host;
}

void split_host_and_port(const std::string& text, Target& target) {
    const std::size_t colon = text.rfind(':');
    const bool bracketed = text.starts_with('[');
    const bool ends_with_bracket = bracketed && text.ends_with(']');
    if (colon == std::string::npos || ends_with_bracket)
        throw UsageError(in_quotes(text) + " needs a port: write HOST PORT or HOST:PORT");
    target.host = text.substr(0, colon);
    target.service = text.substr(colon + 1);
    const bool valid =
        bracketed ? target.host.ends_with(']') : target.host.find(':') == std::string::npos;
    if (!valid) throw UsageError(in_quotes(text) + " is neither HOST:PORT nor [IPV6]:PORT");
    target.host = unbracketed(target.host);
}

constexpr Scheme schemes[] = {
    {"tcp://", mode::stream | mode::plain, mode::stream},
    {"tls://", mode::stream | mode::tls, mode::tls},
    {"udp://", mode::datagrams, mode::datagrams},
    {"ws://", mode::websocket | mode::plain, mode::websocket, ":80"},
    {"wss://", mode::websocket | mode::tls, mode::websocket | mode::tls, ":443"},
};

// Returns "scheme://" in lower case; empty if the text does not begin with a scheme.
std::string scheme_of(const std::string& text) {
    const std::size_t end = text.find("://");
    std::string scheme = end == text.npos ? "" : text.substr(0, end + 3);
    for (char& letter : scheme)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return scheme;
}

// Removes "scheme://" from the text and returns the scheme; refuses an unknown one.
const Scheme* take_scheme(std::string& text) {
    const std::string written = scheme_of(text);
    if (written.empty()) return nullptr;
    const auto* const found =
        std::find_if(std::begin(schemes), std::end(schemes),
                     [&](const Scheme& each) { return each.prefix == written; });
    if (found == std::end(schemes))
        throw UsageError(in_quotes(written) +
                         " is not supported; use tcp://, tls://, udp://, ws:// or wss://");
    text.erase(0, written.size());
    if (text.find_first_not_of('/') == text.npos)
        throw UsageError(written + " needs an address, as in " + written + "localhost:7000");
    return found;
}

// Moves the path from the end of the text to the target, and adds the default port.
void take_resource(std::string& text, bool port_follows, Target& target) {
    const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
    target.resource = text.substr(end);
    text.erase(end);
    const auto unusual = [](char letter) {
        return letter <= ' ' || letter > '~' || letter == '#';
    };
    if (std::any_of(target.resource.begin(), target.resource.end(), unusual))
        throw UsageError(in_quotes(target.resource) +
                         " is not a path: write %20 for a space, and no fragment (#)");
    if (!target.resource.starts_with('/')) target.resource.insert(0, "/");
    const bool port_given = text.find(':') != text.npos && !text.ends_with(']');
    if (!port_follows && !port_given) text += target.scheme->default_port;
}

Target path_target(const std::vector<std::string>& words) {
    static constexpr Scheme scheme{"unix:", mode::path, mode::path};
    Target target;
    target.scheme = &scheme;
    target.path = words[0].substr(5);
    if (target.path.empty()) throw UsageError("unix: needs a path");
    if (words.size() > 1) throw UsageError(in_quotes(words[0]) + " takes no port");
    return target;
}

void check_pair(const std::string& host, const std::string& service) {
    if (host.find(':') != host.npos && !is_v6(host))
        throw UsageError(in_quotes(host) +
                         " is not a valid host name or address (before port " + service + ")");
}

// Refuses a port alone. Users type it because it is enough for yodeld.
void check_host_given(const std::string& word) {
    const std::string port = word.starts_with(':') ? word.substr(1) : word;
    if (is_number(port)) throw UsageError("a host is missing before " + in_quotes(word));
}

}  // namespace

Target parse_target(const std::vector<std::string>& words) {
    std::string first = words.at(0);
    if (first.empty()) throw UsageError("the target is empty");
    if (first.starts_with("unix:")) return path_target(words);
    Target target;
    target.scheme = take_scheme(first);
    if (target.websocket()) {
        take_resource(first, words.size() > 1, target);
    } else if (first.ends_with('/')) {
        first.pop_back();
    }
    if (first.find('@') != first.npos)
        throw UsageError("a target contains no user name or password");
    if (words.size() > 1) {
        target.host = unbracketed(first);
        target.service = words[1];
        check_pair(target.host, target.service);
    } else {
        if (!target.websocket()) check_host_given(first);
        split_host_and_port(first, target);
    }
    if (target.host.empty()) throw UsageError("a host is missing");
    check_host(target.host);
    check_service(target.service, 1);
    return target;
}

std::size_t target_size(const std::vector<std::string>& words) {
    if (words.size() < 2) return words.size();
    std::string first = words[0];
    first.erase(0, scheme_of(first).size());
    const bool websocket = words[0].starts_with("ws");
    if (websocket) first.resize(std::min(first.find_first_of("/?#"), first.size()));
    const bool port =
        first.find(':') != first.npos && !first.ends_with(']') && !is_v6(unbracketed(first));
    return port || words[1].find(':') != words[1].npos ? 1 : 2;
}

Target parse_listening_target(const std::string& word) {
    Target target;
    if (word.starts_with("unix:") || !scheme_of(word).empty())
        throw UsageError(in_quotes(word) + " is not [ADDR:]PORT");
    if (word.find(':') == std::string::npos) {
        if (!word.empty() && !is_service(word))
            throw UsageError(in_quotes(word) + " is neither a port nor ADDR:PORT");
        target.host = "127.0.0.1";
        target.service = word;
    } else {
        split_host_and_port(word, target);
        if (target.host.empty()) throw UsageError("an address is missing");
        check_host(target.host);
    }
    check_service(target.service, 0);
    return target;
}

Target parse_accepting_target(const std::vector<std::string>& words) {
    std::string first = words.at(0);
    if (first.starts_with("unix:")) return path_target(words);
    if (words.size() > 2) throw UsageError("unexpected argument " + in_quotes(words[2]));
    const Scheme* const scheme = take_scheme(first);
    if (words.size() > 1) check_pair(first, words[1]);
    if (words.size() > 1) first += ":" + words[1];
    if (first.starts_with(':') && !first.starts_with("::")) first.erase(0, 1);
    Target target = parse_listening_target(first);
    target.scheme = scheme;
    if (first.find(':') == first.npos) target.host.clear();
    return target;
}

Target parse_destination(const std::string& word) {
    Target target;
    target.host = word;
    const bool port_given = word.find(':') != word.npos && !word.ends_with(']') && !is_v6(word);
    if (port_given) split_host_and_port(word, target);
    target.host = unbracketed(target.host);
    if (target.host.empty() || is_number(target.host))
        throw UsageError(in_quotes(word) + " is not ADDR[:PORT]");
    check_host(target.host);
    if (port_given) check_service(target.service, 1);
    return target;
}

int numeric_family(const std::string& host) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* list = nullptr;
    if (host.empty() || ::getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0)
        return AF_UNSPEC;
    const int family = list->ai_family;
    ::freeaddrinfo(list);
    return family;
}

}  // namespace yodel
