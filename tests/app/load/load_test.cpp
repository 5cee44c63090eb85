#include "app/load/load.hpp"

#include "tests/app/run/standard_input.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"

#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>

using namespace std::chrono_literals;
using namespace yodel;
using From = RunClient::Options::From;

namespace {

// A load to plan, with the defaults of the options, and standard input from a pipe.
struct Load {
    void plan() { plan_load(options, given, client); }
    RunOptions& run() { return client.run; }

    test::StandardInput input;
    LoadPlan options;
    MessagePlan given;
    RunClient::Options client;
};

// Standard input is a terminal for the lifetime of this object.
class TerminalInput {
public:
    TerminalInput() { ::dup2(ends_.writer.get(), STDIN_FILENO); }
    ~TerminalInput() { ::dup2(before_.get(), STDIN_FILENO); }
    TerminalInput(const TerminalInput&) = delete;
    TerminalInput& operator=(const TerminalInput&) = delete;

private:
    const bufio::Fd before_{::dup(STDIN_FILENO)};
    const test::Ends ends_ = test::terminal_ends();
};

std::optional<double> rate(const RunOptions& run) {
    return run.pace ? std::optional(run.pace->rate()) : std::nullopt;
}

}  // namespace

TEST_CASE("a load sends the lines of a pipe unless an option generates messages") {
    Load load;
    From expected = From::input;
    SECTION("by default") {}
    SECTION("with an option") {
        load.options.generated = true;
        expected = From::generator;
    }
    SECTION("with a length") {
        load.run().session.max_time = 1s;
        expected = From::generator;
    }
    SECTION("but without messages with -z") {
        load.options.generated = true;
        load.run().probe = true;
        expected = From::nothing;
    }
    load.plan();
    CHECK(load.client.from == expected);
    CHECK(load.client.report.load);
}

TEST_CASE("a load on a terminal generates messages") {
    Load load;
    const TerminalInput terminal;
    load.plan();
    CHECK(load.client.from == From::generator);
}

TEST_CASE("a load is a closed loop with one message in flight unless it has a pace") {
    const bool generated = GENERATE(false, true);
    const std::size_t connections = GENERATE(as<std::size_t>{}, 1, 3);
    Load load;
    load.options.generated = generated;
    load.run().connections = connections;
    SECTION("the window is 1") {
        load.plan();
        CHECK(load.run().window == 1U);
    }
    SECTION("--window gives another one") {
        load.given.window = 5;
        load.plan();
        CHECK(load.run().window == 5U);
    }
    CHECK_FALSE(load.run().pace);
}

TEST_CASE("a rate is for all connections, and an interval for each") {
    struct Row {
        std::optional<std::uint64_t> rate;  // thousandths
        std::optional<ev::Duration> interval;
        std::optional<double> planned;  // messages a second
        bool fixed;
    };
    const Row row = GENERATE(values<Row>({{{}, {}, {}, true},
                                          {20'000, {}, 20, false},
                                          {20'000, 0s, 20, false},
                                          {{}, 500ms, 6, true},
                                          {{}, 0s, {}, true}}));
    Load load;
    load.options.generated = true;
    load.options.rate = row.rate;
    load.given.interval = row.interval;
    load.run().connections = 3;
    load.plan();
    CHECK(rate(load.run()) == row.planned);
    CHECK(load.run().fixed_connections == row.fixed);
}

TEST_CASE("only random gaps have a seed, which is 1 unless it is given") {
    const bool random = GENERATE(false, true);
    const auto seed = GENERATE(as<std::optional<std::uint64_t>>{}, std::nullopt, 7);
    Load load;
    load.options.generated = true;
    load.options.random_arrivals = random;
    load.options.seed = seed;
    load.plan();
    CHECK(load.run().seed == (random ? std::optional(seed.value_or(1)) : std::nullopt));
}

TEST_CASE("the length of -m applies to messages and to connections") {
    const bool probe = GENERATE(false, true);
    Load load;
    load.run().probe = probe;
    load.run().session.max_time = 3s;
    load.plan();
    CHECK(load.run().length == ev::Duration(3s));
    // Each connection of a probe lasts as long as the run.
    CHECK(load.run().session.max_time.has_value() != probe);
}

TEST_CASE("generated messages fit the limit, and a file of messages sets the size") {
    Load load;
    load.options.generated = true;
    std::size_t size = 64;
    SECTION("the default") {}
    SECTION("a given size") {
        size = 1000;
        load.given.size = size;
    }
    SECTION("a limit") {
        size = 10;
        load.run().session.max_frame = size;
    }
    SECTION("the longest line") {
        size = 100;
        load.input.write("a\n" + std::string(size, 'b') + "\nc");
        load.input.end();
        load.options.messages = "-";
    }
    load.plan();
    CHECK(load.run().size == size);
    CHECK((load.run().messages != nullptr) == !load.options.messages.empty());
}

TEST_CASE("a load has no more threads than connections, and one for standard input") {
    struct Row {
        std::size_t threads;
        bool automatic;
        bool generated;
        std::size_t used;
    };
    const Row row = GENERATE(values<Row>(
        {{2, false, true, 2}, {4, true, true, 3}, {4, true, false, 1}, {1, false, false, 1}}));
    Load load;
    load.options.generated = row.generated;
    load.options.threads_auto = row.automatic;
    load.run().threads = row.threads;
    load.run().connections = 3;
    load.plan();
    CHECK(load.run().threads == row.used);
}

TEST_CASE("several threads that cannot share standard input are refused") {
    Load load;
    load.run().threads = 2;
    load.run().connections = 3;
    CHECK_THROWS_WITH(load.plan(),
                      "--threads needs generated messages (-c, -i, --size, --rate or -m), "
                      "because one thread reads standard input");
}
