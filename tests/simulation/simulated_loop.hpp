// A loop in simulated time. Instead of sleeping, it moves its clock to the end of the sleep,
// so that hours pass in no time. A seed decides what varies between systems: the order of ready
// descriptors, the lateness of sleeps, and the time that code takes.
#pragma once

#include "ev/loop.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace simulation {

struct Machine {
    std::uint64_t seed = 0;
    ev::Duration oversleep{};  // maximum lateness of a sleep
    ev::Duration reading{};    // time that each reading of the clock takes
    bool shuffles = false;     // reports ready descriptors in any order
};

// Sockets must deliver immediately, as unix-domain and loopback sockets do, because a wait
// takes no real time.
class SimulatedLoop : public ev::Loop {
public:
    explicit SimulatedLoop(const Machine& machine)
        : Loop(read_time, std::make_unique<Waiter>(machine)) {
        time = start;
        reading = machine.reading;
        slept = {};
    }

    ev::Duration elapsed() const { return time - start; }
    // The part of elapsed() without sleep.
    ev::Duration busy() const { return elapsed() - slept; }

    static constexpr ev::Time start{std::chrono::hours(1)};
    static inline ev::Time time;  // there is one loop at a time

private:
    static ev::Time read_time() { return time += reading; }
    static inline ev::Duration reading{};
    static inline ev::Duration slept{};

    class Waiter final : public ev::Backend {
    public:
        explicit Waiter(const Machine& machine) : machine_(machine), random_(machine.seed) {}

        void wait(ev::Duration max_wait, std::vector<ev::Readiness>& ready) override {
            Backend::wait(ev::Duration::zero(), ready);
            if (machine_.shuffles) shuffle(ready);
            if (ready.empty() && max_wait != max_wait.max() && max_wait > max_wait.zero())
                sleep(max_wait + lateness());
        }

    private:
        static void sleep(ev::Duration duration) {
            time += duration;
            slept += duration;
        }
        void shuffle(std::vector<ev::Readiness>& ready) {
            for (std::size_t left = ready.size(); left > 1; --left)
                std::swap(ready[left - 1], ready[random_.index(left)]);
        }
        // Returns 0 for most sleeps.
        ev::Duration lateness() {
            if (machine_.oversleep == ev::Duration::zero() || random_.next() % 8 > 0) return {};
            return std::chrono::duration_cast<ev::Duration>(machine_.oversleep *
                                                            random_.fraction());
        }

        Machine machine_;
        test::Random random_;
    };
};

}  // namespace simulation
