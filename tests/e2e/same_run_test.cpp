// Compares runs without --connections and with one connection: the verdicts must be the same.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <set>
#include <string>
#include <vector>

using test::contains;
using test::Outcome;
using test::run;
using test::Server;
using test::yodel;

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

// Returns the failed requirements, without the figures.
std::set<std::string> failed_requirements(const std::string& errors) {
    std::set<std::string> clauses;
    for (std::size_t at = errors.find("required "); at != errors.npos;
         at = errors.find("required ", at + 1))
        clauses.insert(errors.substr(at, errors.find(',', at) - at));
    return clauses;
}

}  // namespace

TEST_CASE("a run and the same with --connections 1 give the same verdict", "[slow]") {
    const Options faults = GENERATE(Options{}, Options{"--drop", "0.3", "--seed", "1"},
                                    Options{"--corrupt", "0.3", "--seed", "1"},
                                    Options{"--drop", "1"}, Options{"--close-after", "3"});
    const Options sending = GENERATE(Options{"-c", "20", "-i", "1ms"},
                                     Options{"-c", "20", "-i", "0", "--window", "1"},
                                     Options{"-m", "100ms", "-i", "5ms"});
    const std::string required =
        GENERATE("unsent=0,lateness<10s,lost<99%,bad<99%", "rate>1M,p99<1ns");
    Options serving{"-f", "line"};
    serving.insert(serving.end(), faults.begin(), faults.end());
    Server server(serving);
    Options one{yodel, "--json", "-W", "100ms", "--require", required};
    one.insert(one.end(), sending.begin(), sending.end());
    Options same = one;
    same.insert(same.end(), {"--connections", "1"});
    for (Options* options : {&one, &same})
        options->insert(options->end(), {"127.0.0.1", server.port()});
    const Outcome without = run(one);
    const Outcome with = run(same);
    CAPTURE(one, without.errors, with.errors);
    CHECK(without.status == with.status);
    CHECK(keys(end_object(without.output)) == keys(end_object(with.output)));
    CHECK(failed_requirements(without.errors) == failed_requirements(with.errors));
}

TEST_CASE("a run that reaches nobody ends the same with --connections 1") {
    const Options sending = GENERATE(Options{"-c", "3", "-i", "1ms"}, Options{"-c", "3"});
    Options one{yodel, "--json", "--require", "failed=0"};
    one.insert(one.end(), sending.begin(), sending.end());
    Options same = one;
    same.insert(same.end(), {"--connections", "1"});
    for (Options* options : {&one, &same}) options->insert(options->end(), {"127.0.0.1", "1"});
    const Outcome without = run(one);
    const Outcome with = run(same);
    CHECK(without.status == 7);
    CHECK(with.status == 7);
    CHECK(keys(end_object(without.output)) == keys(end_object(with.output)));
    CHECK(failed_requirements(without.errors) == failed_requirements(with.errors));
}
