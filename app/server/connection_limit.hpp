// The most connections that several servers, each on its own thread, may have together.
#pragma once

#include <atomic>
#include <cstddef>

namespace yodel {

class ConnectionLimit {
public:
    explicit ConnectionLimit(std::size_t most) : most_(most) {}

    // These may be called from any thread. take() returns false while there are as many as may
    // be; otherwise give_back() must follow when the connection has ended.
    bool take() {
        if (count_.fetch_add(1, std::memory_order_relaxed) < most_) return true;
        give_back();
        return false;
    }
    void give_back() { count_.fetch_sub(1, std::memory_order_relaxed); }
    std::size_t most() const { return most_; }

private:
    const std::size_t most_;
    std::atomic<std::size_t> count_ = 0;
};

}  // namespace yodel
