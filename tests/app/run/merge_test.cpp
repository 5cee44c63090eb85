#include "app/run/merge.hpp"

#include "tests/app/refusal.hpp"
#include "tests/support/catch.hpp"

using namespace yodel;

TEST_CASE("a file without a run is refused with the option's name") {
    CHECK(test::refusal([] { earlier_runs("/no/file"); }) ==
          "--compare: /no/file: No such file or directory");
    CHECK(test::refusal([] { earlier_runs("/dev/null"); }) ==
          "--compare: /dev/null: no end object found (expected --json output)");
}
