// Compares the event loop with others: events through socket pairs, and timers.
// usage: bench_ev [dispatch] [timers], all by default

#include "ev/loop.hpp"
#include "tests/bench/ev_contender.hpp"
#include "tests/bench/measure.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace std::chrono_literals;
using bench::Table;
using Sizes = std::vector<std::size_t>;
using SteadyClock = std::chrono::steady_clock;

namespace {

class RawEpoll final : public Contender {
public:
    explicit RawEpoll(Work& work) : work_(work), epoll_(::epoll_create1(0)) {}
    ~RawEpoll() override { ::close(epoll_); }
    void watch(int fd) override {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    }
    void turn(bool may_wait) override {
        epoll_event found[256];
        const int count = ::epoll_wait(epoll_, found, 256, may_wait ? -1 : 0);
        for (int i = 0; i < count; ++i) work_.readable(found[i].data.fd);
    }

private:
    Work& work_;
    int epoll_;
};

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

constexpr double slice = 5e6;  // nanoseconds of a contender in each round

// Lets a loop adapt to its load before it is measured.
void warm_up(Contender& loop) {
    const double start = bench::cpu_ns();
    do {
        for (int turns = 0; turns < 16; ++turns) loop.turn(true);
    } while (bench::cpu_ns() - start < slice / 5);
}

struct Pair {
    Pair() {
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) std::abort();
    }
    ~Pair() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    void put() const { [[maybe_unused]] const auto count = ::write(ends[1], "x", 1); }
    int ends[2];
};

std::vector<std::unique_ptr<Pair>> make_pairs(std::size_t count) {
    std::vector<std::unique_ptr<Pair>> pairs;
    while (pairs.size() < count) pairs.push_back(std::make_unique<Pair>());
    return pairs;
}

// Passes tokens around a ring of socket pairs: each event reads a token and writes it to the
// next pair.
class Ring final : public Work {
public:
    Ring(std::size_t size, std::size_t tokens) : pairs_(make_pairs(size)) {
        for (std::size_t i = 0; i < size; ++i) {
            const auto fd = static_cast<std::size_t>(pairs_[i]->ends[0]);
            next_.resize(std::max(next_.size(), fd + 1));
            next_[fd] = pairs_[(i + 1) % size]->ends[1];
        }
        for (std::size_t i = 0; i < tokens; ++i) pairs_[i * size / tokens]->put();
    }

    void readable(int fd) override {
        char byte;
        if (::read(fd, &byte, 1) != 1) return;
        [[maybe_unused]] const auto count =
            ::write(next_[static_cast<std::size_t>(fd)], &byte, 1);
        ++events_;
    }

    double ns_per_event(const Entrant& entrant) {
        const auto loop = entrant.enter(*this);
        for (const auto& pair : pairs_) loop->watch(pair->ends[0]);
        warm_up(*loop);
        events_ = 0;
        const double start = bench::cpu_ns();
        do {
            for (int turns = 0; turns < 16; ++turns) loop->turn(true);
        } while (bench::cpu_ns() - start < slice);
        return (bench::cpu_ns() - start) / static_cast<double>(events_);
    }

private:
    std::vector<std::unique_ptr<Pair>> pairs_;
    std::vector<int> next_;  // the descriptor to write, by the descriptor read
    std::size_t events_ = 0;
};

// Uses timers from inside a callback, as programs do: a socket that is always readable triggers
// the callback in each turn.
class Timers final : public Work {
public:
    Timers(const Entrant& entrant, std::size_t count) : loop_(entrant.enter(*this)) {
        pair_.put();
        loop_->watch(pair_.ends[0]);
        loop_->make_timers(count);
        std::mt19937 random(2026);
        while (order_.size() < std::max<std::size_t>(count, 4096)) order_.push_back(random());
        timers_.resize(count);
        std::iota(timers_.begin(), timers_.end(), std::size_t{0});
    }

    void readable(int) override { act_(); }
    void fired() override { ++fired_; }

    double ns_per_add_and_cancel() {
        double ns = 0;
        const auto add_and_cancel = [&] {
            ns = -bench::cpu_ns();
            for (const std::size_t timer : timers_) loop_->start(timer, delay(timer, 1000000));
            for (const std::size_t timer : timers_) loop_->stop(timer);
            ns += bench::cpu_ns();
        };
        in_callback(add_and_cancel);  // the first time pays for memory
        in_callback(add_and_cancel);
        return ns / count();
    }

    double ns_per_add_and_fire() {
        add_and_fire();  // the first time pays for memory
        return add_and_fire();
    }

