// Notices connections that starve: they wait for their first reply while the server goes on
// serving others. Pure: knows no connection, and reads no clock.
//
// If N messages are in flight, a server that serves all answers the next one after about N
// replies. A connection starves if others get ten times N replies first, for a quarter of a
// second. Time counts only while replies come, so that a server which stops starves nobody.
#pragma once

#include "ev/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace yodel {

class Fairness {
public:
    // The time for which a connection without messages stays open while another one waits for
    // its first reply. It shows whether the server answers only after the close.
    static constexpr ev::Duration hold_time = std::chrono::milliseconds(500);

    // The state when a connection began to wait.
    struct Wait {
        std::uint64_t slots;      // see slots_
        std::uint64_t replies;    // on all connections
        std::uint64_t in_flight;  // messages, at least one for each connection
    };

    Wait begin_wait(std::uint64_t in_flight) {
        ++waits_;
        return {slots_, replies_, in_flight};
    }
    void end_wait() { --waits_; }
    std::size_t waits() const { return waits_; }  // that have not ended
    void replied(ev::Time now) {
        ++replies_;
        if (now < slot_end_) return;
        ++slots_;
        slot_end_ = now + slot;
    }
    // The other connections have been idle for the hold time.
    void idled() { slots_ += min_slots; }
    // Returns the number of replies that others got meanwhile, or none if the connection does
    // not starve. `in_flight`: messages that are in flight on connections with replies.
    std::optional<std::uint64_t> starved(const Wait& wait, std::uint64_t in_flight) const {
        const std::uint64_t others = replies_ - wait.replies;
        const bool overtaken = others >= min_rounds * std::max(wait.in_flight, in_flight);
        const bool starved = overtaken && slots_ - wait.slots >= min_slots;
        return starved ? std::optional(others) : std::nullopt;
    }

private:
    static constexpr ev::Duration slot = std::chrono::milliseconds(25);
    static constexpr std::uint64_t min_slots = 10;
    static constexpr std::uint64_t min_rounds = 10;

    std::size_t waits_ = 0;
    std::uint64_t replies_ = 0;
    std::uint64_t slots_ = 0;  // that contain a reply
    ev::Time slot_end_{};
};

}  // namespace yodel
