#include "app/stats/course.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using yodel::Course;

TEST_CASE("each period with round trips has its percentiles") {
    Course course;
    CHECK(course.percentiles().p50.empty());
    const ev::Time start = ev::Time{} + 1h;
    for (int i = 0; i < 100; ++i) course.record(start, i < 90 ? 1ms : 9ms);
    course.record(start + Course::period, 2ms);
    course.record(start + 5 * Course::period, 3ms);
    const Course::Percentiles seen = course.percentiles();
    REQUIRE(seen.p50.size() == 3);
    CHECK(seen.p50[0] / 1.1 < 1ms);
    CHECK(seen.p95[0] == 9ms);
    CHECK(seen.p50[1] == 2ms);
    CHECK(seen.p95[2] == 3ms);
}

TEST_CASE("the last periods are kept") {
    Course course;
    for (std::size_t i = 0; i <= Course::most; ++i)
        course.record(ev::Time{} + 1h + i * Course::period, std::chrono::milliseconds(i + 1));
    const Course::Percentiles seen = course.percentiles();
    REQUIRE(seen.p50.size() == Course::most);
    CHECK(seen.p50.front() == 2ms);
    CHECK(seen.p95.back() == std::chrono::milliseconds(Course::most + 1));
}
