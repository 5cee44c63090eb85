// Simulates sessions in virtual time, one for each seed, and checks their invariants.
//
// usage: simulate streams|datagrams|websockets [SESSIONS [SEED]]
//        simulate streams|datagrams|websockets only SEED
//
// The second form also prints that session's trace. A failure prints its seed and the command
// for the single session.
#include "bufio/packets.hpp"
#include "tests/simulation/heap.hpp"
#include "tests/simulation/plan.hpp"
#include "tests/simulation/simulated_session.hpp"
#include "tests/support/descriptors.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

// Defined in a program that is built with a sanitizer.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace simulation {
namespace {

constexpr std::array<const char*, 3> names = {"streams", "datagrams", "websockets"};  // by Kind
constexpr unsigned max_session = 60;            // seconds of processor time
constexpr std::uint64_t repeated_sessions = 8;  // one session in N is played again

// The text to print if a session crashes, prepared in advance.
char last_words[400];

void say_last_words() {
    const ssize_t written = ::write(STDERR_FILENO, last_words, std::strlen(last_words));
    static_cast<void>(written);
}

void die(int signo) {
    say_last_words();
    std::signal(signo, SIG_DFL);
    std::raise(signo);
}

void prepare_to_die() {
    for (const int signo : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGPROF}) std::signal(signo, die);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(say_last_words);
}

// Limits processor time, not real time, because the machine may be busy.
void limit_time(unsigned seconds) {
    itimerval limit{};
    limit.it_value.tv_sec = static_cast<time_t>(seconds);
    ::setitimer(ITIMER_PROF, &limit, nullptr);
}

class Simulator {
public:
    Simulator(Kind kind, std::string program) : kind_(kind), program_(std::move(program)) {
        if (!::mkdtemp(folder_)) std::perror("a folder for sockets");
        const Plan plan = make_plan(kind_, 0);
        play(plan);  // makes the permanent buffers and tables
        trace_ = {};
        // A WebSocket transport, or a stream over UDP, may take the buffer that all of them
        // share only later.
        max_blocks_ = blocks_in_use() + (kind_ == Kind::streams ? 0 : 1);
    }
    ~Simulator() { ::rmdir(folder_); }

    // Returns false if the session fails.
    bool check(std::uint64_t seed) {
        std::snprintf(last_words, sizeof last_words,
                      "simulate: seed %llu failed; alone: %s %s only %llu\n",
                      static_cast<unsigned long long>(seed), program_.c_str(),
                      names[static_cast<std::size_t>(kind_)],
                      static_cast<unsigned long long>(seed));
        const Plan plan = make_plan(kind_, seed);
        std::string fault = leaks(plan);
        if (fault.empty() && seed % repeated_sessions == 0) fault = differences(plan);
        limit_time(0);
        if (fault.empty()) return true;
        std::fprintf(stderr, "simulate: %s\n", fault.c_str());
        say_last_words();
        return false;
    }

    const std::string& trace() const { return trace_; }

    void print_totals() const {
        std::printf("%llu sessions, %llu turns, %zu messages\n",
                    static_cast<unsigned long long>(sessions_),
                    static_cast<unsigned long long>(turns_), messages_);
    }

private:
    std::string play(const Plan& plan) {
        limit_time(max_session);
        SimulatedSession session(plan, std::string(folder_) + "/socket");
        std::string fault = session.run();
        trace_ = session.trace();
        messages_ += session.counts().sent;
        turns_ += session.turns();
        ++sessions_;
        return fault;
    }

    std::string leaks(const Plan& plan) {
        const int descriptor = test::free_descriptor();
        if (std::string fault = play(plan); !fault.empty()) return fault;
        const std::string trace = trace_;
        trace_ = {};
        const std::size_t left =
            blocks_in_use() - (trace.capacity() > std::string().capacity());
        trace_ = trace;
        if (test::free_descriptor() != descriptor) return "a descriptor was left open";
        if (left > max_blocks_)
            return std::to_string(left - max_blocks_) + " blocks of memory were not given back";
        return {};
    }

    // Omits TCP, because its timing with full windows depends on real time.
    std::string differences(const Plan& plan) {
        if (plan.carrier == Carrier::tcp) return {};
        const std::string first = trace_;
        if (std::string fault = play(plan); !fault.empty()) return "the second time, " + fault;
        return first == trace_ ? "" : "the same seed did not do the same again";
    }

    Kind kind_;
    std::string program_;
    char folder_[32] = "/tmp/simulate.XXXXXX";
    std::string trace_;  // trace of the last session
    std::size_t max_blocks_ = 0;
    std::uint64_t sessions_ = 0;
    std::uint64_t turns_ = 0;
    std::size_t messages_ = 0;
};

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

}  // namespace
}  // namespace simulation

int main(int argc, char* argv[]) {
    using namespace simulation;
    const std::string_view kind_name = argc > 1 ? argv[1] : "";
    const auto found = std::find(names.begin(), names.end(), kind_name);
    if (argc > 4 || found == names.end()) {
        std::fputs(
            "usage: simulate streams|datagrams|websockets [SESSIONS [SEED] | only SEED]\n",
            stderr);
        return 2;
    }
    prepare_to_die();
    const bool only = argc > 2 && std::string_view(argv[2]) == "only";
    const std::uint64_t sessions = only ? 1 : argc > 2 ? number(argv[2]) : 10'000;
    const std::uint64_t seed = argc > 3 ? number(argv[3]) : 1;
    Simulator simulator(static_cast<Kind>(found - names.begin()), argv[0]);
    bool right = true;
    for (std::uint64_t i = 0; right && i < sessions; ++i) right = simulator.check(seed + i);
    if (only)
        std::fputs(simulator.trace().c_str(), stdout);
    else if (right)
        simulator.print_totals();
    return right ? 0 : 1;
}
