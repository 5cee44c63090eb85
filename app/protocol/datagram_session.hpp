// A conversation in datagrams; see AnySession.  A message is a datagram, and so is a reply.
//
// Nothing tells that anybody is there until a reply comes, or an ICMP message that the port is
// unreachable, which ends the socket: so the session is open as soon as the name is resolved.
// Where such a message comes before any reply, the next address of the name is tried without a
// change of state, and gets what was sent so far.
// Which reply answers which message is decided by DatagramMatcher. A message without a reply
// within the reply timeout is lost; a reply that comes after that takes it back, as a late one.
#pragma once

#include "app/protocol/any_session.hpp"
#include "app/protocol/backoff.hpp"
#include "app/protocol/datagram_matcher.hpp"
#include "bufio/datagram.hpp"
#include "bufio/dial.hpp"
#include "ev/loop.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class DatagramSession final : public AnySession, private bufio::DatagramSocket::User {
public:
    using User = AnySession::User;

    DatagramSession(ev::Loop& loop, Options options, User& user);

    void connect() override;
    void disconnect() override;
    void finish() override;
    Queued send(std::string_view payload, ev::Time planned = {},
                std::optional<std::string_view> reply = {}) override;
    char* reserve(std::size_t) override { return nullptr; }
    Queued send_reserved(std::size_t) override { return {}; }
    std::uint64_t reserve_id() override { return matcher_.reserve_id(); }
    void flush() override;
    ev::Time flushed_at() const override { return flushed_at_; }
    void void_round_trips() override { matcher_.void_round_trips(); }
    void pause(bool paused) override;

    State state() const override { return state_; }
    bool connected() const override { return socket_ != nullptr; }
    bool peer_known() const override { return connected() && heard_; }
    std::string phase() const override;
    ev::Time since() const override { return since_; }
    const bufio::End& end() const override { return end_; }
    bool out_of_time() const override { return out_of_time_; }
    unsigned retry() const override { return backoff_.count(); }
    ev::Time retry_time() const override { return retry_.deadline(); }
    bool input_ended() const override { return false; }
    std::size_t in_flight() const override { return matcher_.in_flight(); }
    std::size_t in_flight_bytes() const override { return matcher_.in_flight_bytes(); }
    std::uint64_t last_id() const override { return matcher_.last_id(); }
    std::size_t pending() const override { return socket_ ? socket_->pending_bytes() : 0; }
    bool has_back_pressure() const override { return false; }
    const bufio::Address& address() const override { return address_; }
    const Phases& phases() const override { return phases_; }
    const bufio::TlsFacts* tls() const override { return nullptr; }
    std::optional<bufio::TcpFacts> tcp() const override { return std::nullopt; }
    const Options& options() const override { return options_; }

private:
    void datagrams_received(std::span<const bufio::Datagram> datagrams) override;
    void datagrams_written() override;
    void datagrams_ended() override;

    void dial();
    void on_dialed(bufio::DialResult result);
    void open_socket(bufio::Fd connected);
    bool try_next_address();
    bufio::End all_refused() const;
    bufio::End end_in_order() const;
    void note_peer();
    void remember(std::string_view payload);
    bool can_send_again() const;
    void send_again();
    void give_up_untried();
    void report(const DatagramMatcher::Event& event);
    void report_resolved();
    void report_changes();
    void change_soon() { changed_.start(ev::Duration::zero()); }

    void watch_all();
    void watch_idleness();
    void watch_replies();
    ev::Time reply_due();
    void resume_limits();
    void watch_while_reading(ev::Timer& timer, ev::Time at);
    void watch_end();
    void replies_late();

    void set_state(State state);
    void fail(bufio::End end);
    void ended(bufio::End end);
    void drop_socket(bufio::End end);
    bool worth_retrying(bufio::Reason reason) const;

    ev::Loop& loop_;
    Options options_;
    User& user_;
    DatagramMatcher matcher_;
    State state_ = State::idle;
    ev::Time since_{};
    bufio::End end_;
    bufio::Address address_;
    Phases phases_;
    std::optional<bufio::Dialer> dialer_;
    std::unique_ptr<bufio::DatagramSocket> socket_;
    // Until something comes: the addresses to try after the present one, and with Expect::none,
    // of which the matcher keeps nothing, what was sent while there are any.
    std::vector<bufio::Address> untried_;
    std::vector<std::string> sent_;
    std::size_t sent_bytes_ = 0;
    std::vector<std::string> refusals_;  // of the addresses that have been tried
    bool heard_ = false;                 // something has come on the present socket
    bufio::End refusal_;                 // the last one; none once something has come
    // These two let a function see whether a callback has destroyed the session, or has ended
    // the socket that the function works for.
    const std::shared_ptr<void> lifetime_ = std::make_shared<char>();
    std::shared_ptr<void> connection_;  // while there is a socket
    Backoff backoff_;
    ev::Time read_at_{};  // of the datagrams that are being matched
    ev::Time flushed_at_{};
    ev::Time finished_at_{};       // when finish() was called
    ev::Time answered_at_{};       // when the last reply was in; only while finishing
    ev::Time awaited_{};           // when the oldest message in flight was sent
    ev::Time awaited_since_{};     // its reply timeout counts from here
    ev::Time paused_at_{};         // when pause() last began
    ev::Time resumed_at_{};        // when pause() last ended
    ev::Duration longest_stop_{};  // pause after finish()
    ev::Duration longest_round_trip_{};
    bool paused_ = false;
    bool out_of_time_ = false;
    ev::Timer changed_;     // due at once: a call of the user has changed something
    ev::Timer connecting_;  // the connect timeout
    ev::Timer retry_;       // the next try
    ev::Timer max_time_;    // the end of all
    ev::Timer idle_;        // the idle timeout
    ev::Timer reply_;       // of the oldest message in flight
    ev::Timer lingering_;   // while finishing, all is answered: for late and repeated replies
};

}  // namespace yodel
