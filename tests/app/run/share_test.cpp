#include "app/run/schedule.hpp"

#include "tests/support/catch.hpp"

#include <vector>

using yodel::Share;

namespace {

// Returns all shares of a run.
std::vector<Share> shares(std::size_t threads, std::size_t connections) {
    std::vector<Share> all;
    for (std::size_t thread = 0; thread < threads; ++thread)
        all.push_back({thread, threads, connections});
    return all;
}

}  // namespace

TEST_CASE("the shares of a run contain each connection once") {
    const std::size_t connections = GENERATE(range(std::size_t{1}, std::size_t{12}));
    const std::size_t threads = GENERATE_COPY(range(std::size_t{1}, connections + 1));
    std::vector<int> owners(connections);
    for (const Share& share : shares(threads, connections)) {
        CHECK(share.own_connections() > 0);
        for (std::size_t place = 0; place < share.own_connections(); ++place)
            ++owners.at(share.number_of(place));
    }
    CHECK(owners == std::vector<int>(connections, 1));
}

TEST_CASE("the shares of a run contain each message once, on the connection of its number") {
    const std::size_t connections = GENERATE(range(std::size_t{1}, std::size_t{9}));
    const std::size_t threads = GENERATE_COPY(range(std::size_t{1}, connections + 1));
    const std::uint64_t count = GENERATE(as<std::uint64_t>{}, 0, 1, 2, 5, 8, 100, 10'001);
    std::uint64_t sum = 0;
    for (const Share& share : shares(threads, connections)) {
        std::uint64_t own = 0;
        for (std::uint64_t n = share.thread; n < count; n = share.message_after(n)) {
            REQUIRE(share.number_of(share.place_of(n)) == n % connections);
            REQUIRE(n % connections % threads == share.thread);
            ++own;
        }
        CHECK(share.own_messages(count) == own);
        sum += own;
    }
    CHECK(sum == count);
}
