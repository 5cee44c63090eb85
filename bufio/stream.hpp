// A connection as two queues of bytes: the input, received but not yet consumed, and the
// output, not yet accepted by the transport. The stream also performs the handshake.
//
// The stream calls stream_changed() only from the loop: when the handshake is done, when bytes
// were received or sent, when a ping was answered, when either side was closed, when the input
// was rejected and when the stream has ended. Of the effects of the owner's own calls, it
// reports only the end. A transport without a handshake is open from the beginning, which is
// not reported. The owner may do anything in stream_changed(), including destroying this stream
// and others. An exception that it throws passes through the loop; after that, or after a
// std::bad_alloc from any call, the stream may only be destroyed.
//
// Both queues are bounded. Once the input exceeds its high-water mark, by at most one read of
// 64 KiB, the stream stops reading until the owner has consumed down to the low-water mark.
//
// When sending has failed, the stream ignores these marks, and still reads the bytes that the
// peer sent earlier, because they may contain the reason. It ends only afterwards. Destroying a
// stream closes the connection and drops pending output. The handshake has no deadline.
#pragma once

#include "bufio/buffer.hpp"
#include "bufio/transport.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace bufio {

// Detects whether a callback has destroyed the object whose member function is running. Make it
// a member of the object.
class Lifetime {
public:
    // A local variable. It expires with the object, or at end() if that is called earlier.
    class Watch {
    public:
        explicit Watch(Lifetime& lifetime)
            : lifetime_(&lifetime), outer_(std::exchange(lifetime.innermost_, this)) {}
        ~Watch() {
            if (lifetime_) lifetime_->innermost_ = outer_;
        }
        Watch(const Watch&) = delete;
        bool expired() const { return !lifetime_; }

    private:
        friend class Lifetime;
        Lifetime* lifetime_;
        Watch* outer_;
    };
    ~Lifetime() { end(); }
    void end() {
        for (; innermost_; innermost_ = innermost_->outer_) innermost_->lifetime_ = nullptr;
    }

private:
    Watch* innermost_ = nullptr;
};

class Stream {
public:
    class Owner {
    public:
        virtual void stream_changed(Stream& stream) = 0;

    protected:
        ~Owner() = default;
    };

    struct Limits {  // bytes
        std::size_t input_high = 256 * 1024;
        std::size_t input_low = 64 * 1024;
        std::size_t output = 64 * 1024 * 1024;
    };

    // The owner must outlive the stream.
    Stream(ev::Loop& loop, std::unique_ptr<Transport> transport, Owner& owner, Limits limits);
    Stream(ev::Loop& loop, std::unique_ptr<Transport> transport, Owner& owner)
        : Stream(loop, std::move(transport), owner, Limits()) {}
    Stream(const Stream&) = delete;

    // The bytes received and not yet consumed. The view is valid until the next consume(), and
    // at most until the current callback of the loop returns.
    std::string_view received() const;
    void consume(std::size_t count);

    // Returns false, and appends nothing, if the bytes would exceed the limit, or if the stream
    // is finishing or has ended, which the owner may not know yet.
    bool write(std::string_view bytes);
    void ping();  // sends a ping, if the transport and the state allow it
    std::uint64_t answered_ping() const { return transport_->answered_ping(); }
    std::size_t pending() const { return output_.size(); }  // bytes of the output
    std::uint64_t bytes_read() const { return bytes_read_; }
    std::size_t held() const { return transport_->held(); }
    std::uint64_t bytes_written() const { return bytes_written_; }  // accepted by transport
    // Increases with each read and write, even if the transport holds back what was read.
    std::uint64_t traffic() const { return read_count_ + bytes_written_; }

    // Declares that the owner needs at least `bytes` bytes to make progress. Until the next
    // call, the low-water mark is at least `bytes`, and the high-water mark is above it.
    void set_min_readable(std::size_t bytes);
    // Stops or resumes reading. A paused stream does not notice that the peer has closed.
    void pause_reading(bool is_paused);

