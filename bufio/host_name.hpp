// The host names that a certificate can be verified against.  This needs no OpenSSL.
#pragma once

#include <string>

namespace bufio {

// True for a numeric IPv4 or IPv6 address without a scope.
bool is_address(const std::string& text);

// Returns the host in the form that certificates use: an IPv6 address without its scope, a
// name without its final dot. Returns an empty text if the host is neither an address nor a
// name. A name is at most 253 bytes long, in labels of 1 to 63 letters, digits, hyphens and
// underscores. Wildcards are refused, because only certificates may contain them. So is a
// leading dot, which OpenSSL would take for a wildcard.
std::string certified_name(const std::string& host);

}  // namespace bufio
