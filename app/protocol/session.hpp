// One connection to a service and what is said over it: dialing, handshake, messages and their
// replies, time-outs, the end.  It knows neither terminal nor standard input; the full-screen
// client and the pipe client are its users.  Which reply answers which message is decided by
// ReplyMatcher; a round trip counts from the write that hands over the message's last byte to
// the read that completes its reply.
//
// Where the options allow it, a failure that may pass (look-up, connecting, a reset, a server
// that closes too early) is followed by another try after a while. Messages that were written
// are then lost; those that were not yet written whole are sent again over the next connection,
// except in `raw`, whose bytes have no boundaries.
//
// The user is called from the loop, never from inside a call of its own: what a call changes is
// reported after it. From there it may call the session, and destroy it.
#pragma once

#include "app/protocol/any_session.hpp"
#include "app/protocol/backoff.hpp"
#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
#include "app/protocol/retransmit_watch.hpp"
#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "bufio/tcp_facts.hpp"
#include "bufio/tls.hpp"
#include "bufio/tls_facts.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class Session final : public AnySession, private bufio::Stream::User {
public:
    using User = AnySession::User;

    Session(ev::Loop& loop, Options options, User& user);
    // The same, where many sessions share their options.
    Session(ev::Loop& loop, std::shared_ptr<const Options> options, User& user);

    void connect() override;
    void disconnect() override;
    void finish() override;
    Queued send(std::string_view payload, ev::Time planned = {},
                std::optional<std::string_view> reply = {}) override;
    char* reserve(std::size_t size) override { return matcher_.messages().reserve(size); }
    Queued send_reserved(std::size_t size) override;
    std::uint64_t reserve_id() override { return matcher_.messages().reserve_id(); }
    void flush() override;
    ev::Time flushed_at() const override { return flushed_at_; }
    void void_round_trips() override { matcher_.messages().void_round_trips(); }
    void pause(bool paused) override;

    State state() const override { return state_; }
    bool connected() const override { return stream_ != nullptr; }
    bool peer_known() const override { return connected(); }
    std::string phase() const override;
    ev::Time since() const override { return since_; }
    const bufio::End& end() const override { return end_; }
    bool out_of_time() const override { return out_of_time_; }
    unsigned retry() const override { return backoff_.count(); }
    ev::Time retry_time() const override { return retry_.deadline(); }
    bool input_ended() const override { return stream_ && stream_->input_ended(); }
    const InFlight& messages() const { return matcher_.messages(); }
    std::size_t in_flight() const override { return messages().in_flight(); }
    std::size_t in_flight_bytes() const override { return messages().in_flight_bytes(); }
    std::uint64_t last_id() const override { return messages().last_id(); }
    std::size_t pending() const override { return stream_ ? stream_->pending() : 0; }
    bool has_back_pressure() const override { return true; }
    const bufio::Address& address() const override { return address_; }
    const Phases& phases() const override { return phases_; }
    const bufio::TlsFacts* tls() const override { return facts_.get(); }
    std::optional<bufio::TcpFacts> tcp() const override;
    const Options& options() const override { return *options_; }

private:
    void dial();
    void on_dialed(bufio::DialResult result);
    void opened();
    void stream_changed(bufio::Stream& stream) override;
    void advance();
    void advance_stream();
    void record_progress();
    void receive();
    void report(const ReplyMatcher::Event& event);
    void report(const ReplyMatcher::Answered& event);
    void report(const ReplyMatcher::Echoed& event);
    void report(const ReplyMatcher::Lost& event);
    void report(const ReplyMatcher::Unsolicited& event);
    void report(const ReplyMatcher::Arrived& event);
    void report(const ReplyMatcher::Refused& event);
    void report_resolved();
    void report_changes();
    void input_over();
    void record_facts();
    Message marked(Message message, std::optional<ev::Duration> round_trip, ev::Time now);

    void watch_all();
    void watch_idleness();
    void watch_writing();
    void watch_replies();
    void watch_greeting();
    void watch_end();
    ev::Time reply_due();
    void resume_limits();
    void replies_late();
    void fail(bufio::Reason reason, std::string text);

    void set_state(State state);
    void ended(bufio::End end);
    void wait_for_retry(bufio::End end);
    void close(bufio::End end);
    void drop_connection(bufio::End end);
    bool in_order(const bufio::End& end) const;
    bool worth_retrying(bufio::Reason reason) const;
    bufio::End explained(bufio::End end) const;

    // A timer that was never started, or was released, takes no memory but its handle.
    template <auto due>
    void start(ev::Timer& timer, ev::Time at);
    // For a limit that does not run while the session is paused.
    template <auto due>
    void watch_while_reading(ev::Timer& timer, ev::Time at);
    static bool runs(const ev::Timer& timer) { return timer && timer.pending(); }
    static void release(ev::Timer& timer) { timer = {}; }
    void not_connected();
    void try_again();
    void time_up();
    void idle_too_long();
    void nothing_taken();
    void no_greeting();
    void replies_pause();
    void not_closed();
    void closed_too_early();

    ev::Loop& loop_;
    const std::shared_ptr<const Options> options_;
    User& user_;
    ReplyMatcher matcher_;
    State state_ = State::idle;
    ev::Time since_{};
    bufio::End end_;
    bufio::Address address_;
    Phases phases_;
    std::unique_ptr<bufio::Dialer> dialer_;  // while it dials
    std::unique_ptr<bufio::Stream> stream_;
    // These two let a function see whether a callback has destroyed the session, or has ended
    // the connection that the function works for.
    const std::shared_ptr<void> lifetime_ = std::make_shared<char>();
    std::shared_ptr<void> connection_;  // while there is a stream
    std::unique_ptr<const bufio::TlsFacts> facts_;
    std::optional<bufio::TcpFacts> tcp_;  // of the last connection, at its end
    RetransmitWatch retransmits_;         // unused without the option mark_resent
    Backoff backoff_;
    std::string first_bytes_;          // of the connection, as many as an alert of TLS has
    std::uint64_t moved_bytes_ = 0;    // read and written when the connection was last active
    std::uint64_t written_bytes_ = 0;  // when the peer last took some
    ev::Time read_at_{};               // of the bytes that are being matched
    ev::Time taken_at_{};              // when the peer last took some
    ev::Time awaited_{};               // when the oldest message in flight was sent
    ev::Time awaited_since_{};         // its reply timeout counts from here
    ev::Time paused_at_{};             // when pause() last began
    ev::Time resumed_at_{};            // when pause() last ended
    ev::Duration longest_stop_{};      // pause after finish()
    ev::Time finished_at_{};           // when finish() was called
    ev::Time flushed_at_{};
    bool paused_ = false;
    bool partial_message_ = false;  // the peer ended inside one
    bool out_of_time_ = false;
    ev::Timer changed_;       // due at once: a call of the user has changed something
    ev::Timer connecting_;    // the connect timeout
    ev::Timer retry_;         // the next try
    ev::Timer max_time_;      // the end of all
    ev::Timer idle_;          // the idle timeout
    ev::Timer stalled_;       // the peer takes nothing
    ev::Timer reply_;         // of the oldest message in flight
    ev::Timer greeting_;      // until the first reply counts as a wrong answer
    ev::Timer quiet_;         // while finishing: no reply for a moment
    ev::Timer closing_;       // the peer's own end is awaited
    ev::Timer closed_early_;  // until the end of our input no longer counts as in time
};

}  // namespace yodel
