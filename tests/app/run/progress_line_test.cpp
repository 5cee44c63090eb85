// tests/e2e/unattended_test.cpp and crowd_test.cpp test the line on terminals.

#include "app/run/progress_line.hpp"

#include "tests/support/catch.hpp"

TEST_CASE("clearing a progress line that was never shown prints nothing") {
    yodel::ProgressLine line;
    line.clear();
    SUCCEED();
}
