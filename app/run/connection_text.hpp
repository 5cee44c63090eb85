// A connection that was opened: in words, and counted.
#pragma once

#include "app/protocol/session.hpp"
#include "app/stats/results.hpp"

#include <string>

namespace yodel {

// connected to 127.0.0.1:7000; look-up 0.00, connect 0.05 ms
std::string connection_text(const Session& session);

// subject, issued by issuer, valid until 2027-01-01, sha256//…
std::string certificate_text(const bufio::TlsFacts& tls);
// Adds what the system knows of the connection, which has ended.
void add_tcp(Results& results, const Session& session);

}  // namespace yodel
