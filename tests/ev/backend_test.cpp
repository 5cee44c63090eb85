#include "ev/backend.hpp"

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

std::vector<int> polled_by(ev::Backend& backend) {
    std::vector<ev::Readiness> ready;
    backend.wait(0, ready);
    return polled_numbers;
}

}  // namespace

TEST_CASE("the array that is polled has no holes", "[backend]") {
    const auto backend = ev::make_poll_backend(note_polled, INT_MAX);
    ev::Registration low{3}, middle{40}, high{900};
    for (auto* each : {&low, &middle, &high}) backend->set(*each, ev::readable);
    CHECK(polled_by(*backend) == std::vector{3, 40, 900});
    backend->set(low, ev::none);
    CHECK(polled_by(*backend) == std::vector{900, 40});
    backend->set(high, ev::none);
    backend->set(middle, ev::writable);
    CHECK(polled_by(*backend) == std::vector{40});
    backend->set(middle, ev::none);
    CHECK(polled_by(*backend).empty());
}
