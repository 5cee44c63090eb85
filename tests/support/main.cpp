#ifndef YODEL_CATCH2_V3
#    define CATCH_CONFIG_RUNNER
#endif
#include "tests/support/catch.hpp"

int main(int argc, char* argv[]) {
    Catch::Session session;
#ifndef YODEL_CATCH2_V3
    // A test name that does not exist is an error, as in Catch2 3.
    session.configData().warnings = Catch::WarnAbout::NoTests;
#endif
    return session.run(argc, argv);
}
