#include "app/protocol/retransmit_watch.hpp"

namespace yodel {

void RetransmitWatch::restart(const std::optional<bufio::TcpFacts>& facts) {
    *this = {};
    if (!facts) return;
    known_ = true;
    count_ = facts->retransmits;
    min_rtt_ = facts->min_rtt.value_or(ev::Duration::zero());
}

bool RetransmitWatch::worth_asking(ev::Duration round_trip, ev::Time now) const {
    return known_ && now != asked_at_ && round_trip >= 2 * min_rtt_;
}

void RetransmitWatch::update(const bufio::TcpFacts& facts, ev::Time now) {
    asked_at_ = now;
    if (facts.retransmits > count_) noticed_at_ = now;
    count_ = facts.retransmits;
    min_rtt_ = facts.min_rtt.value_or(ev::Duration::zero());
}

}  // namespace yodel
