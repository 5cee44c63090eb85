#include "ev/backend.hpp"

#include "tests/support/catch.hpp"

namespace {

// Shows the array that is polled.
struct Array : ev::Backend {
    std::vector<int> numbers() const {
        std::vector<int> numbers;
        for (const pollfd& each : polled_) numbers.push_back(each.fd);
        return numbers;
    }
};

}  // namespace

TEST_CASE("the array that is polled has no holes", "[backend]") {
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
