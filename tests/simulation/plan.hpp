// The random choices of a session, drawn from its seed in advance.
#pragma once

#include "app/protocol/session.hpp"
#include "app/server/echo_server.hpp"
#include "tests/simulation/simulated_loop.hpp"
#include "tests/support/random.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace simulation {

class Dice : public test::Random {
public:
    using Random::Random;

    bool chance(double probability) { return fraction() < probability; }
    // Returns a number from 0 to `max`.
    std::size_t up_to(std::size_t max) { return static_cast<std::size_t>(next() % (max + 1)); }
    ev::Duration up_to(ev::Duration max) {
        return ev::Duration(static_cast<ev::Duration::rep>(
            next() % (static_cast<std::uint64_t>(max.count()) + 1)));
    }
    template <class T>
    T one_of(std::initializer_list<T> all) {
        return all.begin()[up_to(all.size() - 1)];
    }
};

enum class Carrier { path, tcp, datagrams };

struct Plan {
    std::uint64_t seed = 0;
    Carrier carrier = Carrier::path;
    // The only faults are drops, duplicates, damage and delays, so all counts are predictable.
    bool calm = false;
    Machine machine;
    yodel::Session::Options client;  // without the endpoint
    yodel::EchoServer::Options server;
    bool distinct = true;      // payloads differ even after damage
    std::size_t messages = 0;  // total payloads to send
    std::size_t longest = 0;   // bytes of a payload
    std::size_t window = 0;    // messages in flight at which sending stops
    std::size_t burst = 1;     // maximum payloads sent together
    ev::Duration gap{};        // maximum time between two actions
    double mischief = 0;       // the chance that a callback or action misbehaves
};

enum class Kind { streams, datagrams, websockets };
Plan make_plan(Kind kind, std::uint64_t seed);

}  // namespace simulation
