// The sentence about the end of a connection, or of an attempt to make one.
#pragma once

#include "app/protocol/session.hpp"

#include <string>

namespace yodel {

// Returns one clause, with an option that may help. `tls` is null without TLS.
std::string end_text(const bufio::End& end, const SessionOptions& options,
                     const bufio::TlsFacts* tls);
inline std::string end_text(const Session& session) {
    return end_text(session.end(), session.options(), session.tls());
}

}  // namespace yodel
