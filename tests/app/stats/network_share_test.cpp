#include "app/stats/network_share.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("the median round trip is divided where the network's part is known") {
    Histogram round_trips;
    CHECK(network_remark(round_trips, 13us).empty());
    round_trips.record(5200us);
    CHECK(network_remark(round_trips, std::nullopt).empty());
    CHECK(network_remark(round_trips, 13us) == "; p50 5.2ms = network >=0.01 + service <=5.2");
}
