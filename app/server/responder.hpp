// What a server sends back for the bytes that it receives, and the faults that it injects to
// test clients.
//
// A message fault acts on a whole message. With the framing `raw`, the bytes that have arrived
// are one message. The faults of a message depend only on the seed, on the number of its
// connection, and on its own number, so that a repeated run meets the same faults.
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
    ev::Duration jitter{};  // maximum change of the delay, up or down
    double drop = 0;        // probability, from 0 to 1, that a message gets no reply
    double corrupt = 0;     // probability that one bit of a reply is flipped
    double dup = 0;         // probability that a reply is sent twice
    std::size_t chunk = 0;  // maximum bytes of one write; 0 if unlimited
    std::optional<std::uint64_t> close_after = {};  // messages until a graceful close
    std::optional<std::uint64_t> reset_after = {};  // messages until a reset
    bool is_half_closed = false;                    // after the banner, closes our side
    bool must_not_read = false;
    bool is_handshake_stalled = false;
    std::string banner = {};  // sent when the connection opens, after any greeting
    double reorder = 0;       // probability that a datagram is sent after the next one
    std::uint64_t seed = 1;

    bool operator==(const Faults&) const = default;
    // Returns true if a stream has any fault. Ignores `reorder`, which streams do not have, and
    // `seed`.
    bool any() const { return *this != Faults{.reorder = reorder, .seed = seed}; }
};

// Draws the faults for each message of a connection or each datagram of a port, in their order.
class FaultDice {
public:
    FaultDice(const Faults& faults, std::uint64_t connection_number)
        : faults_(faults), random_(faults.seed * 0xd1342543de82ef95 + connection_number) {}

    struct Plan {
        bool is_dropped;
        bool is_duplicated;
        bool is_corrupted;
        std::uint64_t bit_choice;  // selects the bit to flip, see corrupt()
        ev::Duration delay;
    };
    Plan next();
    // Draws for a fault that plans do not contain.
    bool draw(double probability) { return random_.fraction() < probability; }

private:
    const Faults& faults_;
    Random random_;
};

// Replies to be sent later, in the order in which they are due. The payload of a `Reply` is its
// member `bytes`, a string.
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

// Flips the bit of the payload that `bit_choice` selects. If the result would be a reserved
// byte, which could end the message, flips another bit of the same byte instead. Does nothing
// if the payload is empty.
void corrupt(char* payload, std::size_t size, std::uint64_t bit_choice,
             std::string_view reserved);

// Answers the messages of one connection.
class Responder {
public:
    virtual ~Responder() = default;
    // Answers and consumes received bytes, as far as there is space for the replies. One call
    // does a bounded amount of work. Returns when it must be called again even if the stream
    // has not changed; a past time means the next turn, and ev::Time::max() means never.
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
    std::size_t max_buffer;   // bytes to be sent, above which nothing is answered
    std::size_t max_message;  // payload bytes, only with a length-prefixed framing
};

// Everything passed by reference must outlive the responder. Without faults, it answers bytes
// as they arrive, but a length-prefixed message only when the whole message has arrived.
std::unique_ptr<Responder> make_responder(ev::Loop& loop, const Faults& faults,
                                          const Framing& framing, EchoLimits limits,
                                          std::uint64_t connection_number,
                                          bufio::Stream& stream);

}  // namespace yodel
