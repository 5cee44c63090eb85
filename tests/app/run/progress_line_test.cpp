// The line itself is seen on terminals: tests/e2e/unattended_test.cpp and crowd_test.cpp.

#include "app/run/progress_line.hpp"

#include "tests/support/catch.hpp"

TEST_CASE("a progress line that was never shown is cleared without a trace") {
    yodel::ProgressLine line;
    line.clear();
    SUCCEED();
}
