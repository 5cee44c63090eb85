#include "tests/bench/ev_contender.hpp"

#ifdef HAVE_LIBEV
#    include <ev.h>

#    include <deque>

namespace {

class Libev final : public Contender {
public:
    explicit Libev(Work& work) : work_(work), loop_(ev_loop_new(EVBACKEND_EPOLL)) {}
    ~Libev() override {
        for (ev_io& watch : watches_) ev_io_stop(loop_, &watch);
        for (ev_timer& timer : timers_) ev_timer_stop(loop_, &timer);
        ev_loop_destroy(loop_);
    }

    void watch(int fd) override {
        ev_io& watch = watches_.emplace_back();
        ev_io_init(&watch, readable, fd, EV_READ);
        watch.data = &work_;
        ev_io_start(loop_, &watch);
    }
    void turn(bool may_wait) override { ev_run(loop_, may_wait ? EVRUN_ONCE : EVRUN_NOWAIT); }
    void make_timers(std::size_t count) override {
        while (timers_.size() < count) {
            ev_timer& timer = timers_.emplace_back();
            ev_timer_init(&timer, fired, 0., 0.);
            timer.data = &work_;
        }
    }
    void start(std::size_t timer, std::chrono::microseconds delay) override {
        ev_timer_set(&timers_[timer], std::chrono::duration<double>(delay).count(), 0.);
        ev_timer_start(loop_, &timers_[timer]);
    }
    void stop(std::size_t timer) override { ev_timer_stop(loop_, &timers_[timer]); }

private:
    static void readable(struct ev_loop*, ev_io* watch, int) {
        static_cast<Work*>(watch->data)->readable(watch->fd);
    }
    static void fired(struct ev_loop*, ev_timer* timer, int) {
        static_cast<Work*>(timer->data)->fired();
    }

    Work& work_;
    struct ev_loop* loop_;
    std::deque<ev_io> watches_;
    std::deque<ev_timer> timers_;
};

}  // namespace

void add_libev(std::vector<Entrant>& entrants) { entrants.push_back({"libev", enter<Libev>}); }

#else
#    include <cstdio>

void add_libev(std::vector<Entrant>&) { std::puts("left out, not installed: libev"); }
#endif
