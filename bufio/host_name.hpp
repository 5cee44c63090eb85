// The names that a certificate can be asked for.  Needs no OpenSSL.
#pragma once

#include <string>

namespace bufio {

// An IPv4 or IPv6 address in figures, without a scope.
bool is_address(const std::string& text);

// The host in the form in which a certificate names it: an IPv6 address without its scope, a
// name without its final dot. Empty if it is neither an address nor a name. A name has at most
// 253 bytes, in labels of 1 to 63 letters, digits, hyphens and underscores: a wildcard can be
// in a certificate, but can't be asked for, and OpenSSL would take a leading dot for one.
std::string certified_name(const std::string& host);

}  // namespace bufio
