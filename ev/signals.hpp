// Signals on their way from the handler to the loop.
#pragma once

#include "ev/backend.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace ev {

struct SignalSubscription;

// The signals of one loop. The handler raises a flag for each of them, and writes a byte to a
// pipe that ends the loop's wait. The flags, not the bytes, carry the signals, so that a flood
// of one can't displace another.
class Signals {
public:
    explicit Signals(Backend& backend);
    ~Signals();

    SignalSubscription* subscribe(int signo, std::function<void()> callback);
    void unsubscribe(SignalSubscription* subscription);  // its callback lasts until sweep()
    std::size_t size() const { return size_; }
    bool raised() const { return size_ > 0 && any_raised(); }
    void deliver();
    void sweep();

private:
    struct Pipe;
    bool any_raised() const;

    Backend& backend_;
    std::unique_ptr<Pipe> pipe_;                      // while there are subscriptions
    std::vector<SignalSubscription*> subscriptions_;  // also ended ones that are not yet swept
    std::size_t size_ = 0;                            // without those
};

}  // namespace ev
