// The rate of messages with planned times, and the one that the client itself reached.
#pragma once

#include "app/stats/tally.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace yodel {

// How much later than planned a message may go out, in a short run.
inline constexpr std::chrono::milliseconds tolerated_lateness{50};

struct PlannedRate {
    double planned = 0;  // messages a second
    double reached = 0;  // the same, until the last message that was sent

    // Adds that of another part of the same run, or of a simultaneous run.
    void add(const PlannedRate& other);
    // The client has sent what was due, the last message not much later than planned: by a
    // twentieth of the run or, in a short one, by the tolerated lateness.
    bool kept(const Tally& tally) const;
};

// Returns a clause of the summary, "; planned 10M/s, reached 287k/s", where the client has not
// kept the rate. Returns "" otherwise, and where messages had no planned times.
std::string planned_rate_remark(const std::optional<PlannedRate>& rate, const Tally& tally);

}  // namespace yodel
