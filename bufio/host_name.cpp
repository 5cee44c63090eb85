#include "bufio/host_name.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <string_view>

namespace bufio {

namespace {

bool is_address_of(int family, const std::string& text) {
    in6_addr ignored;
    return text.find('\0') == text.npos && ::inet_pton(family, text.c_str(), &ignored) == 1;
}

// Unlike isalnum(), this does not depend on the locale.
bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_';
}

bool is_name(std::string_view name) {
    if (name.size() > 253) return false;
    for (;;) {
        const std::size_t dot = name.find('.');
        const std::string_view label = name.substr(0, dot);
        if (label.empty() || label.size() > 63 ||
            !std::all_of(label.begin(), label.end(), is_name_character))
            return false;
        if (dot == name.npos) return true;
        name.remove_prefix(dot + 1);
    }
}

}  // namespace

bool is_address(const std::string& text) {
    return is_address_of(AF_INET, text) || is_address_of(AF_INET6, text);
}

std::string certified_name(const std::string& host) {
    if (is_address(host)) return host;
    const std::size_t scope = host.find('%');
    if (scope != host.npos) {
        const std::string address = host.substr(0, scope);
        return is_address_of(AF_INET6, address) && scope + 1 < host.size() ? address
                                                                           : std::string();
    }
    const bool dotted = !host.empty() && host.back() == '.';
    const std::string name = host.substr(0, host.size() - (dotted ? 1 : 0));
    return is_name(name) && !is_address(name) ? name : std::string();
}

}  // namespace bufio
