// How a connection, or the attempt to make one, has ended.  It is a value; errno plays no part.
#pragma once

#include <string>

namespace bufio {

enum class Reason {
    none,                   // it has not ended
    clean,                  // both sides have closed in order
    aborted,                // we have closed or aborted it
    lookup,                 // the name has no address
    connect,                // refused, unreachable, no such socket
    timeout,                // a deadline has passed
    tls,                    // the TLS handshake failed
    handshake_interrupted,  // the connection was lost during the TLS handshake
    certificate,            // the peer's certificate is not accepted
    pin,                    // the peer's public key is not the pinned one
    own_certificate,        // our certificate is missing, unusable or refused
    trust,                  // the file or directory of trusted certificates can't be used
    send,                   // the peer no longer takes our bytes
    receive,                // the connection was reset, or a TLS record is broken
    truncated,              // TLS: the peer has closed without close_notify
    closed_early,           // the peer has closed its side although more was to be said
    limit,                  // a message is larger than a buffer may hold
    output,                 // our own output or log can't be written
};

struct End {
    Reason reason = Reason::none;
    // One clause for people, without a full stop. It may hold bytes that the peer chose, so it
    // must be made printable before it meets a terminal.
    std::string text;

    explicit operator bool() const { return reason != Reason::none; }
};

// The text is "what: the system's message for the errno `code`".
End system_end(Reason reason, const std::string& what, int code);

}  // namespace bufio
