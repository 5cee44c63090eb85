#include "app/options/target.hpp"

#include "app/options/command_line.hpp"
#include "app/text/units.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace yodel {

namespace {

constexpr Scheme schemes[] = {
    {"tcp://", "", "tls udp"},
    {"tls://", "tls", "udp"},
    {"udp://", "udp", "tls"},
    {"ws://", "ws://", "tls udp", "80"},
    {"wss://", "ws:// tls", "udp", "443"},
};

[[noreturn]] void refuse_form(const std::string& text) {
    throw UsageError(in_quotes(text) + " is neither HOST:PORT nor [IPV6]:PORT");
}

// Splits HOST, HOST:PORT, [IPV6], [IPV6]:PORT or IPV6. The service stays empty without a port.
void split(const std::string& text, Target& to) {
    const std::size_t colon = text.rfind(':');
    const bool has_port =
        colon != text.npos && !text.ends_with(']') && numeric_family(text) != AF_INET6;
    to.host = text.substr(0, has_port ? colon : text.npos);
    if (to.host.starts_with('[') && to.host.ends_with(']'))
        to.host = to.host.substr(1, to.host.size() - 2);
    else if (has_port && to.host.find_first_of("[:") != text.npos)
        refuse_form(text);
    if (!has_port) return;
    to.service = text.substr(colon + 1);
    if (to.service.empty()) throw UsageError("a port is missing");
}

// Refuses an invalid port, and removes the leading zeros of a number. `form`: what else the
// user may have meant.
void check_service(std::string& service, unsigned min,
                   const char* form = "the name of a service") {
    if (service.empty()) throw UsageError("a port is missing");
    if (is_number(service)) {
        if (!parse_number(service, min, 65535))
            throw UsageError(in_quotes(service) + " is not a port from " + std::to_string(min) +
                             " to 65535");
        service.erase(0, std::min(service.find_first_not_of('0'), service.size() - 1));
    } else if (!::getservbyname(service.c_str(), "tcp")) {
        throw UsageError(in_quotes(service) + " is neither a port nor " + form);
    }
}

// Refuses hosts that the resolver would refuse later with a worse error.
void check_host(const std::string& host) {
    if (host.find_first_of(" /@[") != host.npos)
        throw UsageError(in_quotes(host) + " is not a valid host");
}

bool has_scheme(const std::string& text) { return text.find("://") != text.npos; }

// Removes "scheme://" from the text and returns the scheme; null if there is none.
const Scheme* take_scheme(std::string& text) {
    if (!has_scheme(text)) return nullptr;
    std::string written = text.substr(0, text.find("://") + 3);
    for (char& letter : written)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
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

// Moves the path of a URL from the end of the text.
std::string take_resource(std::string& text) {
    const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
    std::string resource = text.substr(end);
    text.erase(end);
    const auto unusual = [](char letter) {
        return letter <= ' ' || letter > '~' || letter == '#';
    };
    if (std::any_of(resource.begin(), resource.end(), unusual))
        throw UsageError(in_quotes(resource) +
                         " is not a path: write %20 for a space, and no fragment (#)");
    return resource.starts_with('/') ? resource : "/" + resource;
}

Target path_target(const std::string& word) {
    static constexpr Scheme scheme{"unix:", "unixsock", "udp"};
    Target target;
    target.scheme = &scheme;
    target.path = word.substr(5);
    if (target.path.empty()) throw UsageError("unix: needs a path");
    return target;
}

}  // namespace

Target take_target(std::vector<std::string>& words) {
    const std::string word = words.at(0);
    words.erase(words.begin());
    if (word.empty()) throw UsageError("the target is empty");
    if (word.starts_with("unix:")) return path_target(word);
    std::string text = word;
    Target target;
    target.scheme = take_scheme(text);
    if (target.websocket())
        target.resource = take_resource(text);
    else if (text.ends_with('/'))
        text.pop_back();
    if (text.find('@') != text.npos)
        throw UsageError("a target contains no user name or password");
    split(text, target);
    if (target.host.empty())
        throw UsageError("a host is missing" +
                         (is_number(target.service) ? " before " + in_quotes(text) : ""));
    check_host(target.host);
    if (target.service.empty() && !words.empty() && words[0].find(':') == std::string::npos) {
        target.service = words[0];
        words.erase(words.begin());
    } else if (target.service.empty() && target.websocket()) {
        target.service = target.scheme->default_port;
    } else if (target.service.empty()) {
        if (numeric_family(text) == AF_INET6) refuse_form(text);
        throw UsageError(is_number(text)
                             ? "a host is missing before " + in_quotes(text)
                             : in_quotes(text) + " needs a port: write HOST PORT or HOST:PORT");
    }
    check_service(target.service, 1);
    return target;
}

Target parse_listening_target(const std::string& word) {
    if (word.starts_with("unix:") || has_scheme(word))
        throw UsageError(in_quotes(word) + " is not [ADDR:]PORT");
    Target target;
    split(word, target);
    const bool port_alone = target.service.empty();
    if (port_alone && numeric_family(word) == AF_INET6) refuse_form(word);
    if (port_alone) target.service = std::exchange(target.host, "127.0.0.1");
    if (target.host.empty()) throw UsageError("an address is missing");
    check_host(target.host);
    check_service(target.service, 0, port_alone ? "ADDR:PORT" : "the name of a service");
    return target;
}

Target parse_accepting_target(const std::vector<std::string>& words) {
    std::string first = words.at(0);
    if (words.size() > (first.starts_with("unix:") ? 1 : 2))
        throw UsageError("unexpected argument " + in_quotes(words.back()));
    if (first.starts_with("unix:")) return path_target(first);
    const Scheme* const scheme = take_scheme(first);
    if (words.size() > 1) first += ":" + words[1];
    if (first.starts_with(':') && !first.starts_with("::")) first.erase(0, 1);
    Target target = parse_listening_target(first);
    target.scheme = scheme;
    if (first.find(':') == first.npos) target.host.clear();
    return target;
}

Target parse_destination(const std::string& word) {
    Target target;
    split(word, target);
    if (target.host.empty() || is_number(target.host))
        throw UsageError(in_quotes(word) + " is not ADDR[:PORT]");
    check_host(target.host);
    if (!target.service.empty()) check_service(target.service, 1);
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
