// A connection that was opened: in words, and counted.
#pragma once

#include "app/protocol/any_session.hpp"
#include "app/stats/run_result.hpp"

#include <string>

namespace yodel {

// connected to 127.0.0.1:7000; look-up 0.00, connect 0.05 ms
std::string connection_text(const AnySession& session);

// "; connect p50/p99/max 0.05/0.21/0.40 ms, TLS 1.1/2.3/4.0 ms", or "" where none was opened.
std::string connection_times_remark(const RunResult& result);
// Adds what the system knows of the connection, which has ended.
void add_tcp(RunResult& result, const AnySession& session);

}  // namespace yodel
