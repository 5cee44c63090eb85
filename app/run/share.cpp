#include "app/run/share.hpp"

namespace yodel {

namespace {

// Returns how many of the numbers below `end` are those of the thread.
std::uint64_t share_of(std::uint64_t end, const Share& share) {
    return end / share.threads + (share.thread < end % share.threads ? 1 : 0);
}

}  // namespace

std::size_t Share::own_connections() const {
    return static_cast<std::size_t>(share_of(connections, *this));
}

std::size_t Share::place_of(std::uint64_t message) const {
    return static_cast<std::size_t>(message % connections) / threads;
}

std::uint64_t Share::own_messages(std::uint64_t count) const {
    return count / connections * own_connections() + share_of(count % connections, *this);
}

// The next one of the same round over all connections, or the first one of the next round.
std::uint64_t Share::message_after(std::uint64_t message) const {
    const std::uint64_t connection = message % connections;
    if (connection + threads < connections) return message + threads;
    return message - connection + connections + thread;
}

}  // namespace yodel
