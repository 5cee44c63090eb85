// Detects messages that were in flight while the system retransmitted one of our TCP segments.
//
// Pure: it reads no clock and makes no system call. Querying the count costs a system call of
// half a microsecond, so worth_querying() decides after which replies to query. A reply that
// waited for a retransmission took at least two network round trips. Replies that were read
// together need only one query.
//
// The system reports the number of retransmissions, but not their times. A message counts as
// hit if the number rose between the last query before it was sent and its reply. This may
// include a message sent between the retransmission and the next query.
#pragma once

#include "bufio/tcp_facts.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <optional>

namespace yodel {

class RetransmitWatch {
public:
    // Call it when the connection opens. Without facts, worth_querying() and hit() return
    // false.
    explicit RetransmitWatch(const std::optional<bufio::TcpFacts>& facts)
        : has_facts_(facts.has_value()) {
        if (has_facts_) store(*facts);
    }
    // `now`: when the reply was read; equal for replies that were read together.
    bool worth_querying(ev::Duration round_trip, ev::Time now) const {
        return has_facts_ && now != queried_at_ && round_trip >= 2 * min_rtt_;
    }
    void update(const bufio::TcpFacts& facts, ev::Time now) {
        queried_at_ = now;
        if (facts.retransmits > retransmits_) rise_seen_at_ = now;
        store(facts);
    }
    // Returns true if a rise of the count was seen after the message was sent.
    bool rose_after(ev::Time sent) const { return sent < rise_seen_at_; }

private:
    void store(const bufio::TcpFacts& facts) {
        retransmits_ = facts.retransmits;
        min_rtt_ = facts.min_rtt.value_or(ev::Duration::zero());
    }

    bool has_facts_;
    std::uint64_t retransmits_ = 0;
    ev::Duration min_rtt_{};
    ev::Time queried_at_{};
    ev::Time rise_seen_at_{};  // when a rise of the count was last seen
};

}  // namespace yodel
