#include "ev/backends/backends.hpp"

#include <algorithm>
#include <utility>

namespace ev {

namespace {

// After a turn with events, the next event is often ready already. Looking without sleeping
// then saves the kernel from adding and removing a wait-queue hook for every descriptor. Looks
// that find nothing become rarer, so that they do not slow ping-pong traffic.
class LookBackend final : public Backend {
public:
    explicit LookBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

    void set(Registration& registration, Events interest) override {
        inner_->set(registration, interest);
    }

    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        if (max_wait <= max_wait.zero()) return inner_->wait(max_wait, ready);
        if (last_turn_had_events_ && ++turns_since_look_ >= interval_) {
            inner_->wait(Duration::zero(), ready);
            turns_since_look_ = 0;
            interval_ = ready.empty() ? std::min(2 * interval_, 16U) : 1;
            if (!ready.empty()) return;
        }
        inner_->wait(max_wait, ready);
        last_turn_had_events_ = !ready.empty();
    }

private:
    const std::unique_ptr<Backend> inner_;
    bool last_turn_had_events_ = false;
    unsigned interval_ = 1;  // turns with events per look
    unsigned turns_since_look_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_look_backend(std::unique_ptr<Backend> inner) {
    return std::make_unique<LookBackend>(std::move(inner));
}

}  // namespace ev
