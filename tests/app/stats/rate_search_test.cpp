#include "app/stats/rate_search.hpp"

#include "tests/support/catch.hpp"

#include <vector>

using namespace yodel;

namespace {

// Runs the search on a service that holds rates up to `capacity`.
std::vector<double> searched(RateSearch& search, double capacity) {
    std::vector<double> rates;
    while (const auto rate = search.next()) {
        rates.push_back(*rate);
        REQUIRE(rates.size() < 100);
        search.record(*rate <= capacity);
    }
    return rates;
}

}  // namespace

TEST_CASE("finds the highest rate that a service holds, to a twentieth") {
    const double capacity = GENERATE(10.0, 13.0, 62.5, 999.0, 1000.0, 1001.0, 41'500.0, 9.9e6);
    CAPTURE(capacity);
    RateSearch search({});
    const std::vector<double> rates = searched(search, capacity);
    REQUIRE(search.held());
    CHECK(*search.held() <= capacity);
    CHECK(*search.held() * 1.05 >= capacity * 0.9999);
    CHECK(rates.size() < 45);
}

TEST_CASE("doubles the rate, and then bisects") {
    RateSearch search({.first = 100});
    const std::vector<double> rates = searched(search, 330);
    const std::vector<double> wanted{100,     200,     400,     400,     282.843,
                                     336.359, 336.359, 308.442, 322.098, 329.151};
    REQUIRE(rates.size() >= 8);
    for (std::size_t i = 0; i < 8; ++i) CHECK(rates[i] == Approx(wanted[i]));
}

TEST_CASE("tries a rate again after one failure") {
    RateSearch search({.first = 100});
    search.record(false);
    CHECK(search.next() == 100.0);
    search.record(true);
    CHECK(search.next() == 200.0);
    search.record(false);
    CHECK(search.next() == 200.0);
    search.record(false);
    CHECK(search.failed() == 200.0);
    CHECK(*search.next() == Approx(141.42));
}

TEST_CASE("ends a hopeless search by a brief run at the lowest rate") {
    RateSearch search({});
    std::vector<double> rates;
    while (const auto rate = search.next()) {
        CHECK(search.brief() == (*rate == 10));
        rates.push_back(*rate);
        search.record(false);
    }
    CHECK(rates == std::vector<double>{1000, 1000, 500, 500, 10, 10});
    CHECK_FALSE(search.held());
    CHECK(search.failed() == 10.0);
}

TEST_CASE("goes on after a brief run that holds, which proves nothing") {
    RateSearch search({});
    for (int i = 0; i < 4; ++i) search.record(false);
    REQUIRE(search.brief());
    search.record(false);
    CHECK(search.brief());
    search.record(true);
    CHECK_FALSE(search.held());
    std::vector<double> rates;
    while (const auto rate = search.next()) {
        CHECK_FALSE(search.brief());
        rates.push_back(*rate);
        search.record(false);
    }
    CHECK(rates == std::vector<double>{250, 250, 125, 125, 62.5, 62.5, 31.25, 31.25, 15.625,
                                       15.625, 10, 10});
    CHECK_FALSE(search.held());
}

TEST_CASE("ends at the limits of the rates") {
    RateSearch none({.first = 4, .min = 1});
    CHECK(searched(none, 0).back() == 1);
    CHECK_FALSE(none.held());
    RateSearch all({.first = 100, .max = 300});
    CHECK(searched(all, 1e9) == std::vector<double>{100, 200, 300});
    CHECK(all.held() == 300.0);
    CHECK_FALSE(all.failed());
}
