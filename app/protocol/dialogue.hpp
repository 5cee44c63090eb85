// The lines that open a new connection before its messages: STARTTLS, which asks a service in
// its own protocol to continue with TLS, and --on-connect. Both belong to the transport's
// handshake, so its time limit applies, and the lines are neither counted nor recorded.
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

// Returns the framing of the service's answers: smtp or crlf.
const Framing* framing_of(const Starttls& service);

// Returns a transport that asks the service for TLS, and then acts as `tls`, a new transport
// from TlsContext::connect(). Any other answer, or more plaintext after the answer, ends the
// handshake with Reason::tls.
std::unique_ptr<bufio::Transport> ask_for_tls(std::unique_ptr<bufio::Transport> tls,
                                              const Starttls& service,
                                              std::vector<std::string>& notes);

// Sends lines once the transport below is open. With framings whose replies cannot be echoes
// (resp, smtp), each line waits for the reply to the one before, and an error reply ends the
// handshake with Reason::refused. With any other framing the lines are sent together, and their
// replies are unsolicited. With `greeted`, the transport below has received the service's
// greeting, as with STARTTLS. The notes also contain the lines, without their arguments.
std::unique_ptr<bufio::Transport> say_first(std::unique_ptr<bufio::Transport> below,
                                            const Framing& framing, bool greeted,
                                            const std::vector<std::string>& lines,
                                            std::vector<std::string>& notes);

}  // namespace yodel
