#include "app/stats/student.hpp"

#include "tests/support/catch.hpp"

using namespace yodel;

namespace {

// From the usual tables of critical values, for both sides.
struct Row {
    unsigned degrees_of_freedom;
    double t;
    double probability;
};

constexpr Row rows[] = {
    {1, 12.706, 0.05}, {1, 636.619, 0.001}, {2, 4.303, 0.05},  {2, 31.599, 0.001},
    {3, 3.182, 0.05},  {3, 12.924, 0.001},  {4, 8.610, 0.001}, {5, 2.571, 0.05},
    {9, 2.262, 0.05},  {10, 4.587, 0.001},  {30, 2.042, 0.05}, {120, 3.373, 0.001},
};

}  // namespace

TEST_CASE("Student's distribution is that of the tables") {
    for (const Row& row : rows) {
        CAPTURE(row.degrees_of_freedom, row.t);
        CHECK(probability_beyond(row.t, row.degrees_of_freedom) ==
              Approx(row.probability).epsilon(0.002));
        CHECK(probability_beyond(-row.t, row.degrees_of_freedom) ==
              Approx(row.probability).epsilon(0.002));
    }
}

TEST_CASE("nothing is further away than infinity, and all but the middle than zero") {
    for (unsigned degrees = 1; degrees < 20; ++degrees) {
        CHECK(probability_beyond(0, degrees) == Approx(1));
        CHECK(probability_beyond(1e300, degrees) == Approx(0).margin(1e-12));
    }
}
