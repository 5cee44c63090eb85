// Shared by the tests of the loop: pipes, and a manual clock.
#pragma once

#include "ev/fd.hpp"
#include "ev/loop.hpp"
#include "tests/support/descriptors.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using test::DescriptorLimit;
using test::open_descriptors;

struct Fd : ev::Fd {
    using ev::Fd::Fd;
    operator int() const { return get(); }
    void close() { reset(); }
};

// Two connected non-blocking descriptors: bytes written to `in` are read from `out`.
struct Channel {
    Channel(int first, int second) : out(first), in(second) {
        for (const int end : {first, second}) ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
    void put() { [[maybe_unused]] const auto count = ::write(in, "x", 1); }
    bool take() {
        char byte;
        return ::read(out, &byte, 1) == 1;
    }
    void fill() {
        char bytes[4096]{};
        while (::write(in, bytes, sizeof bytes) > 0) {
        }
    }
    Fd out, in;
};

inline Channel make_pipe() {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    return {ends[0], ends[1]};
}

inline Channel make_socketpair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    return {ends[0], ends[1]};
}

// Each wait reports an error for the latest registration.
class BrokenBackend final : public ev::Backend {
public:
    void wait(ev::Duration, std::vector<ev::Readiness>& ready) override {
        ready.push_back({registrations_.back(), ev::error});
    }
};

// Returns the names of all backends. In the tests of the core alone, each name means poll.
inline std::vector<std::string> backends() {
    std::vector<std::string> names{"auto", "poll", "select", "epoll"};
    try {
        ev::make_backend("epoll");
    } catch (const std::invalid_argument&) {
        names.pop_back();  // the system lacks epoll
    }
    return names;
}

// A loop whose clock the test moves. turn() does not wait.
struct FakeLoop : ev::Loop {
    explicit FakeLoop(const std::string& backend = {})
        : Loop([] { return time; }, ev::make_backend(backend)) {
        time = ev::Time{} + std::chrono::hours(1000);
    }
    bool turn() { return step(ev::Duration::zero()); }
    bool turn_after(ev::Duration duration) {
        time += duration;
        return turn();
    }
    static inline ev::Time time;
};

// Delegates to the default backend, and records the waits.
class WaitRecorder final : public ev::Backend {
public:
    struct Log {
        std::vector<ev::Duration> max_waits;  // one entry per wait
        std::function<void(ev::Duration)> before = [](ev::Duration) {};
        bool polls_find_nothing = false;
    };
    explicit WaitRecorder(Log& log) : log_(log) {}
    void set(ev::Registration& registration, ev::Events interest) override {
        inner_->set(registration, interest);
    }
    void wait(ev::Duration max_wait, std::vector<ev::Readiness>& ready) override {
        log_.max_waits.push_back(max_wait);
        log_.before(max_wait);
        if (max_wait > ev::Duration::zero() || !log_.polls_find_nothing)
            inner_->wait(max_wait, ready);
    }

private:
    Log& log_;
    const std::unique_ptr<ev::Backend> inner_ = ev::make_backend({});
};

// A loop whose clock advances by one microsecond with each reading. Its waits are recorded.
struct TickingLoop : ev::Loop {
    TickingLoop() : TickingLoop(std::make_shared<WaitRecorder::Log>()) {}
    const std::vector<ev::Duration>& waits() const { return log->max_waits; }
    const std::shared_ptr<WaitRecorder::Log> log;
    static inline ev::Time time;
    static inline int clock_reads;

private:
    explicit TickingLoop(const std::shared_ptr<WaitRecorder::Log>& recorded)
        : Loop(tick, std::make_unique<WaitRecorder>(*recorded)), log(recorded) {
        time = ev::Time{} + std::chrono::hours(1000);
        clock_reads = 0;
    }
    static ev::Time tick() {
        ++clock_reads;
        time += std::chrono::microseconds(1);
        return time;
    }
};
