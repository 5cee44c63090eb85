// What a server sends back for what it receives.
#pragma once

#include "app/protocol/framing.hpp"
#include "bufio/stream.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace yodel {

// One connection's way of answering.
class Responder {
public:
    virtual ~Responder() = default;
    // Sends what comes before everything else. Called once, first.
    virtual void greet(bufio::Stream&) {}
    // Answers what was received, as far as there is room, and consumes what it has dealt with.
    // One call does a bounded amount of work. It returns the time at which it wants to be
    // called again although no byte may have come or gone until then; one in the past means the
    // next turn.
    virtual std::optional<ev::Time> answer(bufio::Stream& stream) = 0;
    // Returns true while it holds something back to be sent later.
    virtual bool has_pending() const { return false; }
    // Why answering has stopped, though the peer may go on; Reason::none while it has not.
    const bufio::End& end() const { return end_; }

protected:
    bufio::End end_;
};

struct EchoLimits {       // bytes
    std::size_t buffer;   // that wait to be sent; above, nothing more is answered
    std::size_t message;  // of a message, where its length is looked at
};

// How a connection ended that was closed inside a message of a framing by lengths; `fragment`
// is the part of its frame that came.
bufio::End cut_message(const Framing& framing, std::string_view fragment);

// Sends every byte back as it comes. A message of a framing by lengths is answered once it is
// whole, and so takes as much memory as it is long; until then it takes what has come of it.
// Where the framing defines another reply than the message, that reply is sent byte by byte,
// and its greeting comes first. The framing outlives the echo.
std::unique_ptr<Responder> make_faithful_responder(const Framing& framing, EchoLimits limits);

}  // namespace yodel
