// How late the client itself was: from the planned time of a message to its write.
#pragma once

#include "app/stats/histogram.hpp"

#include <string>

namespace yodel {

// Returns a clause of the summary, "; late p50/p99 0.04/0.21 ms", where the lateness blurs the
// round trips: its p99 exceeds a tenth of their median. Returns "" otherwise.
std::string lateness_remark(const Histogram& lateness, const Histogram& round_trips);

}  // namespace yodel
