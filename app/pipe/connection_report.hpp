// A connection that was opened: in words, and counted.
#pragma once

#include "app/protocol/any_session.hpp"
#include "app/stats/results.hpp"

#include <string>

namespace yodel {

// connected to 127.0.0.1:7000; look-up 0.00, connect 0.05 ms
std::string connection_text(const AnySession& session);

// Adds what the system knows of the connection, which has ended.
void add_tcp(Results& result, const AnySession& session);

}  // namespace yodel
