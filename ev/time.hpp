// Time as the loop counts it: monotonic.
#pragma once

#include <chrono>

namespace ev {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;
using ReadClock = Time (*)();

}  // namespace ev