    // Sends all pending output, and then half-closes the connection by FIN, close_notify or a
    // close frame. Reading continues. Once the peer has also closed its side, the stream ends
    // cleanly.
    void finish();
    // Like finish(), but ends the stream with Reason::timeout if it has not ended within
    // `max_wait`.
    void finish(ev::Duration max_wait);
    // Ends the stream now. Sends the pending output that the system accepts now and, if that
    // was all, closes our side like finish().
    void close();
    void abort();  // ends the stream now; when it is destroyed, a TCP peer sees a reset

    bool handshake_done() const { return is_handshake_reported_; }
    bool is_open() const { return is_handshake_done_ && !has_ended_; }
    bool is_finishing() const { return is_finishing_; }
    bool output_failed() const { return has_output_failed_; }
    bool output_closed() const { return is_output_closed_; }
    bool input_ended() const { return has_input_ended_ || is_input_rejected_; }
    // The reason for which the transport rejected the input, or Reason::none. Later input is
    // discarded. The owner should finish the stream, which then ends for this reason.
    const End& rejection() const { return is_input_rejected_ ? end_ : no_end; }
    const End& end() const { return has_ended_ ? end_ : no_end; }
    const TlsFacts* tls() const { return transport_->tls(); }
    // For queries, such as tcp_facts(); not for reading, writing or waiting.
    int descriptor() const { return transport_->descriptor(); }

private:
    std::uint64_t change_count() const;
    void notify_of_change(std::uint64_t old_count);
    void on_events(ev::Events events);
    void handshake();
    void read();
    void flush();
    void write_to_transport(std::string_view& bytes);
    void close_output();
    void fail_output();
    void end_if_both_closed();
    void end_with(End end);
    void on_timer();
    bool is_resuming() const { return timer_.pending() && timer_.deadline() != must_end_at_; }
    bool wants_input() const;
    bool wants_output() const;
    void update_interest();
    void notify();

    ev::Loop& loop_;
    std::unique_ptr<Transport> transport_;
    Owner& owner_;
    Limits limits_;
    std::size_t min_readable_ = 0;  // bytes, from set_min_readable()
    Buffer input_;
    Buffer output_;
    std::string_view shared_input_;  // in the shared read buffer; empty except in on_events()
    End end_;                        // set once the input is rejected or the stream has ended
    ev::Watch watch_;
    // Due immediately to read after a failed write, to read bytes that poll cannot see, and to
    // report the handshake or the end; otherwise due at must_end_at_.
    ev::Timer timer_;
    ev::Time must_end_at_ = ev::Time::max();  // max() without a deadline
    std::uint64_t bytes_read_ = 0;
    std::uint64_t read_count_ = 0;  // reads that received something
    std::uint64_t bytes_written_ = 0;
    Lifetime lifetime_;
    ev::Events handshake_waits_for_ = ev::none;
    ev::Events read_waits_for_ = ev::readable;   // the event that the next read waits for
    ev::Events write_waits_for_ = ev::writable;  // the event that the next write waits for
    bool is_handshake_done_ = false;
    bool is_handshake_reported_ = false;  // also true if the transport has none
    bool is_above_high_water_ = false;    // until the input falls to the low-water mark
    bool has_buffered_input_ = false;     // in the transport, where poll can't see it
    bool is_reading_paused_ = false;
    bool has_input_ended_ = false;
    bool is_input_rejected_ = false;
    bool has_ended_ = false;
    bool is_finishing_ = false;
    bool has_output_failed_ = false;
    bool is_output_closed_ = false;
};

struct TcpFacts {
    // The shortest time from a segment to its acknowledgement, over the last minutes.
    std::optional<ev::Duration> min_rtt;
    std::uint64_t retransmits = 0;  // of our own segments
    std::uint64_t mss = 0;          // bytes of payload in a full segment
    std::uint64_t cwnd = 0;         // the congestion window, in segments
};

// Makes a system call (TCP_INFO). Returns std::nullopt unless `socket` is TCP on Linux.
std::optional<TcpFacts> tcp_facts(int socket);

}  // namespace bufio
