#include "bufio/fd.hpp"

#include "tests/bufio/fixture.hpp"

using namespace test;

TEST_CASE("an empty Fd closes no descriptor") {
    const int before = open_descriptors();
    { const Fd none; }
    CHECK(open_descriptors() == before);
}
