// What a stream reads and writes: a plain descriptor, TLS on top of one, WebSocket on top of
// either, datagrams, or a script in a test. Also why connections end, and the facts about TLS.
#pragma once

#include "bufio/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bufio {

// The reason why a connection, or the attempt to make one, has ended.
enum class Reason {
    none,                   // not ended
    clean,                  // both sides closed gracefully
    unclosed,               // all is done, but the peer has not closed its side in time
    aborted,                // closed or aborted by us
    lookup,                 // no address found for the name
    refused,                // every address refused the connection, or the service rejected it
    connect,                // connecting or accepting failed for another reason
    timeout,                // a deadline passed
    tls,                    // the TLS handshake failed, or its settings are unusable
    handshake_interrupted,  // the connection was lost during the TLS handshake
    certificate,            // the peer's certificate was not accepted
    pin,                    // the peer's public key is not pinned
    own_certificate,        // our certificate is missing, unusable or refused
    trust,                  // the trusted certificates can't be loaded
    send,                   // sending failed
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
    const char* what = "";    // a clause, without its subject if that is the peer
    std::string detail = {};  // continues `what`, often in the words of the peer or the system

    explicit operator bool() const { return reason != Reason::none; }
    // Returns one clause for people, without a full stop. It may contain bytes from the peer,
    // so make it printable before writing it to a terminal.
    std::string text(std::string_view peer = "the peer") const;
};

inline const End no_end;

// Returns an end for the errno `code`. EPIPE, ECONNRESET while sending or receiving, and
// ECONNREFUSED while connecting replace `reason` by a more exact one.
End system_end(Reason reason, const char* what, int code);

// Texts from the peer have a bounded length but are unfiltered, so they must be made printable
// before they are written to a terminal.
struct TlsFacts {
    std::string version;
    std::string cipher;
    std::string group;  // the key exchange group, by OpenSSL's name; empty if there is none
    std::string alpn;
    std::string subject;  // subject of the peer's certificate; empty if there is none
    std::string issuer;
    std::string not_after;           // ISO date
    bool is_expired = false;         // not_after has passed
    long days_left = 0;              // whole days until not_after, or minus those since then
    std::vector<std::string> chain;  // the certificates sent, the peer's own first; at most ten
    std::string pin;                 // sha256//BASE64 of the peer's public key
    std::string faults_text;    // the first faults of the certificate; empty without faults
    int fault_count = 0;        // includes faults that faults_text omits
    bool is_untrusted = false;  // not issued by a trusted authority
    bool has_incomplete_chain = false;  // untrusted, and the issuer's certificate was not sent
    bool is_resumed = false;            // the session was resumed
    std::size_t unanswered_hello_size = 0;  // bytes of our ClientHello; 0 once answered
    bool has_default_groups = true;         // no option chose the key exchange groups
    bool lacks_own_certificate = false;     // the peer requested one, but we have none
};

// The outcome of one call. After `wants_read` or `wants_write` the caller repeats the same call
// once the descriptor is readable or writable. TLS may have to read in order to write, and vice
// versa. A read is `rejected` if the bytes violate the protocol; see failure().
enum class IoStatus { done, wants_read, wants_write, end_of_input, rejected, failed };

struct IoResult {
    IoStatus status;
    // Bytes moved. A read may move bytes although its status is not `done`; a write does not.
    std::size_t count = 0;
};

// One call does a bounded amount of work, whatever the peer sends, so that no stream starves
// the others.
//
// The caller repeats handshake() until it is `done`, and only then reads, writes and closes.
// Lengths must not be zero, except as buffers_output() allows. After `end_of_input` no read may
// follow; once close_output() is `done`, only reads may follow. After `rejected`, all calls may
// follow, but reads discard all input. After a write or close_output() has `failed`, only
// read() may be called, for the bytes that the peer sent earlier. After handshake() or read()
// has `failed`, none of these calls may follow.
class Transport {
public:
    virtual ~Transport() = default;
    virtual int descriptor() const = 0;  // to wait for; the transport owns it
    virtual bool has_handshake() const { return false; }
    virtual IoResult handshake() { return {IoStatus::done}; }
    virtual IoResult read(char* to, std::size_t size) = 0;
    // Writes a prefix of the bytes; `count` is its size. A repeated write must begin with the
    // same bytes, which may have moved in memory and may be followed by more.
    virtual IoResult write(const char* from, std::size_t size) = 0;
    virtual IoResult close_output() = 0;
    // True if a read may succeed although the descriptor is not readable.
    virtual bool buffers_input() const { return false; }
    // Bytes of a message that read() holds back until the message is whole; 0 if there is none.
    virtual std::size_t held() const { return 0; }
    // True if the transport has bytes of its own to write, such as the answer to a ping. The
    // next write() sends them first; its size may then be 0.
    virtual bool buffers_output() const { return false; }
    virtual void ping() {}  // sent with the next write(), if the protocol has pings
    // The last answered ping, numbered from 1; 0 if there is none.
    virtual std::uint64_t answered_ping() const { return 0; }
    // Null if TLS is not used. The facts change until the handshake is done or has failed.
    virtual const TlsFacts* tls() const { return nullptr; }

    const End& failure() const { return failure_ ? *failure_ : no_end; }

protected:
    IoResult fail(End end) {
        failure_ = std::make_unique<const End>(std::move(end));
        return {IoStatus::failed};
    }

private:
    std::unique_ptr<const End> failure_;  // null before a failure, to save memory
};

// Takes ownership of the socket, which must be connected and non-blocking.
std::unique_ptr<Transport> make_plain_transport(Fd fd);

}  // namespace bufio
