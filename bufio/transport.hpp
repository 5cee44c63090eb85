// The lower end of a stream: a plain descriptor, TLS on top of one, or a script in a test.  No
// call blocks, and no transport knows the loop.
#pragma once

#include "bufio/end.hpp"

#include <cstddef>
#include <memory>

namespace bufio {

// The outcome of one attempt. After `wants_read` or `wants_write` the caller repeats the same
// call once the descriptor is readable or writable; TLS may have to read in order to write, and
// the other way round.
enum class IoStatus { done, wants_read, wants_write, end_of_input, failed };

struct IoResult {
    IoStatus status;
    // Bytes moved. A read may have moved some although its status is not `done`; a write has
    // not.
    std::size_t count = 0;
};

struct TlsFacts;  // bufio/tls_facts.hpp

// One call does a bounded amount of work, whatever the peer sends, so that one stream does not
// keep the loop from the others.
//
// The handshake is repeated until it is `done`; only then may the other calls be made. They are
// for at least one byte: zero lengths are not allowed. After `end_of_input` there are no more
// reads, but writes go on; after close_output() is `done` there are no more writes, but reads
// go on. After a write or close_output() has `failed`, only read() may be called, for the bytes
// that the peer sent before. After handshake() or read() has `failed`, none of them may be
// called.
class Transport {
public:
    virtual ~Transport() = default;
    // The descriptor to wait for. It is valid as long as the transport, which owns it.
    virtual int descriptor() const = 0;
    virtual IoResult handshake() { return {IoStatus::done}; }
    // Reads the bytes that are there, up to `size`.
    virtual IoResult read(char* to, std::size_t size) = 0;
    // Writes the first `count` of the bytes. A write that has to be repeated begins with the
    // same bytes, which may have moved in memory and may be followed by more.
    virtual IoResult write(const char* from, std::size_t size) = 0;
    // Tells the peer that nothing more will be written.
    virtual IoResult close_output() = 0;
    // True if a read may succeed although the descriptor is not readable.
    virtual bool buffers_input() const { return false; }
    // Null unless this is TLS. The facts are filled when the handshake is done or has failed.
    virtual const TlsFacts* tls() const { return nullptr; }

    // Why the last call that `failed` did so.
    const End& failure() const { return failure_; }

protected:
    IoResult fail(End end) {
        failure_ = std::move(end);
        return {IoStatus::failed};
    }

private:
    End failure_;
};

// Takes a non-blocking, connected socket, and owns it.
class Fd;
std::unique_ptr<Transport> make_plain_transport(Fd fd);

}  // namespace bufio
