#include "app/load/load.hpp"

#include "tests/app/run/standard_input.hpp"
#include "tests/support/blocked.hpp"

#include <unistd.h>

using namespace std::chrono_literals;
using namespace yodel;
using From = RunOptions::From;

namespace {

// Plans a load. Standard input is a pipe.
RunClient::Options planned(const LoadPlan& plan, std::optional<std::size_t> size = {},
                           const RunOptions& run = {}, const std::string& input = "") {
    test::StandardInput pipe;
    pipe.write(input);
    pipe.end();
    RunClient::Options load{.run = run};
    plan_load(plan, size, load);
    CHECK(load.report.load);
    return load;
}

}  // namespace

TEST_CASE("a load sends the lines of a pipe unless an option generates messages") {
    CHECK(planned({}).run.from == From::input);
    CHECK(planned({.generated = true}).run.from == From::generator);
    CHECK(planned({}, {}, {.session = {.max_time = 1s}}).run.from == From::generator);
    CHECK(planned({.generated = true}, {}, {.probe = true}).run.from == From::generator);
}

TEST_CASE("a load on a terminal generates messages") {
    const test::StandardInput restored;
    const test::Ends terminal = test::terminal_ends();
    ::dup2(terminal.writer.get(), STDIN_FILENO);
    RunClient::Options load{.run = {}};
    plan_load({}, {}, load);
    CHECK(load.run.from == From::generator);
}

TEST_CASE("a load is a closed loop with one message in flight unless options change that") {
    for (const bool generated : {false, true}) {
        CHECK(planned({.generated = generated}).run.window == 1U);
        CHECK_FALSE(planned({.generated = generated}).run.pace);
        CHECK(planned({.window = 5, .generated = generated}).run.window == 5U);
    }
}

TEST_CASE("a rate is for all connections") {
    const LoadPlan plan{.rate_thousandths = 20'000, .generated = true};
    CHECK(planned(plan, {}, {.connections = 3}).run.pace->rate() == 20);
}

TEST_CASE("only random gaps have a seed, which is 1 unless it is given") {
    const auto seed = [](bool random, std::optional<std::uint64_t> given) {
        return planned({.random_arrivals = random, .seed = given, .generated = true}).run.seed;
    };
    CHECK(seed(true, {}) == 1U);
    CHECK(seed(true, 7) == 7U);
    CHECK_FALSE(seed(false, {}));
    CHECK_FALSE(seed(false, 7));
}

TEST_CASE("the length of -m applies to messages and to connections") {
    for (const bool probe : {false, true}) {
        const RunOptions run =
            planned({}, {}, {.session = {.max_time = 3s}, .probe = probe}).run;
        CHECK(run.length == ev::Duration(3s));
        // The connections of a probe have no limit of their own, because they last as long as
        // the run.
        CHECK(run.session.max_time.has_value() != probe);
    }
}

TEST_CASE("generated messages fit the limit, and a file of messages sets the size") {
    const std::string line(100, 'b');
    CHECK(planned({.generated = true}).run.size == 64);
    CHECK(planned({.generated = true}, 1000).run.size == 1000);
    CHECK(planned({.generated = true}, {}, {.session = {.max_frame = 10}}).run.size == 10);
    CHECK_FALSE(planned({.generated = true}).run.messages);
    const RunOptions run = planned({.messages_file = "/dev/stdin", .generated = true}, {}, {},
                                   "a\n" + line + "\nc")
                               .run;
    CHECK(run.size == 100);
    REQUIRE(run.messages);
    CHECK(run.messages->at(1) == line);
    CHECK(planned({.messages_file = "-", .generated = true}).run.from == From::shared_input);
}

TEST_CASE("a load has no more threads than connections, and one for standard input") {
    struct Row {
        std::size_t threads;
        bool automatic;
        bool generated;
        std::size_t used;
    };
    const Row rows[] = {
        {2, false, true, 2}, {4, true, true, 3}, {4, true, false, 1}, {1, false, false, 1}};
    for (const Row& row : rows)
        CHECK(planned({.generated = row.generated, .threads_auto = row.automatic}, {},
                      {.connections = 3, .threads = row.threads})
                  .run.threads == row.used);
    CHECK_THROWS_WITH(planned({}, {}, {.connections = 3, .threads = 2}),
                      "--threads needs generated messages (-c, --size, --rate or -m), "
                      "because a single thread reads standard input");
}
