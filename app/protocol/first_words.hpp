// --on-connect: sends lines on a new connection before any other message. This is a part of the
// handshake of a transport, so the limits of a handshake apply, and what is sent and received
// is neither counted nor recorded.
//
// With framings whose replies cannot be echoes (resp, smtp), each line waits for the reply to
// the one before, and an error reply ends the handshake with Reason::refused. With any other
// framing the lines are sent together, and their replies are unsolicited.
#pragma once

#include "app/protocol/framing.hpp"
#include "bufio/transport.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// Adds a note for each line of a reply, the first one after a prefix.
void add_lines(std::vector<std::string>& notes, const std::string& first,
               std::string_view reply);

// `greeted`: the greeting of the service was received below, as with STARTTLS. Adds the lines,
// without their arguments, and the replies to `notes`, which must outlive the handshake.
std::unique_ptr<bufio::Transport> say_first(std::unique_ptr<bufio::Transport> below,
                                            const Framing& framing, bool greeted,
                                            const std::vector<std::string>& lines,
                                            std::vector<std::string>& notes);

}  // namespace yodel
