// The loop's time types. Time is monotonic.
#pragma once

#include <chrono>

namespace ev {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;
using ReadClock = Time (*)();

}  // namespace ev
