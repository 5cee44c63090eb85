#include "app/target.hpp"

#include "app/command_line.hpp"
#include "app/units.hpp"

#include <netdb.h>

#include <algorithm>
#include <string_view>

namespace yodel {

namespace {

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void check_service(const std::string& service, unsigned least) {
    const std::string quoted = "\"" + service + "\"";
    if (is_number(service)) {
        if (parse_number(service, least, 65535)) return;
        throw UsageError(quoted + " is not a port: they go from " + std::to_string(least) +
                         " to 65535");
    }
    if (service.empty()) throw UsageError("a port is missing");
    if (!::getservbyname(service.c_str(), "tcp"))
        throw UsageError(quoted + " is neither a port nor the name of a service");
}

// Cuts "scheme://" off; an unknown one is refused.
Target::Scheme take_scheme(std::string& text) {
    const std::size_t end = text.find("://");
    if (end == std::string::npos) return Target::Scheme::none;
    const std::string scheme = text.substr(0, end);
    if (scheme != "tcp" && scheme != "tls")
        throw UsageError("\"" + scheme + "://\" is not spoken here, only tcp:// and tls://");
    text.erase(0, end + 3);
    if (text.ends_with('/')) text.pop_back();
    return scheme == "tcp" ? Target::Scheme::tcp : Target::Scheme::tls;
}

std::string unbracketed(const std::string& host) {
    if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
    return host;
}

void split_host_and_port(const std::string& text, Target& target) {
    const std::size_t colon = text.rfind(':');
    const bool bracketed = text.starts_with('[');
    const bool ends_with_bracket = bracketed && text.ends_with(']');
    if (colon == std::string::npos || ends_with_bracket)
        throw UsageError("\"" + text + "\" has no port: HOST PORT or HOST:PORT is wanted");
    target.host = text.substr(0, colon);
    target.service = text.substr(colon + 1);
    if (!bracketed && target.host.find(':') != std::string::npos)
        throw UsageError("an IPv6 address with a port is written [" + target.host +
                         "]:" + target.service);
    target.host = unbracketed(target.host);
}

}  // namespace

Target parse_target(const std::vector<std::string>& words) {
    if (words.size() > 2) throw UsageError("\"" + words[2] + "\" is one argument too many");
    std::string first = words.at(0);
    Target target;
    if (words.size() == 1 && first.starts_with("unix:")) {
        target.path = first.substr(5);
        if (target.path.empty()) throw UsageError("unix: needs a path");
        return target;
    }
    target.scheme = take_scheme(first);
    if (words.size() == 2) {
        target.host = unbracketed(first);
        target.service = words[1];
    } else {
        split_host_and_port(first, target);
    }
    if (target.host.empty()) throw UsageError("a host is missing");
    check_service(target.service, 1);
    return target;
}

Target parse_listening_target(const std::string& word) {
    Target target;
    if (is_number(word) || word.find(':') == std::string::npos) {
        target.host = "127.0.0.1";
        target.service = word;
    } else {
        split_host_and_port(word, target);
        if (target.host.empty()) throw UsageError("an address is missing");
    }
    check_service(target.service, 0);
    return target;
}

}  // namespace yodel
