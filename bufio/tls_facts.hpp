// The facts of a TLS connection, for display. This header needs no OpenSSL.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bufio {

// Facts are also available for a refused connection. Texts from the peer have a bounded length
// but are unfiltered, so they must be made printable before they are written to a terminal.
struct TlsFacts {
    std::string version;
    std::string cipher;
    std::string group;  // the key exchange group, by OpenSSL's name; empty if there is none
    std::string alpn;
    std::string subject;  // subject of the peer's certificate; empty if there is none
    std::string issuer;
    std::string not_after;  // ISO date
    bool expired = false;   // not_after has passed
    long days_left = 0;     // whole days until not_after; negative after it
    // Subject and last day of each certificate sent, the peer's own first. The last entry of a
    // long chain is the number of the others.
    std::vector<std::string> chain;
    std::string pin;  // sha256//BASE64 of the peer's public key
    // The first faults of the certificate; empty if it was verified or pinned.
    std::string faults_text;
    int fault_count = 0;            // number of faults, listed or not
    bool untrusted = false;         // not issued by a trusted authority
    bool incomplete_chain = false;  // untrusted, and the issuer's certificate was not sent
    bool resumed = false;           // the session was resumed
    // Bytes of our ClientHello if the server has not answered; else 0.
    std::size_t unanswered_hello_size = 0;
    std::string requested_groups;  // requested key exchange groups; OpenSSL's defaults if empty
};

}  // namespace bufio
