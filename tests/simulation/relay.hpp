// Relays WebSocket connections between a client and its server, and does in both directions
// what the protocol allows a peer: it splits messages into fragments, sends pings between
// them, and delivers everything in pieces that end at any byte. Unless the plan is calm, it
// also sends close frames, or ends inside a frame.
#pragma once

#include "bufio/listen.hpp"
#include "tests/simulation/plan.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace simulation {

class Relay {
public:
    // Listens at `at`, and connects to `server` for each client.
    Relay(ev::Loop& loop, const Plan& plan, const bufio::Address& at,
          const bufio::Address& server);
    ~Relay();

    std::uint64_t traffic() const { return traffic_; }  // bytes relayed

private:
    class Pair;

    void accept(bufio::Fd client);

    ev::Loop& loop_;
    const Plan& plan_;
    Dice dice_;
    bufio::Address server_;
    std::uint64_t traffic_ = 0;
    std::vector<std::unique_ptr<Pair>> pairs_;
    bufio::Listener listener_;
};

}  // namespace simulation
