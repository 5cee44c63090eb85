// A loop in virtual time: where it would sleep, its clock moves to the end of the sleep
// instead. Hours pass in no time, and nothing depends on how busy the machine is.
#pragma once

#include "ev/loop.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace test {

class VirtualLoop : public ev::Loop {
public:
    VirtualLoop() : Loop([] { return time; }, std::make_unique<Waiter>()) { time = start; }

    // Lets time go by and serves what comes due meanwhile, after what is ready.
    void pass(ev::Duration duration) {
        const ev::Time end = time + duration;
        while (time < end)
            if (!step(end - time)) time = end;  // nothing is left to wait for
        settle();
    }
    // Serves what is ready, and what that makes ready, without letting time go by.
    void settle() {
        do step(ev::Duration::zero());
        while (found_any);
    }
    // Turns until the condition holds; a time limit, in real time, makes a hang a failure. Time
    // moves by `turn` in each turn, for peers that never leave anything to wait for.
    void until(const std::function<bool()>& condition, ev::Duration turn = {}) {
        const ev::Time limit = ev::Clock::now() + std::chrono::seconds(20);
        while (!condition()) {
            REQUIRE(ev::Clock::now() < limit);
            time += turn;
            step();
        }
    }

    static constexpr ev::Time start{std::chrono::hours(1)};
    static inline ev::Time time;  // of the only such loop, or of all of them

private:
    static inline bool found_any = false;  // in the last wait

    // The system gets a moment of real time to deliver what was sent: a busy machine may take
    // it. A wait without limit has no end to move to, and looks again.
    struct Waiter final : ev::Backend {
        void wait(ev::Duration longest, std::vector<ev::Readiness>& ready) override {
            Backend::wait(std::chrono::milliseconds(2), ready);
            found_any = !ready.empty();
            if (!found_any && longest != longest.max()) time += longest;
        }
    };
};

inline void turn_until(VirtualLoop& loop, const std::function<bool()>& condition) {
    loop.until(condition);
}

}  // namespace test
