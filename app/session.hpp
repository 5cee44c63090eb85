// One connection to a service and what is said over it: dialing, handshake, messages and their
// replies, timeouts, the end.  It knows neither terminal nor standard input; the full-screen
// and the pipe client are its users.
//
// A message is answered by the reply that equals it (Expect::echo) or by the next one
// (Expect::any). Replies come in order; a reply that equals a later message says that those
// before it are lost.  The round-trip time goes from the write that hands over the message's
// last byte to the read that completes its reply.
//
// Where the options allow it, what fails for a reason that may pass (look-up, connecting, a
// reset) is tried again after a while. What was sent is then lost; what had not yet gone out
// whole goes out again over the next connection, except in `raw`, whose bytes have no seam.
#pragma once

#include "app/backoff.hpp"
#include "app/framing.hpp"
#include "app/outstanding.hpp"
#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

enum class Expect { echo, any, none };

struct Reply {
    std::string_view payload;
    std::optional<ev::Duration> round_trip;  // none if it was voided
    bool right;
    std::size_t difference;  // the first byte that differs, where it is not right
};

class Session final : private bufio::Stream::User {
public:
    struct Options {
        bufio::Endpoint endpoint;
        std::optional<bufio::TlsContext> tls;
        const Framing* framing = find_framing("line");
        std::size_t max_frame = 32 * 1024 * 1024;  // bytes
        Expect expect = Expect::echo;
        // Between delimiters: messages of one send() that come back as they went may be told as
        // one, which costs much less than to tell each.
        bool together = false;
        ev::Duration connect_timeout =
            std::chrono::seconds(10);  // look-up, TCP and TLS together
        ev::Duration reply_timeout = std::chrono::seconds(5);
        ev::Duration close_timeout = std::chrono::seconds(5);  // for the peer's own end
        std::optional<ev::Duration> idle_timeout;
        unsigned retries = 0;  // tries in a row after the first, or `forever`
        ev::Duration retry_delay = std::chrono::milliseconds(500);  // see Backoff
        std::optional<ev::Duration> max_time;  // from the first connect() to the end of all
    };
    // How long the parts of connecting took.
    struct Phases {
        ev::Duration lookup{};
        ev::Duration tcp{};
        ev::Duration tls{};
    };
    static constexpr unsigned forever = std::numeric_limits<unsigned>::max();

    // `waiting`: for the next try; end() tells why the last one failed.
    enum class State { idle, dialing, handshaking, open, finishing, waiting, closed };

    // None of these may destroy the session.
    class User {
    public:
        virtual void session_changed() = 0;  // the state, or room for more to send
        virtual void session_answered(const Message& message, const Reply& reply) = 0;
        // No reply will come, or none has within the reply timeout (`late`).
        virtual void session_lost(const Message& message) = 0;
        virtual void session_unasked(std::string_view payload) = 0;
        // Where replies are not framed: the bytes as they come, before they are matched.
        virtual void session_received(std::string_view) {}

    protected:
        ~User() = default;
    };

    Session(ev::Loop& loop, Options options, User& user);

    // From idle or closed; from waiting: at once, as the first try.
    void connect();
    // Closes now, for good; pending output is lost.
    void disconnect();
    // Says that nothing more will be sent, once the outstanding replies are in; but while none
    // comes for a moment, at once: the service may wait for our end before it answers.
    void finish();

    // Queues a message, or several where the framing could not tell it from several, to go out
    // with the next flush(). Returns the id of the last one; 0 if it was refused: the session
    // is not open, or the message is longer than the framing or --max-frame allow, or empty
    // where replies are told apart by their size.
    std::uint64_t send(std::string_view payload);
    // Of `raw`, without a copy: room in the queue, and a message of what was put there.
    char* reserve(std::size_t size) { return outstanding_.reserve(size); }
    std::uint64_t send_reserved(std::size_t size);
    // The id of a message that can't be sent and is not queued.
    std::uint64_t skip() { return outstanding_.skip(); }
    std::uint64_t last_id() const { return outstanding_.last_id(); }
    void flush();
    // Something other than the service delays the replies under way: their times don't count.
    void void_round_trips() { outstanding_.void_round_trips(); }
    // While held, nothing received is looked at, so that the peer meets our back-pressure; and
    // nobody is told to be late.
    void hold(bool held);

