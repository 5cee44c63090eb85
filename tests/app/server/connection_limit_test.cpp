#include "app/server/connection_limit.hpp"

#include "tests/support/catch.hpp"

#include <atomic>
#include <thread>
#include <vector>

using yodel::ConnectionLimit;

TEST_CASE("a limit is reached, and has a place again when one is given back") {
    ConnectionLimit limit(2);
    CHECK(limit.take());
    CHECK(limit.take());
    CHECK_FALSE(limit.take());
    CHECK_FALSE(limit.take());
    limit.give_back();
    CHECK(limit.take());
    CHECK_FALSE(limit.take());
}

TEST_CASE("threads never have more places together than the limit") {
    ConnectionLimit limit(3);
    std::atomic<int> taken = 0;
    std::atomic<bool> exceeded = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 10'000; ++n) {
                if (!limit.take()) continue;
                if (++taken > 3) exceeded = true;
                --taken;
                limit.give_back();
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK_FALSE(exceeded);
    CHECK(limit.take());
}