    double ns_per_restart(std::size_t each_turn) {
        in_callback([&] {
            for (const std::size_t timer : timers_) loop_->restart(timer, 60s);
        });
        const double plain = ns_per_turn([] {});
        std::size_t at = 0;
        const double all = ns_per_turn([&] {
            for (std::size_t left = each_turn; left > 0; --left) {
                at = at + 1 < order_.size() ? at + 1 : 0;
                loop_->restart(order_[at] % timers_.size(), 60s);
            }
        });
        return std::max(0.0, all - plain) / static_cast<double>(each_turn);
    }

private:
    double add_and_fire() {
        double ns = 0;
        fired_ = 0;
        in_callback([&] {
            ns -= bench::cpu_ns();
            for (const std::size_t timer : timers_) loop_->start(timer, delay(timer, 5000));
            ns += bench::cpu_ns();
        });
        for (const auto start = SteadyClock::now(); SteadyClock::now() - start < 7ms;) {
        }
        ns -= bench::cpu_ns();
        while (fired_ < timers_.size()) loop_->turn(false);
        return (ns + bench::cpu_ns()) / count();
    }

    void in_callback(std::function<void()> act) {
        act_ = std::move(act);
        loop_->turn(false);
        act_ = [] {};
    }

    double ns_per_turn(std::function<void()> act) {
        act_ = std::move(act);
        for (int turns = 0; turns < 100; ++turns) loop_->turn(false);
        std::size_t turns = 0;
        const double start = bench::cpu_ns();
        for (; bench::cpu_ns() - start < slice / 2; turns += 64)
            for (int i = 0; i < 64; ++i) loop_->turn(false);
        const double ns = bench::cpu_ns() - start;
        act_ = [] {};
        return ns / static_cast<double>(turns);
    }

    std::chrono::microseconds delay(std::size_t timer, std::size_t limit) const {
        return std::chrono::microseconds(order_[timer] % limit);
    }
    double count() const { return static_cast<double>(timers_.size()); }

    Pair pair_;
    std::unique_ptr<Contender> loop_;
    std::function<void()> act_ = [] {};
    std::vector<std::size_t> timers_;  // in order
    std::vector<std::size_t> order_;   // at random
    std::size_t fired_ = 0;
};

std::vector<std::string> names(const std::vector<Entrant>& entrants) {
    std::vector<std::string> names;
    for (const Entrant& entrant : entrants) names.push_back(entrant.name);
    return names;
}

std::size_t max_pairs() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur / 2 - 32;
}

void measure_dispatch(const std::vector<Entrant>& entrants) {
    Table table("events through N socket pairs, of which A are active (N/A)", names(entrants));
    const std::size_t max = max_pairs();
    for (const std::size_t size : Sizes{2, 3, 10, 50, 100, 1000, 5000})
        for (const std::size_t tokens : {std::size_t{1}, std::size_t{10}, size}) {
            if (size > max || tokens > size || (tokens == 10 && size == 10)) continue;
            Ring ring(size, tokens);
            table.add(std::to_string(size) + "/" + std::to_string(tokens), bench::rounds(9),
                      [&](std::size_t i) { return ring.ns_per_event(entrants[i]); });
        }
    table.print();
}

void measure_timers(const std::vector<Entrant>& entrants) {
    Table table(
        "timers: add and cancel 10 000; add and fire 10 000; R restarts a turn among T (T/R)",
        names(entrants));
    const int rounds = bench::rounds(9);
    table.add("cancel", rounds, [&](std::size_t i) {
        return Timers(entrants[i], 10'000).ns_per_add_and_cancel();
    });
    table.add("fire", rounds,
              [&](std::size_t i) { return Timers(entrants[i], 10'000).ns_per_add_and_fire(); });
    for (const std::size_t count : Sizes{10, 100, 10'000, 100'000})
        for (const std::size_t each_turn : Sizes{1, 10, 100})
            table.add(std::to_string(count) + "/" + std::to_string(each_turn), rounds,
                      [&](std::size_t i) {
                          return Timers(entrants[i], count).ns_per_restart(each_turn);
                      });
    table.print();
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> parts(argv + 1, argv + argc);
    const auto asked = [&](const char* part) {
        return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
    };
    bench::begin("event loops: the first row in nanoseconds, the others as ratios to it");
    std::vector<Entrant> entrants{{"raw epoll", enter<RawEpoll>}, {"ev", enter<Ours>}};
    add_libev(entrants);

    if (asked("dispatch")) measure_dispatch(entrants);
    entrants.erase(entrants.begin());  // raw epoll has no timers
    if (asked("timers")) measure_timers(entrants);
}
