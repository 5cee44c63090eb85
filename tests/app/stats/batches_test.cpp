#include "app/stats/batches.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"

#include <cmath>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Log-normal round trips, each of which resembles the one before by `likeness`, from 0 to 1.
class Service {
public:
    Service(std::uint64_t seed, double likeness) : random_(seed), likeness_(likeness) {}

    ev::Duration next() {
        state_ = likeness_ * state_ + std::sqrt(1 - likeness_ * likeness_) * random_.normal();
        return ev::Duration(static_cast<std::int64_t>(200e3 * std::exp(0.5 * state_)));
    }

private:
    test::Random random_;
    double likeness_;
    double state_ = 0;
};

Batches batches_of(Service service, int count) {
    Batches batches;
    for (int i = 0; i < count; ++i) batches.record(service.next());
    return batches;
}

}  // namespace

TEST_CASE("the factor of independent round trips is about 1") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Batches batches = batches_of(Service(seed, 0), 5000);
        CAPTURE(seed);
        for (const double percent : {50.0, 90.0, 99.0, 99.9})
            CHECK(batches.variance_factor(percent) < 2.5);
        CHECK(batches.variance_factor_of_mean() < 2.5);
    }
}

// The factor of the mean of a normal series of first order is (1 + likeness) / (1 - likeness).
TEST_CASE("the factor grows as round trips resemble those before") {
    double sum = 0;
    double sum_of_mean = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Batches batches = batches_of(Service(seed, 0.9), 20'000);
        sum += batches.variance_factor(50);
        sum_of_mean += batches.variance_factor_of_mean();
    }
    CHECK(sum / 20 > 8);
    CHECK(sum / 20 < 19);
    CHECK(sum_of_mean / 20 > 10);
    CHECK(sum_of_mean / 20 < 22);
}

TEST_CASE("few round trips, and equal ones, have the factor 1") {
    Batches batches;
    CHECK(batches.empty());
    CHECK(batches.variance_factor(50) == 1);
    for (int i = 0; i < 1000; ++i) {
        batches.record(i % 2 == 0 ? -5ns : ev::Duration(1h));
        if (i == 5) CHECK(batches.variance_factor(50) == 1);
    }
    Batches equal;
    for (int i = 0; i < 1000; ++i) equal.record(1ms);
    CHECK(equal.variance_factor(50) == 1);
    CHECK(equal.variance_factor_of_mean() == 1);
}

TEST_CASE("a slow spell that all threads share is seen in their sum") {
    Batches sum;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        Service service(seed, 0);
        Batches one;
        for (int i = 0; i < 5000; ++i) one.record(service.next() * (i < 2500 ? 1 : 2));
        sum.add(one);
    }
    CHECK(sum.variance_factor(50) > 200);
}
