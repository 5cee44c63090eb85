// What a stream reads from and writes to: a plain descriptor, TLS on top of one, or a script in
// a test.  Nothing here blocks, and nothing here knows the loop.
#pragma once

#include "bufio/end.hpp"

#include <cstddef>
#include <memory>

namespace bufio {

// The outcome of one attempt. With `wants_*` the same call is to be made again once the
// descriptor is readable or writable, whichever direction the call itself works in.
enum class IoStatus { done, wants_read, wants_write, end_of_input, failed };

struct IoResult {
    IoStatus status;
    std::size_t count = 0;  // bytes; those of a read may have come before another outcome
};

struct TlsFacts;  // bufio/tls_facts.hpp

// One call does a bounded amount of work, whatever the peer sends, so that one stream does not
// keep the loop from the others.
class Transport {
public:
    virtual ~Transport() = default;
    virtual int descriptor() const = 0;
    virtual IoResult handshake() { return {IoStatus::done}; }
    // Reads what is there, up to `size`.
    virtual IoResult read(char* to, std::size_t size) = 0;
    virtual IoResult write(const char* from, std::size_t size) = 0;
    // Says that nothing more will be written.
    virtual IoResult close_output() = 0;
    // True where a read may succeed though the descriptor is not readable.
    virtual bool buffers_input() const { return false; }
    virtual const TlsFacts* tls() const { return nullptr; }

    // Why the last call failed.
    const End& failure() const { return failure_; }

protected:
    IoResult fail(End end) {
        failure_ = std::move(end);
        return {IoStatus::failed};
    }

private:
    End failure_;
};

// Owns a non-blocking socket.
class Fd;
std::unique_ptr<Transport> make_plain_transport(Fd fd);

}  // namespace bufio
