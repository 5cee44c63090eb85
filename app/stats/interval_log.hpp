// The interval log of HdrHistogram: for each interval of a run, a line with its round trips as
// a histogram of nanoseconds, in the encoding V2.
//
// A histogram of HdrHistogram with two significant digits has the same buckets as ours, so
// nothing is lost. The encoding is compressed by zlib, here without making it any smaller.
#pragma once

#include "app/stats/histogram.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace yodel {

class IntervalLog {
public:
    // Returns the line of the interval from the last line to `end`, which counts from the
    // beginning of the run. The first line comes with the header. `times`: all round trips of
    // the run so far.
    std::string next(const Histogram& times, ev::Duration end,
                     std::chrono::system_clock::time_point began);

    // Returns true if there is a line, and it was the last one.
    bool complete(const Histogram& times) const {
        return end_ && logged_.count() == times.count();
    }

private:
    Histogram logged_;                 // round trips in the lines so far
    std::optional<ev::Duration> end_;  // end of the last line; none: no line yet
};

}  // namespace yodel
