// Compares the event loop with a plain loop of epoll, by events through socket pairs, and
// measures its timers.
#include "ev/loop.hpp"
#include "tests/bench/by_hand.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>

using namespace std::chrono_literals;

namespace bench {

namespace {

using Readable = std::function<void(int fd)>;

class RawEpoll {
public:
    explicit RawEpoll(Readable readable)
        : readable_(std::move(readable)), epoll_(::epoll_create1(0)) {}
    ~RawEpoll() { ::close(epoll_); }
    RawEpoll(const RawEpoll&) = delete;
    RawEpoll& operator=(const RawEpoll&) = delete;

    void watch(int fd) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    }
    void turn() {
        epoll_event found[256];
        const int count = ::epoll_wait(epoll_, found, 256, -1);
        for (int i = 0; i < count; ++i) readable_(found[i].data.fd);
    }

private:
    Readable readable_;
    int epoll_;
};

class Ours {
public:
    explicit Ours(Readable readable) : readable_(std::move(readable)) {}

    void watch(int fd) {
        watches_.emplace_back(loop_, fd, ev::readable,
                              [this, fd](ev::Events) { readable_(fd); });
    }
    void turn() { loop_.step(); }

private:
    Readable readable_;
    ev::Loop loop_;
    std::vector<ev::Watch> watches_;
};

constexpr double slice = 5e6;  // nanoseconds of a contender in each round

// Calls `act` for at least this time. Returns the nanoseconds of a call.
double ns_per_call(double at_least, const std::function<void()>& act) {
    std::size_t calls = 0;
    const double start = cpu_ns();
    for (; cpu_ns() - start < at_least; calls += 16)
        for (int i = 0; i < 16; ++i) act();
    return (cpu_ns() - start) / static_cast<double>(calls);
}

struct Pair {
    Pair() { require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0); }
    ~Pair() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    void put() const { [[maybe_unused]] const auto count = ::write(ends[1], "x", 1); }
    int ends[2];
};

// Passes tokens around a ring of socket pairs: each event reads a token and writes it to the
// next pair.
class Ring {
public:
    Ring(std::size_t size, std::size_t tokens) {
        while (pairs_.size() < size) pairs_.push_back(std::make_unique<Pair>());
        for (std::size_t i = 0; i < size; ++i) {
            const auto fd = static_cast<std::size_t>(pairs_[i]->ends[0]);
            next_.resize(std::max(next_.size(), fd + 1));
            next_[fd] = pairs_[(i + 1) % size]->ends[1];
        }
        for (std::size_t i = 0; i < tokens; ++i) pairs_[i * size / tokens]->put();
    }

    template <class Loop>
    double ns_per_event() {
        std::size_t events = 0;
        Loop loop([&](int fd) {
            char byte;
            if (::read(fd, &byte, 1) != 1) return;
            [[maybe_unused]] const auto count =
                ::write(next_[static_cast<std::size_t>(fd)], &byte, 1);
            ++events;
        });
        for (const auto& pair : pairs_) loop.watch(pair->ends[0]);
        ns_per_call(slice / 5, [&] { loop.turn(); });  // lets it adapt to its load
        events = 0;
        const double start = cpu_ns();
        ns_per_call(slice, [&] { loop.turn(); });
        return (cpu_ns() - start) / static_cast<double>(events);
    }

private:
    std::vector<std::unique_ptr<Pair>> pairs_;
    std::vector<int> next_;  // the descriptor to write, by the descriptor read
};

// Uses timers from inside a callback, as programs do: a socket that is always readable triggers
// the callback in each turn.
class Timers {
public:
    explicit Timers(std::size_t count)
        : watch_(loop_, pair_.ends[0], ev::readable, [this](ev::Events) { act_(); }) {
        pair_.put();
        while (timers_.size() < count) timers_.emplace_back(loop_, [this] { ++fired_; });
        std::mt19937 random(2026);
        while (order_.size() < std::max<std::size_t>(count, 4096)) order_.push_back(random());
    }

