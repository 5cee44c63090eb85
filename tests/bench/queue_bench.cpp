// Compares the round trips that yodel-load measures with queueing theory. The server handles
// one message at a time, and its service times are exponential with a mean of 1 ms. So the time
// in the system is exponential too, with the rate mu - lambda if messages arrive at random
// times (M/M/1). The waits of neighbors are correlated, so a finite run deviates. The range
// is that of simulated runs of the same length.
//
// BENCH_SECONDS sets the length of each run.
#include "app/text/random.hpp"
#include "tests/bench/by_hand.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace bench {

namespace {

constexpr double mean_ms = 1;

// Returns a percentile of each simulated run, in milliseconds, in ascending order.
std::vector<double> simulated(double load, std::size_t messages, double percent) {
    std::vector<double> all;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        yodel::Random random(seed);
        std::vector<double> times;
        double now = 0;
        double free = 0;
        for (std::size_t i = 0; i < messages; ++i) {
            now += random.exponential() / load;
            free = std::max(free, now) + random.exponential();
            times.push_back((free - now) * mean_ms);
        }
        const auto place = times.begin() + static_cast<std::ptrdiff_t>(
                                               percent / 100 * static_cast<double>(messages));
        std::nth_element(times.begin(), place, times.end());
        all.push_back(*place);
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

// Echoes the lines of each connection in turn, and spins for the service time of each line. The
// service of a waiting line begins when the previous service ends.
void serve_queue() {
    using Clock = std::chrono::steady_clock;
    yodel::Random random(1001);  // yodel-load draws its gaps from the seed 1
    for (const int listener = bound_socket(SOCK_STREAM);;) {
        const int socket = accepted(listener);
        Clock::time_point free{};
        std::string waiting;
        char buffer[4096];
        // Spins while it waits: waking up would take a part of the mean.
        for (ssize_t count = -1; count != 0;) {
            count = ::recv(socket, buffer, sizeof buffer, MSG_DONTWAIT);
            if (count < 0) continue;
            free = std::max(free, Clock::now());
            waiting.append(buffer, static_cast<std::size_t>(count));
            for (std::size_t end = waiting.find('\n'); end != waiting.npos;
                 end = waiting.find('\n')) {
                free += std::chrono::nanoseconds(
                    std::llround(random.exponential() * mean_ms * 1e6));
                while (Clock::now() < free) {
                }
                ::send(socket, waiting.data(), end + 1, MSG_NOSIGNAL);
                waiting.erase(0, end + 1);
            }
        }
    }
}

void compare_queues() {
    std::printf("\nround trips and queueing theory, in ms (range: 98 of 100 simulated runs)\n");
    const char* const given = std::getenv("BENCH_SECONDS");
    std::printf("%4s %5s %9s %9s   %s\n", "load", "", "measured", "theory", "range");
    for (const double load : {0.3, 0.6, 0.8}) {
        const Server server(by_hand_command("queue"), 1);
        const std::string end =
            Process({YODEL_LOAD, "--json", "--quiet", "--warm-up", "1s", "-m",
                     given ? given : "10", "--arrivals", "poisson", "--rate",
                     std::to_string(load * 1000 / mean_ms), "127.0.0.1", server.port})
                .last_line();
        const auto messages = static_cast<std::size_t>(member(end, "sent"));
        for (const int percent : {50, 90, 99}) {
            const std::string name = "p" + std::to_string(percent);
            const std::vector<double> range = simulated(load, messages, percent);
            std::printf("%3.0f%% %5s %9.2f %9.2f   %.2f to %.2f\n", load * 100, name.c_str(),
                        member(end, name, "rtt_us") / 1000,
                        -std::log(1 - percent / 100.0) * mean_ms / (1 - load), range[1],
                        range[98]);
        }
    }
}

}  // namespace bench
