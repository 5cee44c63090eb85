#include "ev/loop.hpp"
#include "tests/bench/ev_contender.hpp"

namespace {

class Ours : public Contender {
public:
    Ours(Work& work, const char* backend) : work_(work), loop_(ev::Clock::now, backend) {}

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

struct OursChosen : Ours {
    explicit OursChosen(Work& work) : Ours(work, "") {}
};

struct OursPoll : Ours {
    explicit OursPoll(Work& work) : Ours(work, "poll") {}
};

struct OursEpoll : Ours {
    explicit OursEpoll(Work& work) : Ours(work, "epoll") {}
};

template <class Kind>
struct WithTimer : Kind {
    explicit WithTimer(Work& work) : Kind(work) {
        Kind::make_timers(1);
        Kind::start(0, std::chrono::hours(1));
    }
};

}  // namespace

void add_ours(std::vector<Entrant>& entrants) {
    entrants.push_back({"ev, as it chooses", enter<OursChosen>});
    entrants.push_back({"ev poll", enter<OursPoll>});
#ifdef __linux__
    entrants.push_back({"ev epoll", enter<OursEpoll>});
#endif
    entrants.push_back({"ev, as it chooses, timer", enter<WithTimer<OursChosen>>});
    entrants.push_back({"ev poll, timer", enter<WithTimer<OursPoll>>});
#ifdef __linux__
    entrants.push_back({"ev epoll, timer", enter<WithTimer<OursEpoll>>});
#endif
}
