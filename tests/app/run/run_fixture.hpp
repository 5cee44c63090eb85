// A run against an echo server inside the test, on the loop of the first thread.
#pragma once

#include "app/run/run.hpp"
#include "app/stats/outcome.hpp"
#include "app/text/exit_status.hpp"
#include "tests/app/run/echo_server.hpp"
#include "tests/support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace test {

struct Connections {
    std::uint64_t attempts = 0;
    std::uint64_t opened = 0;
    std::uint64_t failed = 0;

    bool operator==(const Connections&) const = default;
    friend std::ostream& operator<<(std::ostream& to, const Connections& of) {
        return to << of.attempts << " attempts, " << of.opened << " opened, " << of.failed
                  << " failed";
    }
};

inline Connections connections(const yodel::Results& results) {
    return {results.attempts, results.opened, results.failed};
}

inline int status(const yodel::Results& results) {
    return yodel::Outcome{.results = results}.status();
}

template <class Loop = ev::Loop>
struct RunFixture {
    yodel::RunOptions options(std::size_t connections) const {
        yodel::RunOptions to;
        to.session.endpoint.host = "127.0.0.1";
        to.session.endpoint.service = std::to_string(server.port());
        to.connections = connections;
        return to;
    }
    void start(yodel::RunOptions options, yodel::RunObserver* observer = nullptr) {
        run.emplace(
            loop, std::move(options), [this] { ++done; }, observer);
    }
    const yodel::Results& wait_for_end() {
        turn_until(loop, [&] { return done > 0; });
        CHECK(done == 1);
        return run->results();
    }
    const yodel::Results& run_to_end(yodel::RunOptions options) {
        start(std::move(options));
        return wait_for_end();
    }

    Loop loop;
    EchoServer server{loop};
    std::optional<yodel::Run> run;
    int done = 0;
};

}  // namespace test
