// The interface of the compared event loops.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

// The work for the loops.
struct Work {
    virtual ~Work() = default;
    virtual void readable(int fd) = 0;
    virtual void fired() {}
};

struct Contender {
    virtual ~Contender() = default;
    virtual void watch(int fd) = 0;
    virtual void turn(bool may_wait) = 0;

    virtual void make_timers(std::size_t) {}
    virtual void start(std::size_t, std::chrono::microseconds) {}  // the timer is not pending
    virtual void restart(std::size_t timer, std::chrono::microseconds delay) {
        stop(timer);
        start(timer, delay);
    }
    virtual void stop(std::size_t) {}
};

struct Entrant {
    std::string name;
    std::unique_ptr<Contender> (*enter)(Work& work);
};

template <class Kind>
std::unique_ptr<Contender> enter(Work& work) {
    return std::make_unique<Kind>(work);
}

// Prints a note if the library is not installed.
void add_libev(std::vector<Entrant>& entrants);
