// What the tests of the app's parts share: one loop, and a port of the loopback.
#pragma once

#include "bufio/address.hpp"
#include "ev/loop.hpp"
#include "tests/support/catch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>

namespace test {

inline bufio::Address any_loopback_port() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return {reinterpret_cast<const sockaddr*>(&name), sizeof name};
}

// Turns until the condition holds; a time limit makes a hang a failure.
inline void turn_until(ev::Loop& loop, const std::function<bool()>& condition) {
    const ev::Time limit = ev::Clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        REQUIRE(ev::Clock::now() < limit);
        loop.step(std::chrono::milliseconds(1));
    }
}

}  // namespace test
