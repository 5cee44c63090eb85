#include "app/run/schedule.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using yodel::Pace;

TEST_CASE("a pace plans each message to the nanosecond") {
    struct Row {
        Pace pace;
        std::uint64_t number;
        ev::Duration offset;
    };
    const Row row = GENERATE(
        Row{Pace::per_second(20'000'000), 0, 0ns}, Row{Pace::per_second(20'000'000), 1, 50us},
        Row{Pace::per_second(20'000'000), 19'999, 1s - 50us},
        Row{Pace::per_second(20'000'000), 20'000, 1s},
        Row{Pace::per_second(3'000), 1, 333'333'333ns},
        Row{Pace::per_second(3'000), 2, 666'666'667ns}, Row{Pace::per_second(3'000), 3, 1s},
        Row{Pace::per_second(2'500), 1, 400ms}, Row{Pace::per_second(1), 1, 1000s},
        Row{Pace(200, 250us), 1, 1250ns}, Row{Pace(200, 250us), 199, 248'750ns},
        Row{Pace(200, 250us), 200, 250us}, Row{Pace(10'000'000, 1s), 1, 100ns});
    CAPTURE(row.number);
    CHECK(row.pace.offset(row.number) == row.offset);
}

TEST_CASE("a pace does not drift in a year") {
    const std::uint64_t year = 365 * 86400;
    CHECK(Pace::per_second(3'000).offset(3 * year) == std::chrono::seconds(year));
    CHECK(Pace::per_second(3'000).offset(3 * year + 1) ==
          std::chrono::seconds(year) + 333'333'333ns);
    CHECK(Pace::per_second(7'001).offset(7'001 * (year / 1000)) == std::chrono::seconds(year));
}

TEST_CASE("a pace returns its rate") {
    CHECK(Pace::per_second(20'000'000).rate() == 20'000);
    CHECK(Pace::per_second(2'500).rate() == 2.5);
    CHECK(Pace(200, 100ms).rate() == Approx(2000));
}
