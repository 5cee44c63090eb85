#include "ev/backends/backends.hpp"

#include <algorithm>
#include <utility>

namespace ev {

namespace {

class SpinBackend final : public Backend {
public:
    SpinBackend(std::unique_ptr<Backend> inner, ReadClock clock)
        : inner_(std::move(inner)), clock_(clock) {}

    void set(Registration& registration, Events interest) override {
        inner_->set(registration, interest);
    }
    void set_busy(bool busy) override { polls_always_ = busy; }

    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        if (max_wait <= max_wait.zero()) return inner_->wait(max_wait, ready);
        if (polls_always_) return poll_for(max_wait, ready);
        if (last_turn_had_events_ && ++turns_since_poll_ >= interval_) {
            const bool found = poll_once(ready);
            turns_since_poll_ = 0;
            interval_ = found ? 1 : std::min(2 * interval_, 16U);
            if (found) return;
        }
        inner_->wait(max_wait, ready);
        last_turn_had_events_ = !ready.empty();
    }

private:
    bool poll_once(std::vector<Readiness>& ready) {
        inner_->wait(Duration::zero(), ready);
        return !ready.empty();
    }

    void poll_for(Duration max_wait, std::vector<Readiness>& ready) {
        const Time start = clock_();
        while (!poll_once(ready) &&
               (max_wait == max_wait.max() || clock_() - start < max_wait)) {
        }
    }

    const std::unique_ptr<Backend> inner_;
    const ReadClock clock_;
    bool polls_always_ = false;

    // After a turn with events, the next event is often ready already or soon. Polling without
    // sleeping then saves the kernel from adding and removing a wait-queue hook for every
    // descriptor. Polls that find nothing become rarer, so that they do not slow ping-pong
    // traffic.
    bool last_turn_had_events_ = false;
    unsigned interval_ = 1;  // turns with events per poll
    unsigned turns_since_poll_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_spin_backend(std::unique_ptr<Backend> inner, ReadClock clock) {
    return std::make_unique<SpinBackend>(std::move(inner), clock);
}

}  // namespace ev
