// The part of a run that one of its threads has: some of the connections, and the messages that
// are sent on these.  All the shares together are the whole run, and each connection has the
// messages that it would have if there were one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace yodel {

// Connections and messages have numbers from 0. Connection k belongs to thread k % threads, and
// message n to connection n % connections.
struct Share {
    std::size_t thread = 0;
    std::size_t threads = 1;
    std::size_t connections = 1;  // of the whole run; at least as many as threads

    // How many connections are its own, of which each has a place, from 0.
    std::size_t own_connections() const;
    std::size_t number_of(std::size_t place) const { return place * threads + thread; }
    // Returns the place of the connection to which one of its own messages belongs.
    std::size_t place_of(std::uint64_t message) const;

    // How many of the first `count` messages are its own.
    std::uint64_t own_messages(std::uint64_t count) const;
    // Returns the message that follows one of its own. The first one has the thread's number.
    std::uint64_t message_after(std::uint64_t message) const;
};

}  // namespace yodel
