#include "app/stats/lateness.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

TEST_CASE("the client's lateness is remarked where it exceeds a tenth of the round trips") {
    const auto [late, round_trip, remark] =
        GENERATE(table<ev::Duration, ev::Duration, std::string>(
            {{40us, 400us, ""},
             {41us, 400us, "; late p50/p99 0.04/0.04 ms"},
             {0us, 0us, ""},
             {2ms, 5ms, "; late p50/p99 2.0/2.0 ms"}}));
    Histogram lateness;
    Histogram round_trips;
    lateness.record(late);
    round_trips.record(round_trip);
    CHECK(lateness_remark(lateness, round_trips) == remark);
}

TEST_CASE("a run without a schedule has no lateness") {
    Histogram round_trips;
    round_trips.record(1ms);
    CHECK(lateness_remark({}, round_trips).empty());
}

TEST_CASE("lateness is remarked although no reply has come") {
    Histogram lateness;
    lateness.record(1ms);
    CHECK(lateness_remark(lateness, {}) == "; late p50/p99 1.0/1.0 ms");
}
