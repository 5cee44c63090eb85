// Counts the fates of one session's messages, for runs and for the screen.
#pragma once

#include "app/protocol/event.hpp"
#include "app/stats/results.hpp"
#include "ev/time.hpp"

#include <memory>

namespace yodel {

class Tally {
public:
    // The results must outlive the tally. Several tallies can share them.
    explicit Tally(Results& results) : results_(results) {}

    // `answer`: the reply, if any. Does not count messages as sent.
    void add(Fate fate, const Answer& answer, ev::Time now);

private:
    Results& results_;
    std::unique_ptr<Jitter> jitter_;  // null before the first answered datagram
};

}  // namespace yodel
