#include "app/stats/histogram.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"

using namespace yodel;
using Layout = Buckets<7>;

TEST_CASE("puts each duration into one bucket, which is narrower than a hundredth of it") {
    test::Random random(1);
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t value = (random.next() >> 1) >> (random.next() % 63);
        const std::size_t bucket = Layout::index(value);
        REQUIRE(bucket < Layout::count);
        REQUIRE(Layout::upper_end(bucket) >= value);
        REQUIRE((bucket == 0 || Layout::upper_end(bucket - 1) < value));
        REQUIRE(Layout::upper_end(bucket) - value <= value / 100);
    }
}

TEST_CASE("ends the last bucket with the longest duration") {
    CHECK(Layout::upper_end(Layout::count - 1) == (std::uint64_t{1} << 63) - 1);
    CHECK(Layout::index((std::uint64_t{1} << 63) - 1) == Layout::count - 1);
}
