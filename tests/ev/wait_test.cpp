#include "ev/wait.hpp"

#include "tests/support/catch.hpp"

#include <poll.h>

#include <climits>

namespace {

std::vector<int> polled_numbers;

int note_polled(pollfd* polled, std::size_t count, int) {
    polled_numbers.clear();
    for (const pollfd* each = polled; each != polled + count; ++each)
        polled_numbers.push_back(each->fd);
    return 0;
}

std::vector<int> polled_by(ev::Waiter& waiter) {
    std::vector<ev::Ready> ready;
    waiter.wait(0, ready);
    return polled_numbers;
}

}  // namespace

TEST_CASE("the array that is polled has no holes", "[wait]") {
    const auto waiter = ev::make_poll_waiter(note_polled, INT_MAX);
    ev::Watched low{3}, middle{40}, high{900};
    for (auto* each : {&low, &middle, &high}) waiter->set(*each, ev::readable);
    CHECK(polled_by(*waiter) == std::vector{3, 40, 900});
    waiter->set(low, ev::none);
    CHECK(polled_by(*waiter) == std::vector{900, 40});
    waiter->set(high, ev::none);
    waiter->set(middle, ev::writable);
    CHECK(polled_by(*waiter) == std::vector{40});
    waiter->set(middle, ev::none);
    CHECK(polled_by(*waiter).empty());
}
