// A connection as two queues of bytes: what was received and not yet consumed, and what was
// written and not yet taken by the system.  It does the handshake if there is one, reads while
// there is room, writes as soon as it may, and tells its user when something has changed.
//
// A user reads received() and consume()s; a write() goes to the system at once where that takes
// it.  The user is called back, never from inside a call of its own, with stream_changed():
// when the handshake is done, bytes came or went, either side was closed, or the stream ended,
// and for nothing else: records of TLS without data are no news.  It may do anything there,
// destroying the stream included.  What it throws passes through the loop; after that, or after
// std::bad_alloc, the stream is good for nothing but to be destroyed.
//
// Both queues are bounded.  Above the high-water mark of input, by at most one read of 64 KiB,
// it stops reading until the user has consumed down to the low one, so that the peer meets its
// own back-pressure.  The low one is not below what the user needs at once to go on.  A write
// that would take the output past its limit is refused whole; users look at pending() before.
//
// When the peer takes nothing more, what it said before is still read: its last words may tell
// why.  To destroy a stream is to close the connection; what is pending is lost.
#pragma once

#include "bufio/buffer.hpp"
#include "bufio/end.hpp"
#include "bufio/transport.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace bufio {

class Stream {
public:
    class User {
    public:
        virtual void stream_changed(Stream& stream) = 0;

    protected:
        ~User() = default;
    };

    struct Limits {  // bytes
        std::size_t input_high = 256 * 1024;
        std::size_t input_low = 64 * 1024;
        std::size_t output = 64 * 1024 * 1024;
    };

    // The user outlives the stream.
    Stream(ev::Loop& loop, std::unique_ptr<Transport> transport, User& user, Limits limits);
    Stream(ev::Loop& loop, std::unique_ptr<Transport> transport, User& user)
        : Stream(loop, std::move(transport), user, Limits()) {}
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // The bytes received and not yet consumed; valid until consume() or until the call back
    // returns.
    std::string_view received() const;
    void consume(std::size_t count);

    // False if it was refused: the limit, or a stream that is finishing or has ended, told
    // or not yet.
    bool write(std::string_view bytes);
    std::size_t pending() const { return output_.size(); }
    std::uint64_t bytes_read() const { return bytes_read_; }
    // Bytes that the system has taken.
    std::uint64_t bytes_written() const { return bytes_written_; }

    // The user needs so many bytes at once to go on: until the next call the low-water mark is
    // not below that, and the high one above it.
    void set_min_readable(std::size_t bytes);
    // Held: reads nothing, and so does not notice either that the peer has ended.
    void pause_reading(bool paused);

    // Says, after all that is pending, that nothing more will be written: FIN, or close_notify
    // with TLS. Input goes on; once the peer has ended too, the stream has ended cleanly.
    void finish();
    // The same, ending with Reason::timeout if the peer's end has not come within `deadline`.
    void finish(ev::Duration deadline);
    // Ends the connection now, in order: the peer gets as much of what is pending as the system
    // takes at once and, if that was all, FIN or close_notify. The rest is lost.
    void close();
    // Ends now. What is pending is lost, and the peer gets to see a reset.
    void abort();

    bool open() const { return ready_ && !end_; }  // the handshake is done
    bool finishing() const { return finishing_; }
    // The peer takes nothing more, and only its last words are still read.
    bool output_failed() const { return static_cast<bool>(broken_); }
    bool output_closed() const { return output_closed_; }
    bool reading() const {
        return !full_ && !reading_paused_;
    }                                                  // neither above the high mark nor held
    bool input_ended() const { return input_ended_; }  // the peer has closed its side
    const End& end() const { return end_; }
    const TlsFacts* tls() const { return transport_->tls(); }

private:
    class Alive;

    // What the user is called for when it changes.
    struct News {
        std::uint64_t read, written;
        bool ready, input_ended, output_closed, ended;
        bool operator==(const News&) const = default;
    };

    News news() const;
    void notify_of_change(const News& before);
    void on_events(ev::Events events);
    void on_again();
    void handshake();
    void read();
    void flush();
    void push(std::string_view& bytes);
    void close_output();
    void fail_output();
    void end_if_both_closed();
    End gone() const;
    void end_with(End end);
    bool wants_input() const;
    bool wants_output() const;
    std::size_t low_mark() const;
    std::size_t high_mark() const;
    void update();
    void notify();

    std::unique_ptr<Transport> transport_;
    User& user_;
    Limits limits_;
    std::size_t needed_ = 0;  // bytes that the user needs at once, whatever the limits
    Buffer input_;
    Buffer output_;
    std::string_view fresh_;  // received, still in the shared read buffer: only while notifying
    End end_;
    End broken_;  // why nothing more can be sent, while the peer's last words are read
    ev::Watch watch_;
    // To go on without an event: input that poll can't see, or the end to tell.
    ev::Timer again_;
    ev::Timer deadline_;  // of finish()
    std::uint64_t bytes_read_ = 0;
    std::uint64_t bytes_written_ = 0;
    bool* destroyed_ = nullptr;  // where the destructor leaves its word, while notifying
    ev::Events handshake_waits_ = ev::none;
    ev::Events read_waits_ = ev::readable;   // the direction that the next read waits for
    ev::Events write_waits_ = ev::writable;  // the direction that the next write waits for
    bool ready_ = false;                     // the handshake is done
    bool full_ = false;  // input has passed its high-water mark and not yet come below the low
    bool unseen_ = false;  // the last read stopped before the transport had nothing more
    bool reading_paused_ = false;  // nothing is to be read
    bool input_ended_ = false;
    bool finishing_ = false;
    bool output_closed_ = false;
};

}  // namespace bufio
