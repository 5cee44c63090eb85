// Compares runs of yodel and of yodel-load on one connection: their results must have the same
// form.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"

#include <set>
#include <string>
#include <vector>

using test::Outcome;
using test::run;
using test::Server;
using test::yodel;
using test::yodel_load;

namespace {

using Options = std::vector<std::string>;

std::string end_object(const std::string& output) {
    const std::size_t begin = output.rfind(R"({"type":"end")");
    return begin == std::string::npos ? "" : output.substr(begin);
}

// Returns the names of all members, at any depth.
std::set<std::string> keys(const std::string& object) {
    std::set<std::string> names;
    for (std::size_t end = object.find("\":"); end != object.npos;
         end = object.find("\":", end + 1)) {
        const std::size_t begin = object.rfind('"', end - 1) + 1;
        names.insert(object.substr(begin, end - begin));
    }
    return names;
}

// Runs both programs with the same options.
void check_same(Options options) {
    options.insert(options.begin(), yodel);
    const Outcome ping = run(options);
    options.front() = yodel_load;
    const Outcome load = run(options);
    CAPTURE(ping.errors, load.errors);
    CHECK(ping.status == load.status);
    CHECK(keys(end_object(ping.output)) == keys(end_object(load.output)));
}

}  // namespace

TEST_CASE("a ping and a load of one connection count alike and end alike", "[slow]") {
    const Options faults = GENERATE(Options{}, Options{"--drop", "0.3", "--seed", "1"},
                                    Options{"--corrupt", "0.3", "--seed", "1"},
                                    Options{"--drop", "1"}, Options{"--close-after", "3"});
    const Options sending = GENERATE(Options{"-c", "20", "-i", "1ms"},
                                     Options{"-c", "20", "-i", "0", "--window", "1"},
                                     Options{"-m", "100ms", "-i", "5ms"});
    Options serving{"-f", "line"};
    serving.insert(serving.end(), faults.begin(), faults.end());
    Server server(serving);
    Options options{"--json", "-W", "100ms"};
    options.insert(options.end(), sending.begin(), sending.end());
    options.insert(options.end(), {"127.0.0.1", server.port()});
    CAPTURE(faults, sending);
    check_same(options);
}

TEST_CASE("a ping and a load that reach nobody end alike") {
    check_same({"--json", "-c", "3", "-i", GENERATE("1ms", "0"), "127.0.0.1", "1"});
}
