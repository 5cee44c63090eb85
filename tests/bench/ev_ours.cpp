#include "ev/loop.hpp"
#include "tests/bench/ev_contender.hpp"

namespace {

class Ours final : public Contender {
public:
    explicit Ours(Work& work) : work_(work) {}

    void watch(int fd) override {
        watches_.emplace_back(loop_, fd, ev::readable,
                              [this, fd](ev::Events) { work_.readable(fd); });
    }
    void turn(bool may_wait) override {
        loop_.step(may_wait ? ev::Duration::max() : ev::Duration::zero());
    }
    void make_timers(std::size_t count) override {
        while (timers_.size() < count) timers_.emplace_back(loop_, [this] { work_.fired(); });
    }
    void start(std::size_t timer, std::chrono::microseconds delay) override {
        timers_[timer].start(delay);
    }
    void restart(std::size_t timer, std::chrono::microseconds delay) override {
        timers_[timer].start(delay);
    }
    void stop(std::size_t timer) override { timers_[timer].cancel(); }

private:
    Work& work_;
    ev::Loop loop_;
    std::vector<ev::Watch> watches_;
    std::vector<ev::Timer> timers_;
};

}  // namespace

void add_ours(std::vector<Entrant>& entrants) { entrants.push_back({"ev", enter<Ours>}); }
