// The facts of a TLS connection, for display.  This needs no OpenSSL.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bufio {

// A connection that was refused has them, too. The texts that the peer chose have a bounded
// length but are as the peer sent them, so they must be made printable before they meet a
// terminal.
struct TlsFacts {
    std::string version;
    std::string cipher;
    std::string group;  // of the key exchange, as OpenSSL names it; empty if there was none
    std::string alpn;
    std::string subject;  // of the peer's certificate; empty if it has shown none
    std::string issuer;
    std::string not_before;  // ISO date
    std::string not_after;   // ISO date
    bool expired = false;    // not_after has passed
    long days_left = 0;      // whole days until then; negative: since then
    std::vector<std::string>
        chain;               // subject and end of each certificate sent, the peer's own first
    std::string pin;         // sha256//BASE64 of its public key
    std::string unverified;  // all that is wrong with the certificate; empty if it was verified
    int faults = 0;          // the number of things that are wrong with it
    bool untrusted = false;  // no authority that is trusted here has issued it
    bool incomplete = false;  // untrusted, and the peer has sent only its own certificate
    bool resumed = false;     // the session was resumed
    // Bytes of our ClientHello while the server has answered nothing; else 0.
    std::size_t unanswered_hello = 0;
    std::string groups;  // of the key exchange, as they were asked for; empty: OpenSSL's own
    // The server ended the handshake because nothing that we offered suits it (an alert).
    bool offer_refused = false;
};

}  // namespace bufio
