// Counts what became of the messages of one session, for a run and for the screen alike.
#pragma once

#include "app/stats/results.hpp"
#include "app/text/fate.hpp"
#include "ev/time.hpp"

#include <memory>

namespace yodel {

class Tally {
public:
    // The results must outlive it; several tallies can share them.
    explicit Tally(Results& results) : results_(results) {}

    // `answer`: the reply, if the message has one. Messages are counted as sent elsewhere.
    void add(Fate fate, const Answer& answer, ev::Time now);

private:
    Results& results_;
    std::unique_ptr<Jitter> jitter_;  // null before the first answered datagram
};

}  // namespace yodel
