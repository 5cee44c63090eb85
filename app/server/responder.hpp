// Responders decide what a server sends back for the bytes that it receives.
#pragma once

#include "app/protocol/framing.hpp"
#include "bufio/stream.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace yodel {

// Maximum bytes of one write, and writes in one call. Without these limits, a peer that reads
// as fast as we write would keep the loop from serving other connections.
inline constexpr std::size_t max_write = 64 * 1024;
inline constexpr int max_writes = 4;

// Answers the messages of one connection.
class Responder {
public:
    virtual ~Responder() = default;
    // Sends the greeting. Called once, before any other call.
    virtual void greet(bufio::Stream&) {}
    // Answers the received bytes as far as there is space for the replies, and consumes them.
    // One call does a bounded amount of work. Returns the time at which it must be called again
    // even if the stream has not changed by then; a time in the past means the next turn.
    virtual std::optional<ev::Time> answer(bufio::Stream& stream) = 0;
    // Returns true while replies are held to be sent later.
    virtual bool has_pending() const { return false; }
    // The reason why answering has stopped although the peer may continue; Reason::none until
    // then.
    const bufio::End& end() const { return end_; }

protected:
    bufio::End end_;
};

struct EchoLimits {
    std::size_t buffer;   // limit of bytes to be sent; above it, nothing is answered
    std::size_t message;  // bytes of a message, with a length-prefixed framing
};

// Echoes every byte as it arrives. A message of a length-prefixed framing is answered once it
// is whole; until then, its received part is held in memory. If the framing defines a greeting
// and replies, sends these instead, and answers each byte of a message as it arrives. The
// framing must outlive the responder.
std::unique_ptr<Responder> make_faithful_responder(const Framing& framing, EchoLimits limits);

}  // namespace yodel