    double ns_per_add_and_cancel() {
        double ns = 0;
        for (int times = 0; times < 2; ++times)  // the first time pays for memory
            in_callback([&] {
                ns = -cpu_ns();
                start_all(1000000us);
                for (ev::Timer& timer : timers_) timer.cancel();
                ns += cpu_ns();
            });
        return ns / static_cast<double>(timers_.size());
    }

    double ns_per_add_and_fire() {
        double ns = 0;
        for (int times = 0; times < 2; ++times) {  // the first time pays for memory
            fired_ = 0;
            in_callback([&] {
                ns = -cpu_ns();
                start_all(5000us);
                ns += cpu_ns();
            });
            const auto start = ev::Clock::now();
            while (ev::Clock::now() - start < 7ms) {
            }
            ns -= cpu_ns();
            while (fired_ < timers_.size()) loop_.step(0ns);
            ns += cpu_ns();
        }
        return ns / static_cast<double>(timers_.size());
    }

    double ns_per_restart(std::size_t each_turn) {
        in_callback([&] { start_all(1000000us); });
        const auto turn = [&] { loop_.step(0ns); };
        const double plain = ns_per_call(slice / 2, turn);
        std::size_t at = 0;
        act_ = [&] {
            for (std::size_t left = each_turn; left > 0; --left) {
                at = at + 1 < order_.size() ? at + 1 : 0;
                timers_[order_[at] % timers_.size()].start(60s);
            }
        };
        ns_per_call(slice / 10, turn);
        return std::max(0.0, ns_per_call(slice / 2, turn) - plain) /
               static_cast<double>(each_turn);
    }

private:
    void in_callback(std::function<void()> act) {
        act_ = std::move(act);
        loop_.step(0ns);
        act_ = [] {};
    }
    void start_all(std::chrono::microseconds limit) {
        for (std::size_t i = 0; i < timers_.size(); ++i)
            timers_[i].start(std::chrono::microseconds(order_[i]) % limit);
    }

    Pair pair_;
    ev::Loop loop_;
    std::function<void()> act_ = [] {};
    ev::Watch watch_;
    std::vector<ev::Timer> timers_;
    std::vector<std::size_t> order_;  // at random
    std::size_t fired_ = 0;
};

}  // namespace

void compare_events() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    Table table("events through N socket pairs, of which A are active (N/A)",
                {"raw epoll", "ev"});
    for (const std::size_t size : {2, 3, 10, 50, 100, 1000, 5000})
        for (const std::size_t tokens : {std::size_t{1}, std::size_t{10}, size}) {
            if (size > limit.rlim_cur / 2 - 32 || tokens > size) continue;
            if (tokens == 10 && size == 10) continue;
            Ring ring(size, tokens);
            table.add(std::to_string(size) + "/" + std::to_string(tokens), rounds(9),
                      [&](std::size_t i) {
                          return i == 0 ? ring.ns_per_event<RawEpoll>()
                                        : ring.ns_per_event<Ours>();
                      });
        }
    table.print();
}

void measure_timers() {
    Table table(
        "timers: add and cancel 10 000; add and fire 10 000; R restarts a turn among T (T/R)",
        {"ev"});
    const auto add = [&](const std::string& load, std::size_t count, auto measure) {
        table.add(load, rounds(9), [&](std::size_t) {
            Timers timers(count);
            return measure(timers);
        });
    };
    add("cancel", 10'000, [](Timers& timers) { return timers.ns_per_add_and_cancel(); });
    add("fire", 10'000, [](Timers& timers) { return timers.ns_per_add_and_fire(); });
    for (const std::size_t count : {10, 100, 10'000, 100'000})
        for (const std::size_t each_turn : {1, 10, 100})
            add(std::to_string(count) + "/" + std::to_string(each_turn), count,
                [&](Timers& timers) { return timers.ns_per_restart(each_turn); });
    table.print();
}

}  // namespace bench
