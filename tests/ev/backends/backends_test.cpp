#include "ev/backends/backends.hpp"

#include "ev/loop.hpp"
#include "tests/support/catch.hpp"

#include <unistd.h>

#include <stdexcept>

TEST_CASE("the error for an unknown backend names it") {
    std::string reason;
    try {
        ev::Loop loop(ev::Clock::now, ev::make_backend("carrier pigeon"));
    } catch (const std::invalid_argument& failure) {
        reason = failure.what();
    }
    CHECK(reason.find("carrier pigeon") != std::string::npos);
}

TEST_CASE("ready_now() reports if a pipe accepts bytes, without a loop") {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    CHECK(ev::ready_now(ends[1], ev::writable));
    CHECK_FALSE(ev::ready_now(ends[0], ev::readable));
    const std::string page(4096, 'x');
    while (ev::ready_now(ends[1], ev::writable))
        REQUIRE(::write(ends[1], page.data(), page.size()) == 4096);
    CHECK(ev::ready_now(ends[0], ev::readable));
    ::close(ends[0]);
    CHECK(ev::ready_now(ends[1], ev::writable));  // reports an error
    ::close(ends[1]);
    CHECK(ev::ready_now(ends[1], ev::writable));
}
