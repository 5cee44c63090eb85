// A run against a server inside the test, on the loop of the first thread.
#pragma once

#include "app/run/run.hpp"
#include "app/stats/outcome.hpp"
#include "tests/app/run/server.hpp"

namespace test {

// Returns the counts of a run, without zeros, and its exit status unless it is 0: "3 opened, 30
// sent, 29 echoed, 1 lost, status 1".
inline std::string counts(const yodel::RunResults& results) {
    const std::pair<std::uint64_t, const char*> all[] = {
        {results.opened, "opened"},
        {results.failed, "failed"},
        {results.attempts - results.opened - results.failed, "trying"},
        {results.warm_up.sent, "warm-up"},
        {results.sent, "sent"},
        {results.echoed, "echoed"},
        {results.bad, "bad"},
        {results.lost, "lost"},
        {results.late, "late"},
        {results.unsent, "unsent"},
        {results.unsolicited + results.duplicates, "unexpected"},
    };
    std::string text;
    const auto add = [&text](const std::string& part) {
        text += (text.empty() ? "" : ", ") + part;
    };
    for (const auto& [count, name] : all)
        if (count > 0) add(std::to_string(count) + " " + name);
    const int status = yodel::Outcome{.results = results}.status();
    if (status != 0) add("status " + std::to_string(status));
    return text;
}

template <class Loop>
struct RunFixture {
    void start(yodel::RunOptions options, yodel::Lane::Owner* owner = nullptr) {
        bufio::Endpoint& endpoint = options.session.endpoint;
        if (endpoint.host.empty()) endpoint.host = "127.0.0.1";
        if (endpoint.service.empty()) endpoint.service = server.port();
        is_paced = options.pace.has_value();
        run.emplace(loop, std::move(options), owner);
    }
    void until_sent(std::uint64_t count) {
        turn_until(loop, [&] { return run->results().sent >= count; });
    }
    void until_echoed(std::uint64_t count) {
        turn_until(loop, [&] { return run->results().echoed >= count; });
    }
    void until_open(std::size_t count) {
        turn_until(loop, [&] { return run->results().open == count; });
    }
    const yodel::RunResults& wait_for_end() {
        turn_until(loop, [&] { return run->has_ended(); });
        const yodel::RunResults& results = run->results();
        CHECK(results.round_trips.count() <= results.echoed + results.bad);
        CHECK(results.lateness.count() == (is_paced ? results.sent : 0));
        return results;
    }
    const yodel::RunResults& finish() {
        run->finish();
        return wait_for_end();
    }
    const yodel::RunResults& run_to_end(yodel::RunOptions options) {
        start(std::move(options));
        return wait_for_end();
    }

    Loop loop;
    Server server{loop};
    std::optional<yodel::Run> run;
    bool is_paced = false;
};

}  // namespace test
