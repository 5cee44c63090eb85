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
    void set_busy(bool busy) override { busy_ = busy; }

    void wait(Duration longest, std::vector<Readiness>& ready) override {
        if (longest <= longest.zero()) return inner_->wait(longest, ready);
        if (busy_) return poll_for(longest, ready);
        if (last_turn_busy_ && ++turns_since_poll_ >= interval_) {
            const bool found = poll_once(ready);
            turns_since_poll_ = 0;
            interval_ = found ? 1 : std::min(2 * interval_, 16U);
            if (found) return;
        }
        inner_->wait(longest, ready);
        last_turn_busy_ = !ready.empty();
    }

private:
    bool poll_once(std::vector<Readiness>& ready) {
        inner_->wait(Duration::zero(), ready);
        return !ready.empty();
    }

    void poll_for(Duration longest, std::vector<Readiness>& ready) {
        const Time start = clock_();
        while (!poll_once(ready) && (longest == longest.max() || clock_() - start < longest)) {
        }
    }

    const std::unique_ptr<Backend> inner_;
    const ReadClock clock_;
    bool busy_ = false;

    // After a busy turn the next event is often ready already or soon. Polling without sleeping
    // then saves the kernel from adding and removing a wait-queue hook for every descriptor.
    // Polls that find nothing become rarer, so that they do not slow ping-pong traffic.
    bool last_turn_busy_ = false;
    unsigned interval_ = 1;  // busy turns between two polls
    unsigned turns_since_poll_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_spin_backend(std::unique_ptr<Backend> inner, ReadClock clock) {
    return std::make_unique<SpinBackend>(std::move(inner), clock);
}

}  // namespace ev
