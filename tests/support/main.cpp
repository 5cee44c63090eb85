#ifndef YODEL_CATCH2_V3
#    define CATCH_CONFIG_RUNNER
#endif
#include "tests/support/catch.hpp"

int main(int argc, char* argv[]) { return Catch::Session().run(argc, argv); }
