// Finds out during which messages the system has retransmitted a segment of ours.
//
// Pure: it reads no clock and makes no system call. Asking for the count takes a call of half
// a microsecond, so worth_asking() selects the replies after which to ask. A reply that waited
// for a retransmission took at least two round trips of the network. Replies that were read
// together need one question.
//
// The system counts retransmissions without their times. A message counts as hit if the count
// rose between the last question before it was sent and its reply. That may include a message
// that was sent shortly after the retransmission and before the next question.
#pragma once

#include "bufio/tcp_facts.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <optional>

namespace yodel {

class RetransmitWatch {
public:
    // Begins with a connection. Without facts no question is worth it, and no message is hit.
    explicit RetransmitWatch(const std::optional<bufio::TcpFacts>& facts)
        : known_(facts.has_value()) {
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

    bool known_;
    std::uint64_t count_ = 0;
    ev::Duration min_rtt_{};
    ev::Time asked_at_{};
    ev::Time noticed_at_{};  // when the count was last seen to have risen
};

}  // namespace yodel
