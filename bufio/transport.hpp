// The lower end of a stream: a plain descriptor, TLS on top of one, WebSocket on top of either,
// or a script in a test. Calls never block, and transports do not know the loop.
#pragma once

#include "bufio/end.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bufio {

// The outcome of one call. After `wants_read` or `wants_write` the caller repeats the same call
// once the descriptor is readable or writable. TLS may have to read in order to write, and vice
// versa. `rejected`: a read found bytes that the transport refuses, such as a broken frame; see
// failure().
enum class IoStatus { done, wants_read, wants_write, end_of_input, rejected, failed };

struct IoResult {
    IoStatus status;
    // Bytes moved. A read may move bytes although its status is not `done`; a write does not.
    std::size_t count = 0;
};

struct TlsFacts;  // bufio/tls_facts.hpp

// One call does a bounded amount of work, whatever the peer sends, so that no stream starves
// the others.
//
// The caller repeats handshake() until it is `done`, and only then makes the other calls.
// Lengths must not be zero, except as buffers_output() allows. After `end_of_input` only writes
// may follow; after close_output() is `done`, only reads. After `rejected`, writes may follow,
// and reads, which discard all input. After a write or close_output() has `failed`, only read()
// may be called, for the bytes that the peer sent earlier. After handshake() or read() has
// `failed`, none of them may be called.
class Transport {
public:
    virtual ~Transport() = default;
    virtual int descriptor() const = 0;  // to wait for; the transport owns it
    virtual bool has_handshake() const { return false; }
    virtual IoResult handshake() { return {IoStatus::done}; }
    // Reads the available bytes, up to `size`.
    virtual IoResult read(char* to, std::size_t size) = 0;
    // Writes a prefix of the bytes; `count` is its size. A repeated write must begin with the
    // same bytes, which may have moved in memory and may be followed by more.
    virtual IoResult write(const char* from, std::size_t size) = 0;
    virtual IoResult close_output() = 0;
    // True if a read may succeed although the descriptor is not readable.
    virtual bool buffers_input() const { return false; }
    // Bytes of a message that read() holds back until it is whole; at least 1 meanwhile.
    virtual std::size_t held() const { return 0; }
    // True if the transport has bytes of its own to write, such as the answer to a ping. The
    // next write() sends them first; its size may then be 0.
    virtual bool buffers_output() const { return false; }
    // Sends a ping with the next write(), if the protocol contains pings.
    virtual void ping() {}
    // The number of the last ping that the peer has answered, from 1 on.
    virtual std::uint64_t answered_ping() const { return 0; }
    // Null without TLS. The facts are complete when the handshake is done or has failed.
    virtual const TlsFacts* tls() const { return nullptr; }

    const End& failure() const { return failure_; }

protected:
    IoResult fail(End end) {
        failure_ = std::move(end);
        return {IoStatus::failed};
    }

private:
    End failure_;
};

class Fd;

// Takes ownership of the socket, which must be connected and non-blocking.
std::unique_ptr<Transport> make_plain_transport(Fd fd);

}  // namespace bufio
