// What a server sends back for what it receives.
#pragma once

#include "app/framing.hpp"
#include "bufio/stream.hpp"

#include <cstddef>
#include <memory>

namespace yodel {

// One connection's way of answering.
class Echo {
public:
    virtual ~Echo() = default;
    // Says what comes before everything else. Called once, first.
    virtual void greet(bufio::Stream&) {}
    // Answers what was received, as far as there is room, and consumes what it has dealt with.
    virtual void answer(bufio::Stream& stream) = 0;
    // Whether it still holds something back.
    virtual bool holds() const { return false; }
    // Why nothing more is answered, though the peer goes on; reason `none`: it is.
    const bufio::End& end() const { return end_; }

protected:
    bufio::End end_;
};

struct EchoLimits {       // bytes
    std::size_t buffer;   // that wait to be sent; above, nothing more is answered
    std::size_t message;  // of a message, where its length is looked at
};

// Sends every byte back as it comes. A framing by lengths has them checked; `caret` is the
// protocol in which each message comes back increased by one, byte by byte.
std::unique_ptr<Echo> make_faithful_echo(const Framing& framing, EchoLimits limits);

}  // namespace yodel
