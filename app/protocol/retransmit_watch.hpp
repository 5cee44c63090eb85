// Finds out during which messages the system has sent a segment of ours again.
//
// Pure: it reads no clock and asks no system. Each question to the system costs a system call,
// half a microsecond, so it says which replies are worth one. A reply that had to wait for a
// retransmission took at least two round trips of the network, so one that came sooner is not,
// and replies that came together are worth one question.
//
// The system counts segments and says no times, so a message counts as hit if the count rose
// between the question before it was sent and its reply. That may include a message that was
// sent shortly after the retransmission and before it was noticed.
#pragma once

#include "bufio/tcp_facts.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <optional>

namespace yodel {

class RetransmitWatch {
public:
    // A new connection is open; none where the system tells nothing about it: then no question
    // is worth it, and no message is hit.
    void restart(const std::optional<bufio::TcpFacts>& facts) {
        *this = {};
        known_ = facts.has_value();
        if (known_) store(*facts);
    }
    // `now`: when the reply was read; the same for all that were read together.
    bool worth_asking(ev::Duration round_trip, ev::Time now) const {
        return known_ && now != asked_at_ && round_trip >= 2 * min_rtt_;
    }
    void update(const bufio::TcpFacts& facts, ev::Time now) {
        asked_at_ = now;
        if (facts.retransmits > count_) noticed_at_ = now;
        store(facts);
    }
    // True if the count rose since the message was sent.
    bool hit(ev::Time sent) const { return sent < noticed_at_; }

private:
    void store(const bufio::TcpFacts& facts) {
        count_ = facts.retransmits;
        min_rtt_ = facts.min_rtt.value_or(ev::Duration::zero());
    }

    bool known_ = false;
    std::uint64_t count_ = 0;
    ev::Duration min_rtt_{};
    ev::Time asked_at_{};
    ev::Time noticed_at_{};  // when the count was last seen to have risen
};

}  // namespace yodel
