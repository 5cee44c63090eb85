// The facts of a TLS connection, for display.  This needs no OpenSSL.
#pragma once

#include <string>
#include <vector>

namespace bufio {

// It is filled for a connection that was refused, too. A text that the peer chose is as the
// peer sent it, so it must be made printable before it meets a terminal; its length is bounded
// here.
struct TlsFacts {
    std::string version;
    std::string cipher;
    std::string alpn;
    std::string subject;  // of the peer's certificate; empty: it has shown none
    std::string issuer;
    std::string not_before;          // ISO date
    std::string not_after;           // ISO date
    long days_left = 0;              // until then; negative: expired
    std::vector<std::string> chain;  // subject and end of the certificates shown, its own first
    std::string pin;                 // sha256//BASE64 of its public key
    std::string unverified;   // empty: the certificate was verified; else all that is wrong
    int faults = 0;           // the number of things wrong with it
    bool untrusted = false;   // one of them: no authority that is trusted here stands for it
    bool incomplete = false;  // that, and the peer has sent no certificate but its own
    bool resumed = false;
};

}  // namespace bufio
