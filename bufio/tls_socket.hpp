// A socket as OpenSSL reads and writes it: a BIO.  OpenSSL's own socket BIO writes without
// MSG_NOSIGNAL, and sets no bounds to what one call receives.
#pragma once

#include "bufio/fd.hpp"

#include <openssl/bio.h>

#include <cstddef>

namespace bufio {

struct TlsSocket {
    Fd fd;
    std::size_t budget = 0;  // bytes that the present call may still receive
    std::size_t silent = 0;  // bytes received since the last that brought data
    int burden = 0;          // handshake messages received, less one for each call
    int error = 0;           // errno of the last call that failed for good
    bool more = false;       // true while another record follows the one that is written
    bool ended = false;      // the peer has closed its side
};

// Returns a BIO that works on the socket, which must outlive it. Throws std::bad_alloc.
BIO* new_socket_bio(TlsSocket& socket);

}  // namespace bufio
