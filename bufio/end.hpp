// The reason why a connection, or the attempt to make one, has ended, as data. It does not
// depend on errno.
#pragma once

#include <string>
#include <string_view>

namespace bufio {

enum class Reason {
    none,                   // not ended
    clean,                  // both sides closed gracefully
    unclosed,               // all is done, but the peer has not closed its side in time
    aborted,                // closed or aborted by us
    lookup,                 // no address found for the name
    refused,                // every address refused the connection, or the service rejected it
    connect,                // unreachable, no such socket; or only some addresses refused
    timeout,                // a deadline passed
    tls,                    // the TLS handshake failed
    handshake_interrupted,  // the connection was lost during the TLS handshake
    certificate,            // the peer's certificate was not accepted
    pin,                    // the peer's public key is not pinned
    own_certificate,        // our certificate is missing, unusable or refused
    trust,                  // the file or directory of trusted certificates can't be used
    send,                   // the peer no longer accepts our bytes
    reset,                  // the peer, or its system, reset the connection
    receive,                // receiving failed, or the peer broke the protocol
    truncated,              // no close_notify or close frame, or closed inside a message
    closed_early,           // the peer closed its side too early
    limit,                  // a message exceeds the limit of a buffer
    output,                 // our own output or log can't be written
};

enum class By { us, peer, system };  // who caused an end

struct End {
    Reason reason = Reason::none;
    By by = By::us;
    const char* what = "";    // a clause; if the peer caused the end, what it did
    std::string detail = {};  // continues `what`, often in the words of the peer or the system

    explicit operator bool() const { return reason != Reason::none; }
    // Returns one clause for people, without a full stop: "the peer does not speak TLS". It may
    // contain bytes from the peer, so make it printable before writing it to a terminal.
    std::string text(std::string_view peer = "the peer") const;
};

// Returns an end with the system's message for the errno `code` as its detail. EPIPE, and
// ECONNRESET and ECONNREFUSED in their phases, have reasons of their own.
End system_end(Reason reason, const char* what, int code);

}  // namespace bufio
