#ifndef YODEL_CATCH2_V3
#    define CATCH_CONFIG_RUNNER
#endif
#include "tests/support/catch.hpp"

int main(int argc, char* argv[]) {
    Catch::Session session;
#ifndef YODEL_CATCH2_V3
    // A name that no test has is an error, as it is to the later generation.
    session.configData().warnings = Catch::WarnAbout::NoTests;
#endif
    return session.run(argc, argv);
}
