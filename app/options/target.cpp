#include "app/options/target.hpp"

#include "app/text/units.hpp"

#include <netdb.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>

namespace yodel {

namespace {

struct Scheme {
    std::string_view prefix;
    const char* names;  // see GivenOption
    const char* excludes;
    const char* default_port = "";
};

constexpr Scheme schemes[] = {
    {"tcp://", "", "tls udp"},
    {"tls://", " tls", "udp"},
    {"udp://", " udp", "tls"},
    {"unix:", " unixsock", "udp"},
    {"ws://", " ws://", "tls udp", "80"},
    {"wss://", " ws:// tls", "udp", "443"},
};

// Removes the scheme from the text and returns it, or returns null if there is none.
const Scheme* take_scheme(std::string& text) {
    for (const Scheme& each : schemes) {
        const std::string prefix(each.prefix);
        const bool is_path = prefix == "unix:";
        if (is_path ? !text.starts_with(prefix)
                    : ::strncasecmp(prefix.c_str(), text.c_str(), prefix.size()) != 0)
            continue;
        text.erase(0, prefix.size());
        if (text.find_first_not_of(is_path ? "" : "/") == text.npos)
            throw UsageError(prefix + " needs an address, as in " + prefix +
                             (is_path ? "/run/s" : "localhost:7000"));
        return &each;
    }
    const std::size_t slashes = text.find("://");
    if (slashes == text.npos) return nullptr;
    throw UsageError(in_quotes(text.substr(0, slashes + 3)) +
                     " is not supported; use tcp://, tls://, udp://, ws:// or wss://");
}

// Removes the path and query from the end of a URL. Returns them with a leading slash.
std::string take_resource(std::string& text) {
    const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
    const std::string resource = text.substr(end);
    text.erase(end);
    for (const char letter : resource)
        if (letter <= ' ' || letter > '~' || letter == '#')
            throw UsageError(in_quotes(resource) +
                             " is not a path: write %20 for a space, and no fragment (#)");
    return resource.starts_with('/') ? resource : "/" + resource;
}

// Refuses an invalid port, and removes the leading zeros of a number.
void normalize_service(std::string& service, bool is_port_only, bool may_be_0) {
    const unsigned min = may_be_0 ? 0 : 1;
    const bool is_numeric = is_number(service);
    if (service.empty()) throw UsageError("a port is missing");
    if (!is_numeric && !::getservbyname(service.c_str(), "tcp"))
        throw UsageError(in_quotes(service) + " is neither a port nor " +
                         (is_port_only ? "ADDR:PORT" : "the name of a service"));
    if (is_numeric && !parse_number(service, min, 65535))
        throw UsageError(in_quotes(service) + " is not a port from " + std::to_string(min) +
                         " to 65535");
    if (is_numeric)
        service.erase(0, std::min(service.find_first_not_of('0'), service.size() - 1));
}

// Removes the brackets of an IPv6 address, and refuses an invalid host.
void normalize_host(const std::string& text, const TargetForm& form, bool is_port_only,
                    bool needs_port, Target& to) {
    const bool is_v6 = numeric_family(text) == AF_INET6;
    const bool is_in_brackets = to.host.starts_with('[') && to.host.ends_with(']');
    if (is_in_brackets) to.host = to.host.substr(1, to.host.size() - 2);
    const bool is_bare = is_v6 && !form.may_lack_port && (is_port_only || needs_port);
    if (is_bare || (!is_in_brackets && !is_v6 && to.host.find(':') != text.npos))
        throw UsageError(in_quotes(text) + " is neither HOST:PORT nor [IPV6]:PORT");
    const bool needs_host =
        !is_port_only && (!form.may_have_scheme || !form.may_lack_host || is_in_brackets);
    if ((needs_port && is_number(text)) || (to.host.empty() && needs_host))
        throw UsageError("a host is missing" +
                         (text.empty() ? "" : " before " + in_quotes(text)));
    // The resolver would refuse such hosts later, with a worse error.
    if (to.host.find_first_of(" /@[") != text.npos)
        throw UsageError(in_quotes(to.host) + " is not a valid host");
}

// Splits the text into the host and the port. The port may also be the next word.
void split_host_and_port(const std::string& text, std::vector<std::string>& words,
                         const TargetForm& form, const char* default_port, Target& to) {
    const bool is_address = numeric_family(text) == AF_INET6 || text.ends_with(']');
    const std::size_t colon = is_address ? text.npos : text.rfind(':');
    const bool is_undivided = colon == text.npos;
    const bool has_port_word = is_undivided && form.may_have_scheme && !words.empty() &&
                               words[0].find(':') == text.npos;
    const bool is_port_only = is_undivided && !has_port_word && form.may_lack_host;
    to.host = is_port_only ? "" : text.substr(0, colon);
    to.service = is_port_only ? text : is_undivided ? default_port : text.substr(colon + 1);
    if (has_port_word) {
        to.service = words[0];
        words.erase(words.begin());
    }
    const bool needs_port = is_undivided && !is_port_only && to.service.empty();
    normalize_host(text, form, is_port_only, needs_port, to);
    if (!needs_port)
        normalize_service(to.service, is_port_only, form.may_lack_host);
    else if (!form.may_lack_port)
        throw UsageError(in_quotes(text) + " needs a port: write HOST PORT or HOST:PORT");
}

}  // namespace

Target take_target(std::vector<std::string>& words, const TargetForm& form) {
    std::string text = words.at(0);
    words.erase(words.begin());
    Target target{.given = {"the target " + text, "operand target port"}};
    if (!form.may_have_scheme && (text.starts_with("unix:") || text.find("://") != text.npos))
        throw UsageError(in_quotes(text) + " is not " +
                         (form.may_lack_port ? "ADDR[:PORT]" : "[ADDR:]PORT"));
    const Scheme* const scheme = take_scheme(text);
    if (scheme)
        target.given = {std::string(scheme->prefix), target.given.names + scheme->names,
                        scheme->excludes};
    if (scheme && scheme->prefix == "unix:") {
        target.path = socket_path_value(text);
        return target;
    }
    const char* const default_port = scheme ? scheme->default_port : "";
    if (*default_port != '\0' && !form.may_lack_host)
        target.resource = take_resource(text);
    else if (form.may_have_scheme && text.ends_with('/'))
        text.pop_back();
    if (form.may_have_scheme && text.find('@') != text.npos)
        throw UsageError("a target cannot contain a user name or password");
    split_host_and_port(text, words, form, default_port, target);
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

void check_family(int family, const std::string& host, std::string option) {
    const int given = numeric_family(host);
    if (family == AF_UNSPEC || given == AF_UNSPEC || given == family) return;
    const std::string version = family == AF_INET6 ? "6" : "4";
    if (option.empty()) option = "-" + version;
    throw UsageError(option + ": " + in_quotes(host) + " is not an IPv" + version + " address");
}

}  // namespace yodel
