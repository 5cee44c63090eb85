// STARTTLS: asks a service in its own words to continue with TLS. This is a part of the
// handshake of a transport, so the limits of a handshake apply.
#pragma once

#include "bufio/fd.hpp"
#include "bufio/tls.hpp"
#include "bufio/transport.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace yodel {

struct Framing;
struct Starttls;  // a row of the table of services

// Returns the names of the services and their static rows.
std::vector<std::pair<std::string, const Starttls*>> starttls_services();

// Returns the framing of the answers of the service, which are those of -f smtp or -f crlf.
const Framing* framing_of(const Starttls& service);

// Takes ownership of a non-blocking socket. Once the service accepts, the transport is like
// TlsContext::connect(), which also describes the exceptions. Anything else that the service
// sends in clear ends the handshake with Reason::tls. Adds the answers of the service to
// `notes`, which must outlive the handshake.
std::unique_ptr<bufio::Transport> connect_starttls(const Starttls& service, bufio::Fd socket,
                                                   const bufio::TlsContext& tls,
                                                   const std::string& host,
                                                   std::vector<std::string>& notes);

}  // namespace yodel
