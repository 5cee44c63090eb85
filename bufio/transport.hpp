// What a stream reads from and writes to: a plain descriptor, TLS on top of one, or a script in
// a test.  Nothing here blocks, and nothing here knows the loop.
#pragma once

#include "bufio/end.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bufio {

// The outcome of one attempt. With `wants_*` the same call is to be made again once the
// descriptor is readable or writable, whichever direction the call itself works in.
enum class Io { done, wants_read, wants_write, end_of_input, failed };

struct Moved {
    Io io;
    std::size_t count = 0;  // bytes; those of a read may have come before another outcome
};

// The facts of a TLS connection, for display, also of one that was refused. Text that the peer
// chose is as it sent it, but for its length, which is bounded here.
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

// One call does a bounded amount of work, whatever the peer sends, so that one stream does not
// keep the loop from the others.
class Transport {
public:
    virtual ~Transport() = default;
    virtual int descriptor() const = 0;
    virtual Moved handshake() { return {Io::done}; }
    // Reads what is there, up to `size`.
    virtual Moved read(char* to, std::size_t size) = 0;
    virtual Moved write(const char* from, std::size_t size) = 0;
    // Says that nothing more will be written.
    virtual Moved close_output() = 0;
    // True where a read may succeed though the descriptor is not readable.
    virtual bool buffers_input() const { return false; }
    virtual const TlsFacts* tls() const { return nullptr; }

    // Why the last call failed.
    const End& failure() const { return failure_; }

protected:
    Moved fail(End end) {
        failure_ = std::move(end);
        return {Io::failed};
    }

private:
    End failure_;
};

// Owns a non-blocking socket.
class Fd;
std::unique_ptr<Transport> make_plain_transport(Fd fd);

}  // namespace bufio