    State state() const { return state_; }
    std::string phase() const;                 // of connecting, in words
    ev::Time since() const { return since_; }  // when the state was entered
    const bufio::End& end() const { return end_; }
    bool out_of_time() const { return out_of_time_; }  // the end of --max-time
    // While waiting: the number of the next try in a row, from 1, and its time.
    unsigned retry() const { return backoff_.count(); }
    ev::Time retry_time() const { return deadline_.deadline(); }
    bool input_ended() const { return stream_ && stream_->input_ended(); }
    // Messages without a reply that are not late.
    std::size_t awaited() const { return outstanding_.awaited(); }
    std::size_t awaited_bytes() const { return outstanding_.awaited_bytes(); }  // of these
    std::size_t pending() const { return stream_ ? stream_->pending() : 0; }
    const bufio::Address& address() const { return address_; }
    const Phases& phases() const { return phases_; }
    // Of the connection that stands or stood last; null without TLS.
    const bufio::TlsFacts* tls() const { return facts_ ? &*facts_ : nullptr; }
    const Options& options() const { return options_; }

private:
    void enter(State state);
    void dial();
    void dialed(bufio::Dialed dialed);
    void stream_changed(bufio::Stream& stream) override;
    void opened();
    void learn();
    void receive();
    void receive_echoes();
    void receive_message(std::string_view payload);
    void receive_unframed(std::string_view bytes);
    void match_unframed(std::string_view part, std::string_view expected);
    std::string_view expected_unframed();
    bool take_greeting();
    void answer(const Message& message, std::string_view expected, std::string_view payload,
                ev::Time read_at);
    void tell(const Message& message, const Reply& reply);
    void keep_unmatched(std::string_view payload);
    void settle(std::size_t count);
    void settle_unmatched();
    Message take_oldest();
    void lose_outstanding();
    void lose_sent();
    void count_anew();
    void watch_idleness();
    void watch_replies();
    ev::Time reply_due() const;
    void replies_late();
    void begin_end_anew();
    void watch_end();
    void timed_out();
    void time_over();
    void ended(bufio::End end);
    void wait_for_retry(bufio::End end);
    void close(bufio::End end);
    void drop_connection(bufio::End end);
    bool in_order(const bufio::End& end) const;
    bool worth_retrying(bufio::Reason reason) const;

    ev::Loop& loop_;
    Options options_;
    User& user_;
    Decoder decoder_;
    State state_ = State::idle;
    ev::Time since_{};
    bufio::End end_;
    bufio::Address address_;
    Phases phases_;
    std::optional<bufio::Dialer> dialer_;
    std::unique_ptr<bufio::Stream> stream_;
    std::optional<bufio::TlsFacts> facts_;
    Outstanding outstanding_;
    std::size_t same_ = 0;  // bytes received and waiting that equal the outstanding frames
    struct Unmatched {
        std::string payload;
        ev::Time read_at;
    };
    std::deque<Unmatched> unmatched_;  // replies that equal no message; fewer than awaited()
    ev::Time read_at_{};               // of the bytes that are being looked at
    // Where replies are not framed, of the oldest message:
    std::size_t matched_ = 0;  // bytes that have come back
    std::string wrong_;        // where they differ: all of them
    std::string changed_;      // of `caret`: the right reply, once it was asked for
    bool greeted_ = false;     // of `caret`: the server's first word has come
    bool held_ = false;
    bool out_of_time_ = false;
    ev::Time held_until_{};
    Backoff backoff_;
    ev::Timer deadline_;  // of connecting, then of idleness, or of waiting for the next try
    ev::Timer max_time_;
    ev::Timer reply_;    // of the oldest message that is not late
    ev::Timer quiet_;    // while finishing: no reply for a moment
    ev::Timer closing_;  // the peer's own end is waited for
};

}  // namespace yodel
