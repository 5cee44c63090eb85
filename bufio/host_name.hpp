// The host names that a certificate can be verified against.  This needs no OpenSSL.
#pragma once

#include <string>

namespace bufio {

// True for a numeric IPv4 or IPv6 address without a scope.
bool is_address(const std::string& text);

// Returns the host in the form in which a certificate names it: an IPv6 address without its
// scope, a name without its final dot; or an empty text if it is neither an address nor a name.
// A name has at most 253 bytes, in labels of 1 to 63 letters, digits, hyphens and underscores.
// Wildcards are refused, because a certificate may hold one but a host can't be one, and so is
// a leading dot, which OpenSSL would take for a wildcard.
std::string certified_name(const std::string& host);

}  // namespace bufio
