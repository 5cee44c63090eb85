// What is random about a session, drawn from its seed before it begins.
#pragma once

#include "app/protocol/session.hpp"
#include "app/server/echo_server.hpp"
#include "tests/simulation/simulated_loop.hpp"
#include "tests/support/random.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace simulation {

class Dice : public test::Random {
public:
    using Random::Random;

    bool chance(double probability) { return fraction() < probability; }
    // From 0 to `most`.
    std::size_t up_to(std::size_t most) {
        return static_cast<std::size_t>(next() % (most + 1));
    }
    ev::Duration up_to(ev::Duration most) {
        return ev::Duration(static_cast<ev::Duration::rep>(
            next() % (static_cast<std::uint64_t>(most.count()) + 1)));
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
    // Nothing interferes but drops, copies, damage and delays: all counts can be foretold.
    bool calm = false;
    Machine machine;
    yodel::Session::Options client;  // without the endpoint
    yodel::EchoServer::Options server;
    bool reflects_any = true;  // of a server of datagrams
    bool distinct = true;      // no payload resembles another one
    std::size_t messages = 0;  // payloads to send in all
    std::size_t longest = 0;   // bytes of a payload
    std::size_t window = 0;    // messages in flight, above which nothing is sent
    std::size_t burst = 1;     // payloads sent at once, at most
    ev::Duration gap{};        // between two actions, at most
    double mischief = 0;       // the chance of a callback or an action to do something else

    std::string text() const;  // for people
};

enum class Kind { streams, datagrams };
Plan make_plan(Kind kind, std::uint64_t seed);

}  // namespace simulation
