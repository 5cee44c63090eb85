// A client without a screen against a server inside the test, in virtual time.
#pragma once

#include "app/run/run_client.hpp"
#include "app/text/output.hpp"
#include "tests/app/run/server.hpp"
#include "tests/support/redirected.hpp"
#include "tests/support/virtual_time.hpp"

#include <unistd.h>

namespace test {

// Diagnostics always write to the file that was standard error at their first use, even after a
// redirection. Here this is a temporary file, for all tests of this program. Not inline,
// because it must be initialized after std::cout.
[[maybe_unused]] static const yodel::Diagnostics& errors_to_a_file =
    []() -> yodel::Diagnostics& {
    const Redirected errors(STDERR_FILENO);
    return yodel::diagnostics();
}();

struct ClientFixture {
    explicit ClientFixture(Server::Answer answer = nullptr, Replies greeting = {})
        : server(loop, std::move(answer), std::move(greeting)) {}

    void start(yodel::RunClient::Options options) {
        bufio::Endpoint& endpoint = options.run.session.endpoint;
        endpoint.host = "127.0.0.1";
        if (endpoint.service.empty()) endpoint.service = server.port();
        client.emplace(loop, options);
    }
    void until(const std::function<bool()>& condition) {
        loop.until([&] {
            client->turn_ended();
            return condition();
        });
    }
    // Runs the client to its end, and returns the exit status. Standard output and error are
    // redirected until then.
    int wait_for_end() {
        const ev::Time limit = ev::Clock::now() + std::chrono::seconds(20);
        while (loop.step()) {
            client->turn_ended();
            REQUIRE(ev::Clock::now() < limit);
        }
        const int status = client->report();
        printed = output->text();
        reported = errors->text();
        output.reset();
        errors.reset();
        return status;
    }
    int run_to_end(yodel::RunClient::Options options) {
        start(std::move(options));
        return wait_for_end();
    }

    std::optional<Redirected> output{STDOUT_FILENO};
    std::optional<Redirected> errors{STDERR_FILENO};
    std::string printed;   // the whole output
    std::string reported;  // all errors
    VirtualLoop loop;
    Server server;
    std::optional<yodel::RunClient> client;
};

}  // namespace test
