// Results of a run whose rate climbs, for each second in which messages were planned.
//
// A message belongs to the second of its planned time, whenever it is answered. So a second
// shows whether the service can sustain the rate of that second, and a message lost after
// seconds of waiting is a loss at the rate at which it was due. Pure: reads no clock.
#pragma once

#include "app/stats/results.hpp"
#include "ev/time.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace yodel {

class Climb {
public:
    // The rate climbs evenly, in messages per second. All times count from its beginning.
    Climb(double from, double to, ev::Duration length)
        : from_(from), to_(to), length_(length) {}

    // Returns the results of the messages planned in the same second as this time. If the last
    // second is shorter than half a second, it belongs to the second before.
    Results& second_of(ev::Duration planned);
    // Records that no message was planned after this time.
    void end(ev::Duration time) { ended_ = std::min(time, length_); }
    // Adds the results of another thread, which has the same rates.
    void add(const Climb& other);

    const std::vector<Results>& seconds() const { return seconds_; }
    // Returns the rate at the end of this second, or at the end of the climb if that is
    // earlier.
    double rate_after(std::size_t second) const;

private:
    double from_;
    double to_;
    ev::Duration length_;
    ev::Duration ended_{};
    std::vector<Results> seconds_;
};

}  // namespace yodel
