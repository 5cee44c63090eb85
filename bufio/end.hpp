// How a connection, or the attempt at one, ended: a value, never errno.
#pragma once

#include <string>

namespace bufio {

enum class Reason {
    none,                   // it has not ended
    clean,                  // both sides said that they were done
    aborted,                // by our own abort()
    lookup,                 // the name has no address
    connect,                // refused, unreachable, no such socket
    timeout,                // a deadline passed
    tls,                    // the TLS handshake failed
    handshake_interrupted,  // the connection went while it was under way
    certificate,            // the peer's certificate is not accepted
    pin,                    // the peer's public key is not the pinned one
    own_certificate,        // ours is missing, unusable or refused
    trust,                  // the file or directory of trusted certificates can't be used
    send,                   // the peer no longer takes what we send
    receive,                // reset, or a broken TLS record
    truncated,              // TLS: the peer's end came without its close_notify
    closed_early,           // the peer has closed its side, and more was to be said
    limit,                  // more than a buffer may hold
    output,                 // our own output or log can't be written
};

struct End {
    Reason reason = Reason::none;
    // One clause for people, without a full stop. It may hold bytes that the peer chose: to be
    // made printable before it meets a terminal.
    std::string text;

    explicit operator bool() const { return reason != Reason::none; }
};

// "what: the system's word for errno"
End system_end(Reason reason, const std::string& what, int code);

}  // namespace bufio
