// A limit on the connections of several servers together, each on its own thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace yodel {

class ConnectionLimit {
public:
    explicit ConnectionLimit(std::size_t max) : max_(max) {}

    // Both may be called from any thread. take() returns false at the limit; otherwise call
    // give_back() when the connection has ended.
    bool take() {
        if (count_.fetch_add(1, std::memory_order_relaxed) < max_) return true;
        give_back();
        return false;
    }
    void give_back() { count_.fetch_sub(1, std::memory_order_relaxed); }
    std::size_t max() const { return max_; }

private:
    const std::size_t max_;
    std::atomic<std::size_t> count_ = 0;
};

}  // namespace yodel
