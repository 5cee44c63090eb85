#include "app/stats/planned_rate.hpp"

#include "tests/support/catch.hpp"

using namespace yodel;

TEST_CASE("a rate that the client has not kept is remarked, with the one that it reached") {
    struct Row {
        PlannedRate rate;
        std::uint64_t sent;
        std::uint64_t unsent;
        const char* remark;
    };
    const Row row =
        GENERATE(Row{{1000, 1000}, 10'000, 0, ""}, Row{{1000, 1001}, 10'000, 0, ""},
                 Row{{1000, 960}, 10'000, 0, ""},
                 Row{{1000, 940}, 10'000, 0, "; planned 1k/s, reached 940/s"},
                 // 49 ms and 51 ms late.
                 Row{{1000, 100.0 / 0.149}, 100, 0, ""},
                 Row{{1000, 100.0 / 0.151}, 100, 0, "; planned 1k/s, reached 662/s"},
                 Row{{10e6, 287e3}, 573'655, 19'426'345, "; planned 10M/s, reached 287k/s"},
                 Row{{1000, 1000}, 10'000, 1, "; planned 1k/s, reached 1k/s"},
                 Row{{1000, 0}, 0, 10, "; planned 1k/s, reached 0/s"});
    Tally tally;
    tally.sent = row.sent;
    tally.unsent = row.unsent;
    CHECK(planned_rate_remark(row.rate, tally) == row.remark);
}

TEST_CASE("messages without planned times have no rate to keep") {
    CHECK(planned_rate_remark(std::nullopt, {}).empty());
}

TEST_CASE("rates of simultaneous runs add up") {
    PlannedRate rate{.planned = 100, .reached = 90};
    rate.add({.planned = 50, .reached = 50});
    CHECK(rate.planned == 150);
    CHECK(rate.reached == 140);
}
