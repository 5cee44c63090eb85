// Keeps two runs in step that send the same messages to two targets, from one loop.
//
// In the closed loop, neither run is more than one message ahead. In the open loop, messages
// have the same planned times, and the runs send first in turn, so that neither always waits
// for the other's system calls.
#pragma once

#include "ev/loop.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

namespace yodel {

class Turns {
public:
    // Calls `changed` from the loop after messages were sent, when the other run may send more.
    Turns(ev::Loop& loop, std::function<void()> changed) : timer_(loop, std::move(changed)) {}

    bool may_send(unsigned side) const { return sent_[side] <= sent_[1 - side]; }
    // Returns true, once for each message, if the other run must send the message first.
    bool yields(unsigned side, std::uint64_t message) {
        if (message % 2 == side || sent_[1 - side] > message) return false;
        return std::exchange(yielded_[side], message + 1) != message + 1;
    }
    // Records that this run has sent its first `count` messages, or left some of them unsent.
    void sent(unsigned side, std::uint64_t count) {
        sent_[side] = count;
        if (!timer_.pending()) timer_.start(ev::Duration::zero());
    }
    void sent(unsigned side) { sent(side, sent_[side] + 1); }
    // Returns the number of messages that both have sent.
    std::uint64_t shared() const { return std::min(sent_[0], sent_[1]); }

private:
    std::array<std::uint64_t, 2> sent_{};
    std::array<std::uint64_t, 2> yielded_{};
    ev::Timer timer_;
};

}  // namespace yodel
