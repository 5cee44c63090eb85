// Compares yodel-load with a hand-written generator, both on the first processor, with the
// same echo server on the second: 64 connections, each with one message of 64 bytes in flight.
//
// Includes redis-benchmark if it is installed. This verifies nothing: it accepts the echo of
// its request, an array of one word, as a reply. Generic tools such as sockperf and wrk do not
// count an echo server's replies.
#include "tests/bench/crowd_raw.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/program.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace {

constexpr int connections = 64;
constexpr double run_seconds = 1;
constexpr std::uint64_t redis_requests = 100'000;

bench::CrowdFigures redis_crowd(const std::string& port) {
    const auto begin = std::chrono::steady_clock::now();
    bench::Program client({"redis-benchmark", "-p", port, "-c", std::to_string(connections),
                           "-n", std::to_string(redis_requests), "-q", "PING"},
                          0);
    client.last_line();
    bench::CrowdFigures figures;
    figures.echoes = redis_requests;
    figures.cpu_seconds = client.await_end();
    figures.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return figures;
}

bench::CrowdFigures our_crowd(const std::string& port) {
    bench::Program client({YODEL_LOAD_PROGRAM, "--connections", std::to_string(connections),
                           "-m", std::to_string(run_seconds), "--json", "127.0.0.1", port},
                          0);
    const std::string end = client.last_line();
    bench::CrowdFigures figures;
    figures.echoes = static_cast<std::uint64_t>(bench::member(end, "echoed"));
    figures.seconds = bench::member(end, "duration_us") / 1e6;
    figures.cpu_seconds = client.await_end();
    return figures;
}

}  // namespace

int main() {
    bench::begin("crowd");
    bench::Program server({YODELD_PROGRAM, "-f", "raw", "0"}, bench::processors() > 1 ? 1 : 0);
    const std::string line = server.read_line();
    const std::string port =
        line.substr(line.rfind(':') + 1, line.size() - line.rfind(':') - 2);
    bench::stay_on(0);
    std::vector<std::string> contenders{"by hand: epoll, memcmp",
                                        "yodel-load --connections 64"};
    if (bench::installed("redis-benchmark"))
        contenders.emplace_back("redis-benchmark, not verified");
    bench::Table table("64 connections, one message of 64 bytes in flight on each", contenders);
    table.add({"an echo", "its CPU"}, bench::rounds(7), [&](std::size_t contender) {
        const bench::CrowdFigures figures =
            contender == 0   ? bench::raw_crowd(std::stoi(port), connections, run_seconds)
            : contender == 1 ? our_crowd(port)
                             : redis_crowd(port);
        const auto echoes = static_cast<double>(figures.echoes);
        return std::vector<double>{figures.seconds * 1e9 / echoes,
                                   figures.cpu_seconds * 1e9 / echoes};
    });
    table.print();
}
