// Compares the round trips that yodel-load measures with queueing theory. The server handles
// one message at a time, and its service times are exponential with a mean of 1 ms. So the time
// in the system is exponential too, with the rate mu - lambda if messages arrive at random
// times (M/M/1). The waits of neighbors are correlated, so a finite run deviates: the range
// comes from simulated runs of the same length.
//
// BENCH_SECONDS sets the length of each run.
#include "app/text/random.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/program.hpp"
#include "tests/bench/serving_process.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr double mean_ms = 1;
constexpr double percents[] = {50, 90, 99};

std::chrono::nanoseconds service_time(yodel::Random& random) {
    return std::chrono::nanoseconds(std::llround(random.exponential() * mean_ms * 1e6));
}

// Echoes the lines of each connection in turn, and spins for the service time of each line. The
// service of a waiting line begins when the previous service ends.
[[noreturn]] void serve(int listener) {
    bench::stay_on(1);
    yodel::Random random(1001);  // yodel-load draws its gaps from the seed 1
    for (;;) {
        const int socket = ::accept(listener, nullptr, nullptr);
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        Clock::time_point free{};
        std::string waiting;
        char buffer[4096];
        // Spins while it waits: waking up would take a part of the mean.
        for (ssize_t count = 0;
             (count = ::recv(socket, buffer, sizeof buffer, MSG_DONTWAIT)) != 0;) {
            if (count < 0) continue;
            free = std::max(free, Clock::now());
            waiting.append(buffer, static_cast<std::size_t>(count));
            for (std::size_t end = 0; (end = waiting.find('\n')) != waiting.npos;) {
                free += service_time(random);
                while (Clock::now() < free) {
                }
                if (::send(socket, waiting.data(), end + 1, MSG_NOSIGNAL) < 0) break;
                waiting.erase(0, end + 1);
            }
        }
        ::close(socket);
    }
}

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
        const auto place =
            static_cast<std::size_t>(percent / 100 * static_cast<double>(messages));
        std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(place),
                         times.end());
        all.push_back(times[place]);
    }
    std::sort(all.begin(), all.end());
    return all;
}

// Runs yodel-load against the server, and returns its end object.
std::string measured(const std::string& port, double load, const std::string& seconds) {
    return bench::Program({YODEL_LOAD_PROGRAM, "--json", "--quiet", "--warm-up", "1s", "-m",
                           seconds, "--arrivals", "poisson", "--rate",
                           std::to_string(load * 1000 / mean_ms), "127.0.0.1", port})
        .last_line();
}

}  // namespace

int main() {
    bench::begin("round trips and queueing theory, in ms (range: 98 of 100 simulated runs)");
    const char* const given = std::getenv("BENCH_SECONDS");
    const std::string seconds = given ? given : "10";
    std::printf("%4s %5s %9s %9s   %s\n", "load", "", "measured", "theory", "range");
    for (const double load : {0.3, 0.6, 0.8}) {
        const bench::ServingProcess server(serve);
        const std::string end = measured(server.port(), load, seconds);
        const auto messages = static_cast<std::size_t>(bench::member(end, "sent"));
        for (const double percent : percents) {
            const std::string name = "p" + std::to_string(static_cast<int>(percent));
            const std::vector<double> range = simulated(load, messages, percent);
            std::printf("%3.0f%% %5s %9.2f %9.2f   %.2f to %.2f\n", load * 100, name.c_str(),
                        bench::member(end, name, "rtt_us") / 1000,
                        -std::log(1 - percent / 100) * mean_ms / (1 - load), range[1],
                        range[98]);
        }
    }
}
