// What is said on a new connection before its messages: STARTTLS, which asks a service in its
// own words to continue with TLS, and the lines of --on-connect. Both are a part of the
// handshake of a transport, so the limits of a handshake apply, and what is sent and received
// is neither counted nor recorded.
//
// A dialogue adds what the service says, line by line, to `notes`, which must outlive the
// handshake.
#pragma once

#include "app/protocol/framing.hpp"
#include "bufio/transport.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace yodel {

struct Starttls;  // a row of the table of services

// Returns the names of the services and their static rows.
std::vector<std::pair<std::string, const Starttls*>> starttls_services();

// Returns the framing of the answers of the service, which are those of -f smtp or -f crlf.
const Framing* framing_of(const Starttls& service);

// Returns a transport that asks the service for TLS, and then is like `tls`, a new one from
// TlsContext::connect(). Anything else that the service sends in clear ends the handshake with
// Reason::tls.
std::unique_ptr<bufio::Transport> ask_for_tls(std::unique_ptr<bufio::Transport> tls,
                                              const Starttls& service,
                                              std::vector<std::string>& notes);

// Sends lines once the transport below is open. With framings whose replies cannot be echoes
// (resp, smtp), each line waits for the reply to the one before, and an error reply ends the
// handshake with Reason::refused. With any other framing the lines are sent together, and their
// replies are unsolicited. `greeted`: the greeting of the service was received below, as with
// STARTTLS. The notes also contain the lines, without their arguments.
std::unique_ptr<bufio::Transport> say_first(std::unique_ptr<bufio::Transport> below,
                                            const Framing& framing, bool greeted,
                                            const std::vector<std::string>& lines,
                                            std::vector<std::string>& notes);

}  // namespace yodel
