#include "tests/bench/ev_contender.hpp"

#ifdef HAVE_LIBUV
#    include <uv.h>

#    include <deque>

namespace {

class Libuv final : public Contender {
public:
    explicit Libuv(Work& work) : work_(work) { uv_loop_init(&loop_); }
    ~Libuv() override {
        for (Watch& watch : watches_) uv_close(reinterpret_cast<uv_handle_t*>(&watch), nullptr);
        for (uv_timer_t& timer : timers_)
            uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    void watch(int fd) override {
        Watch& watch = watches_.emplace_back();
        watch.fd = fd;
        watch.data = &work_;
        uv_poll_init(&loop_, &watch, fd);
        uv_poll_start(&watch, UV_READABLE, readable);
    }
    void turn(bool may_wait) override {
        uv_run(&loop_, may_wait ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    }
    void make_timers(std::size_t count) override {
        while (timers_.size() < count) {
            uv_timer_t& timer = timers_.emplace_back();
            uv_timer_init(&loop_, &timer);
            timer.data = &work_;
        }
    }
    // libuv counts in milliseconds.
    void start(std::size_t timer, std::chrono::microseconds delay) override {
        uv_timer_start(&timers_[timer], fired, static_cast<std::uint64_t>(delay.count() / 1000),
                       0);
    }
    void restart(std::size_t timer, std::chrono::microseconds delay) override {
        start(timer, delay);
    }
    void stop(std::size_t timer) override { uv_timer_stop(&timers_[timer]); }

private:
    struct Watch : uv_poll_t {
        int fd;
    };
    static void readable(uv_poll_t* watch, int, int) {
        static_cast<Work*>(watch->data)->readable(static_cast<Watch*>(watch)->fd);
    }
    static void fired(uv_timer_t* timer) { static_cast<Work*>(timer->data)->fired(); }

    Work& work_;
    uv_loop_t loop_;
    std::deque<Watch> watches_;
    std::deque<uv_timer_t> timers_;
};

std::unique_ptr<Contender> enter(Work& work) { return std::make_unique<Libuv>(work); }

}  // namespace

void add_libuv(std::vector<Entrant>& entrants) { entrants.push_back({"libuv", enter}); }

#else
#    include <cstdio>

void add_libuv(std::vector<Entrant>&) { std::puts("left out, not installed: libuv"); }
#endif
