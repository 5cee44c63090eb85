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

TEST_CASE("the polled array has no gaps", "[backend]") {
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

TEST_CASE("shortens a long wait by more than the system may be late", "[backend]") {
    struct Case {
        ev::Duration longest;
        bool is_short;
        int milliseconds;
    };
    const Case wait = GENERATE(Case{-1s, false, 0}, Case{0ns, false, 0}, Case{1ns, true, 1},
                               Case{1'000'001ns, true, 2}, Case{19'999'999ns, true, 20},
                               Case{20ms, false, 19}, Case{1280ms, false, 1270},
                               Case{ev::Duration::max(), false, -1});
    CAPTURE(wait.longest.count());
    CHECK(ev::is_short(wait.longest) == wait.is_short);
    CHECK(ev::milliseconds_of(wait.longest) == wait.milliseconds);
}
