// The programs under test.
#pragma once

#include "tests/support/process.hpp"

#include <string>
#include <vector>

namespace test {

// Paths of the programs, from the build.
inline const std::string yodel = YODEL_PROGRAM;
inline const std::string yodel_load = YODEL_LOAD_PROGRAM;
inline const std::string yodeld = YODELD_PROGRAM;
}  // namespace test
