#include "ev/backend.hpp"

#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

namespace {

// Gives access to the polled array.
struct Array : ev::Backend {
    std::vector<int> numbers() const {
        std::vector<int> numbers;
        for (const pollfd& each : polled_) numbers.push_back(each.fd);
        return numbers;
    }
};

}  // namespace

TEST_CASE("the polled array has no gaps") {
    Array array;
    ev::Registration low{nullptr, 3}, middle{nullptr, 40}, high{nullptr, 900};
    for (auto* each : {&low, &middle, &high}) array.set(*each, ev::readable);
    CHECK(array.numbers() == std::vector{3, 40, 900});
    array.set(low, ev::none);
    CHECK(array.numbers() == std::vector{900, 40});
    array.set(high, ev::none);
    array.set(middle, ev::writable);
    CHECK(array.numbers() == std::vector{40});
    array.set(middle, ev::none);
    CHECK(array.numbers().empty());
}

TEST_CASE("shortens a long wait by more than the system may be late") {
    const struct {
        ev::Duration max_wait;
        bool needs_ns;
        int milliseconds;
    } rows[] = {{-1s, false, 0},
                {0ns, false, 0},
                {1ns, true, 1},
                {1ms, true, 1},
                {1'000'001ns, true, 2},
                {19'999'999ns, true, 20},
                {20ms, false, 19},
                {1280ms, false, 1270},
                {24h, false, 85'725'000},  // one turn a day
                {60 * 24h, false, 85'725'000},
                {ev::Duration::max() - 1ns, false, 85'725'000},
                {ev::Duration::max(), false, -1}};
    for (const auto& row : rows) {
        CAPTURE(row.max_wait.count());
        CHECK(ev::needs_ns(row.max_wait) == row.needs_ns);
        CHECK(ev::milliseconds_of(row.max_wait) == row.milliseconds);
    }
}
