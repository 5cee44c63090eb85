#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <sys/select.h>

#include <system_error>

using namespace std::chrono_literals;

TEST_CASE("select refuses a descriptor beyond FD_SETSIZE") {
    const DescriptorLimit limit(FD_SETSIZE + 16);
    auto pipe = make_pipe();
    const Fd high(::fcntl(pipe.out, F_DUPFD, FD_SETSIZE));
    if (high < 0) return;  // the system allows no more
    ev::Loop loop(ev::Clock::now, ev::make_backend("select"));
    CHECK_THROWS_AS(ev::Watch(loop, high, ev::readable, [](ev::Events) {}), std::system_error);
    const Fd last(::fcntl(pipe.out, F_DUPFD, FD_SETSIZE - 1));
    pipe.put();
    int calls = 0;
    ev::Watch watch(loop, last, ev::readable, [&](ev::Events) { ++calls; });
    loop.step(0s);
    CHECK(calls == 1);
}
