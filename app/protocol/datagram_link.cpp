// Carries messages in datagrams: one for each message, and one for each reply.
//
// The link is ready at once, because only a reply proves that there is a peer. Only an ICMP
// "port unreachable" proves that there is none, and it ends the socket.
//
// When listening, it accepts datagrams from any peer, and answers the sender of the last
// datagram.
//
// The link lingers after the last reply, because a late reply changes the fate of its message
// from lost to late.

#include "app/protocol/content_matcher.hpp"
#include "app/protocol/link.hpp"
#include "bufio/accept.hpp"
#include "bufio/datagram.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace yodel {

using bufio::End;
using bufio::Reason;

namespace {

// After the last expected reply, the link waits for late and duplicate replies: for
// lingering_round_trips times the longest round trip, but at least min_linger, at most
// max_linger, and not longer than -q.
constexpr ev::Duration min_linger = std::chrono::milliseconds(100);
constexpr ev::Duration max_linger = std::chrono::seconds(1);
constexpr int lingering_round_trips = 4;

class DatagramLink final : public Link, private bufio::DatagramSocket::User {
public:
    DatagramLink(ev::Loop& loop, const SessionOptions& options, Link::User& user)
        : Link(loop, options, user),
          matcher_({.expect = options.expect,
                    .pattern = options.pattern_or_null(),
                    .numbered = options.numbered,
                    .expected_unsolicited = options.expected_unsolicited}) {}

    Matcher& matcher() override { return matcher_; }

    void open(bufio::DialResult result) override {
        bufio::DatagramSocket::User& user = *this;
        socket_ = options_.listens() ? std::make_unique<bufio::DatagramSocket>(
                                           loop_, std::move(result.socket),
                                           options_.endpoint.acceptor->address(), user)
                                     : std::make_unique<bufio::DatagramSocket>(
                                           loop_, std::move(result.socket), user);
        socket_->pause_reading(paused_);
        address_ = result.address;
        received_ = 0;
        end_ = {};
        linger_start_ = {};
    }
    void close() override {
        socket_.reset();
        batch_ = {};
    }
    bool connected() const override { return socket_ != nullptr; }
    bool ready() const override { return true; }
    bool peer_known() const override {
        return connected() && (has_received() || options_.listens());
    }
    bool has_received() const override { return received_ > 0; }
    void pause(bool paused) override {
        paused_ = paused;
        if (socket_) socket_->pause_reading(paused);
    }

    QueuedIds send(std::string_view payload, ev::Time planned,
                   std::optional<std::string_view> reply) override {
        if (!socket_ || !is_sendable(*options_.framing, options_.max_frame, payload)) return {};
        const bool queued = options_.listens() ? socket_->send(payload, address_, local_)
                                               : socket_->send(payload);
        if (!queued) return {};
        return matcher_.queue(payload, planned, loop_.now(), reply);
    }
    bool flushed() const override { return !socket_ || socket_->pending() == 0; }
    bool flush(ev::Time now) override {
        socket_->flush();
        record_written(now);
        return true;
    }
    void record_written(ev::Time now) override {
        if (socket_) matcher_.record_written(socket_->dequeued(), now);
    }
    std::size_t pending() const override { return socket_ ? socket_->pending_bytes() : 0; }
    std::uint64_t written() const override { return socket_->dequeued(); }
    std::uint64_t traffic() const override { return received_ + socket_->dequeued(); }
    bool has_back_pressure() const override { return false; }

    std::optional<Event> next(ev::Time read_at) override {
        if (auto event = matcher_.next_resolved()) return event;
        if (batch_.empty()) return std::nullopt;
        const std::string_view reply = batch_.front().bytes;
        batch_ = batch_.subspan(1);
        return matcher_.match(reply, read_at, last_id_);
    }

    const End& end() const override { return end_; }
    bool peer_closes() const override { return false; }
    // Each received datagram restarts the linger time. A restart does not extend it beyond
    // `limit`.
    ev::Time end_deadline(ev::Time limit, ev::Time active_at) override {
        if (linger_start_ == ev::Time{}) linger_start_ = loop_.now();
        if (options_.listens())
            return std::max(linger_start_, active_at) + options_.answer_time;
        const ev::Duration wanted = lingering_round_trips * matcher_.max_round_trip();
        const ev::Duration linger =
            std::min(std::clamp(wanted, min_linger, max_linger), options_.close_timeout);
        return std::min(std::max(linger_start_, active_at) + linger,
                        std::max(linger_start_ + linger, limit));
    }
    End refusal() const override { return refusal_; }
    void reset_refusal() override { refusal_ = {}; }

private:
    void datagrams_received(std::span<const bufio::Datagram> datagrams) override {
        refusal_ = {};
        received_ += datagrams.size();
        if (options_.listens()) {
            address_ = datagrams.back().peer;
            local_ = datagrams.back().local;
        }
        batch_ = datagrams;
        last_id_ = matcher_.last_id();
        user_.link_changed();
    }
    void datagrams_written() override { user_.link_changed(); }
    void datagrams_ended() override {
        end_ = socket_->end();
        if (end_.reason == Reason::refused || end_.reason == Reason::connect) refusal_ = end_;
        user_.link_changed();
    }

    ContentMatcher matcher_;
    std::unique_ptr<bufio::DatagramSocket> socket_;
    std::span<const bufio::Datagram> batch_;  // received and not yet matched
    std::uint64_t last_id_ = 0;   // the last message queued before the batch was read
    std::uint64_t received_ = 0;  // datagrams on the current socket
    bufio::Address local_;        // when listening: our address in the last datagram
    End refusal_;                 // last refusal; none once something was received
    End end_;
    ev::Time linger_start_{};  // start of lingering; 0 before it
};

}  // namespace

std::unique_ptr<Link> make_datagram_link(ev::Loop& loop, const SessionOptions& options,
                                         Link::User& user) {
    return std::make_unique<DatagramLink>(loop, options, user);
}

}  // namespace yodel
