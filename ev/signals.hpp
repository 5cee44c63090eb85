// Signals on their way from the handler to the loop.
#pragma once

#include "ev/backend.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>

namespace ev {

// The signals of one loop. The handler notes the number in a set, and writes a byte to a pipe
// that ends the loop's wait. The set, not the bytes, carries the signals, so that a flood of
// one can't displace another.
class Signals {
public:
    struct Pipe;
    struct Subscription {
        int signo = 0;
        std::function<void()> callback = nullptr;
        Signals* owner = nullptr;
        std::shared_ptr<Pipe> pipe = nullptr;  // shared by the subscriptions of a loop
        struct sigaction before = {};          // the disposition to restore
    };

    explicit Signals(Backend& backend) : backend_(backend) {}

    // Throws std::system_error (EBUSY: the process has a subscription of this number), and then
    // nothing has changed.
    void begin(Subscription& subscription);
    void end(const Subscription& subscription);  // which may be freed when no turn can call it
    bool raised() const { return raised_ != 0; }
    void deliver();

private:
    static void handle(int signo);
    bool take(int signo);

    Backend& backend_;
    std::weak_ptr<Pipe> pipe_;
    std::atomic<std::uint64_t> raised_ = 0;  // a bit for each number
};

}  // namespace ev
