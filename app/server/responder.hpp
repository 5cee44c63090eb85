// What a server sends back for the bytes that it receives, and the faults that it injects to
// test clients.
//
// A fault acts on a whole message. With the framing `raw`, all bytes that have arrived are one
// message. The faults of a message depend only on the seed, on the number of its connection,
// and on its own number, so that a repeated run meets the same faults.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/text/random.hpp"
#include "bufio/stream.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

struct Faults {
    ev::Duration delay{};   // before each reply
    ev::Duration jitter{};  // maximum change of the delay; replies keep their order
    double drop = 0;        // the probability, from 0 to 1, to send no reply
    double corrupt = 0;     // the probability to flip one bit of a reply
    double dup = 0;         // the probability to send a reply twice
    std::size_t chunk = 0;  // bytes written in one call, one chunk a turn; 0 if unlimited
    std::optional<std::uint64_t> close_after = {};  // messages until a graceful close
    std::optional<std::uint64_t> reset_after = {};  // messages until a reset
    bool is_half_closed = false;                    // closes our side immediately
    bool must_not_read = false;
    bool is_handshake_stalled = false;
    std::string banner = {};  // sent before everything else
    double reorder = 0;       // the probability to send a datagram after the next one
    std::uint64_t seed = 1;

    bool operator==(const Faults&) const = default;
    // Ignores `reorder`, which streams do not have.
    bool any() const { return *this != Faults{.reorder = reorder, .seed = seed}; }
};

// Draws the faults for the messages of a connection, one message after the other.
class FaultDice {
public:
    FaultDice(const Faults& faults, std::uint64_t connection)
        : faults_(faults), random_(faults.seed * 0xd1342543de82ef95 + connection) {}

    struct Plan {
        bool is_dropped;
        bool is_duplicated;
        bool is_corrupted;
        std::uint64_t place;  // selects the bit to flip, see corrupt()
        ev::Duration delay;
    };
    Plan next();
    // Draws for a fault that is not in the plan.
    bool draw(double probability) { return random_.fraction() < probability; }

private:
    const Faults& faults_;
    Random random_;
};

// Replies that faults hold back, in the order in which they are due. The payload of a `Reply`
// is its member `bytes`, a string.
template <class Reply>
class DelayQueue {
public:
    bool empty() const { return replies_.empty(); }
    std::size_t memory() const { return memory_; }
    static std::size_t memory_of(const Reply& reply) {
        return sizeof reply + reply.bytes.size();
    }

    // Replies that are due at the same time keep their order.
    void push(Reply reply, ev::Time due_at) {
        memory_ += memory_of(reply);
        replies_.emplace(due_at, std::move(reply));
    }

    // If the queue is empty, return the maximum and the minimum of ev::Time, respectively.
    ev::Time first_due_at() const {
        return empty() ? ev::Time::max() : replies_.begin()->first;
    }
    ev::Time last_due_at() const {
        return empty() ? ev::Time::min() : replies_.rbegin()->first;
    }

    // These require a queue that is not empty.
    Reply& front() { return replies_.begin()->second; }
    Reply pop() {
        Reply reply = std::move(replies_.extract(replies_.begin()).mapped());
        memory_ -= memory_of(reply);
        return reply;
    }

private:
    std::multimap<ev::Time, Reply> replies_;
    std::size_t memory_ = 0;
};

// Flips the bit of the payload that `place` selects. If the result would be a reserved byte,
// which could end the message, flips another bit of the same byte instead.
void corrupt(char* payload, std::size_t size, std::uint64_t place, std::string_view reserved);

// Answers the messages of one connection.
class Responder {
public:
    virtual ~Responder() = default;
    // Answers the received bytes as far as there is space for the replies, and consumes them.
    // One call does a bounded amount of work. Returns the time at which it must be called again
    // even if the stream has not changed by then; a time in the past means the next turn.
    virtual ev::Time answer() = 0;
    virtual bool has_pending() const { return false; }  // replies are held to be sent later
    // Why answering has stopped although the peer may continue; Reason::none until then.
    const bufio::End& end() const { return end_; }

protected:
    explicit Responder(bufio::Stream& stream) : stream_(stream) {}
    bufio::Stream& stream_;
    bufio::End end_;
};

struct EchoLimits {
    std::size_t buffer;   // limit of bytes to be sent; above it, nothing is answered
    std::size_t message;  // bytes of a message, with a length-prefixed framing
};

// Returns a responder. Everything passed by reference must outlive the responder. Without
// faults, it echoes every byte when the byte arrives, but a length-prefixed message only when
// the whole message has arrived. If the framing defines a greeting and replies, the responder
// sends them instead of echoes, and also answers parts of a message.
std::unique_ptr<Responder> make_responder(ev::Loop& loop, const Faults& faults,
                                          const Framing& framing, EchoLimits limits,
                                          std::uint64_t connection, bufio::Stream& stream);

}  // namespace yodel
