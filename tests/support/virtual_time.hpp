// A loop in virtual time. Instead of sleeping, it moves its clock to the end of the sleep.
// Hours pass in no time, and nothing depends on the load of the machine.
#pragma once

#include "ev/loop.hpp"
#include "tests/support/catch.hpp"

namespace test {

class VirtualLoop : public ev::Loop {
public:
    VirtualLoop() : Loop([] { return time; }, std::make_unique<Waiter>()) { time = start; }

    // Advances time by `duration`, serving ready descriptors and then the due timers.
    void pass(ev::Duration duration) {
        const ev::Time end = time + duration;
        while (time < end)
            if (!step(end - time)) time = end;  // nothing is left to wait for
        settle();
    }
    // Serves ready descriptors, repeatedly, without advancing time.
    void settle() {
        do {
            found_any = false;  // without anything to wait for, step() asks no backend
            step(ev::Duration::zero());
        } while (found_any);
    }
    // Runs turns until the condition holds. A limit in real time turns a hang into a failure.
    // Time advances by `turn` in each turn, for peers that never let the loop wait.
    void until(const std::function<bool()>& condition, ev::Duration turn = {}) {
        const ev::Time limit = ev::Clock::now() + std::chrono::seconds(20);
        while (!condition()) {
            REQUIRE(ev::Clock::now() < limit);
            time += turn;
            step();
        }
    }

    static constexpr ev::Time start{std::chrono::hours(1)};
    static inline ev::Time time;  // shared by all such loops

private:
    static inline bool found_any = false;  // in the last wait

    // Gives the system a moment of real time to deliver sent bytes, because the machine may be
    // busy. A wait without a timeout does not move the clock. The next turn polls again.
    struct Waiter final : ev::Backend {
        void wait(ev::Duration max_wait, std::vector<ev::Readiness>& ready) override {
            Backend::wait(std::chrono::milliseconds(2), ready);
            found_any = !ready.empty();
            const bool has_timeout = max_wait > max_wait.zero() && max_wait != max_wait.max();
            if (!found_any && has_timeout) time += max_wait;
        }
    };
};

inline void turn_until(VirtualLoop& loop, const std::function<bool()>& condition) {
    loop.until(condition);
}

}  // namespace test
