// WebSocket over a plain or a TLS transport. A stream with such a transport exchanges messages
// in the form of app/websocket/frame.hpp. The opening handshake is the handshake of the
// transport, a ping is answered here, and close frames are the ends of input and output.
//
// A close frame with code 1000, 1001 or no code ends the input gracefully. Any other code, a
// message that is too long, or a violation of the protocol rejects the input. close_output()
// then sends the peer's code, or the code for the error. If the connection ends without a close
// frame, the read fails.
#pragma once

#include "app/websocket/frame.hpp"
#include "app/websocket/opening.hpp"
#include "bufio/transport.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace yodel::websocket {

// Facts about a client's connection, for display.
struct Facts {
    std::string request;                  // the opening handshake, as sent
    std::string response;                 // as received; empty before it has arrived
    std::optional<Closure> closure = {};  // the peer's close frame
};

// Both take ownership of the transport below, whose handshake must not have begun. The input is
// rejected at a message of more than `max_message` bytes. The facts must outlive the transport.
std::unique_ptr<bufio::Transport> connect(std::unique_ptr<bufio::Transport> below,
                                          Request request, std::size_t max_message,
                                          Facts& facts);
std::unique_ptr<bufio::Transport> accept(std::unique_ptr<bufio::Transport> below,
                                         std::size_t max_message);

}  // namespace yodel::websocket
