#include "tests/bench/ev_contender.hpp"

#ifdef HAVE_LIBEVENT
#    include <event2/event.h>

#    include <cstring>

namespace {

// libevent's configuration can only exclude methods.
event_base* make_base(const char* method) {
    event_config* const config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    for (const char** each = event_get_supported_methods(); *each; ++each)
        if (std::strcmp(*each, method) != 0) event_config_avoid_method(config, *each);
    event_base* const base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

class Libevent : public Contender {
public:
    Libevent(Work& work, const char* method) : work_(work), base_(make_base(method)) {}
    ~Libevent() override {
        for (event* each : watches_) event_free(each);
        for (event* each : timers_) event_free(each);
        event_base_free(base_);
    }

    void watch(int fd) override {
        watches_.push_back(event_new(base_, fd, EV_READ | EV_PERSIST, readable, &work_));
        event_add(watches_.back(), nullptr);
    }
    void turn(bool may_wait) override {
        event_base_loop(base_, EVLOOP_ONCE | (may_wait ? 0 : EVLOOP_NONBLOCK));
    }
    void make_timers(std::size_t count) override {
        while (timers_.size() < count)
            timers_.push_back(event_new(base_, -1, 0, fired, &work_));
    }
    void start(std::size_t timer, std::chrono::microseconds delay) override {
        const timeval time{delay.count() / 1000000, delay.count() % 1000000};
        event_add(timers_[timer], &time);
    }
    void restart(std::size_t timer, std::chrono::microseconds delay) override {
        start(timer, delay);
    }
    void stop(std::size_t timer) override { event_del(timers_[timer]); }

private:
    static void readable(int fd, short, void* work) { static_cast<Work*>(work)->readable(fd); }
    static void fired(int, short, void* work) { static_cast<Work*>(work)->fired(); }

    Work& work_;
    event_base* base_;
    std::vector<event*> watches_, timers_;
};

struct LibeventPoll : Libevent {
    explicit LibeventPoll(Work& work) : Libevent(work, "poll") {}
};

struct LibeventEpoll : Libevent {
    explicit LibeventEpoll(Work& work) : Libevent(work, "epoll") {}
};

template <class Kind>
std::unique_ptr<Contender> enter(Work& work) {
    return std::make_unique<Kind>(work);
}

}  // namespace

void add_libevent(std::vector<Entrant>& entrants) {
    entrants.push_back({"libevent poll", enter<LibeventPoll>});
    entrants.push_back({"libevent epoll", enter<LibeventEpoll>});
}

#else
#    include <cstdio>

void add_libevent(std::vector<Entrant>&) { std::puts("left out, not installed: libevent"); }
#endif
