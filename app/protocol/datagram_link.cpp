// Messages in datagrams: each message is one datagram, and so is each reply.
//
// Only a reply shows that a peer is there. Only an ICMP message that the port is unreachable
// shows the opposite, and ends the socket. So the link is ready at once. If such an ICMP
// message comes before any reply, the link tries the next address of the name without a change
// of state, and sends all messages again.
//
// A late reply revokes the loss of its message, so the link lingers after the last reply.

#include "app/protocol/content_matcher.hpp"
#include "app/protocol/link.hpp"
#include "app/text/units.hpp"
#include "bufio/datagram.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace yodel {

using bufio::End;
using bufio::Reason;

namespace {

// The time for late and repeated replies after the last expected reply: a multiple of the
// longest round trip, within these limits and -q.
constexpr ev::Duration min_linger = std::chrono::milliseconds(100);
constexpr ev::Duration max_linger = std::chrono::seconds(1);
constexpr int lingering_round_trips = 4;

// Messages that are sent again to another address must fit into its socket's queue.
constexpr std::size_t max_sent_again = 4096;
constexpr std::size_t max_bytes_sent_again = 2 * 1024 * 1024;

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
        address_ = result.address;
        untried_ = std::move(result.untried);
        refusals_.clear();
        lingers_since_ = {};
        open_socket(std::move(result.socket));
    }
    void close() override {
        socket_.reset();
        batch_ = {};
        give_up_untried();
    }
    bool connected() const override { return socket_ != nullptr; }
    bool ready() const override { return true; }
    bool peer_known() const override { return connected() && heard(); }
    bool heard() const override { return received_ > 0; }
    void pause(bool paused) override {
        paused_ = paused;
        if (socket_) socket_->pause_reading(paused);
    }

    // A message to an address that has just refused will be sent again to the next one.
    Queued send(std::string_view payload, ev::Time planned,
                std::optional<std::string_view> reply) override {
        if (!socket_ || !sendable(*options_.framing, options_.max_frame, payload)) return {};
        const bool refused = socket_->end().reason == Reason::connect && !untried_.empty();
        if (!refused && !socket_->send(payload)) return {};
        remember(payload);
        return matcher_.queue(payload, planned, loop_.now(), reply);
    }
    bool flushed() const override { return !socket_ || socket_->pending() == 0; }
    bool flush(ev::Time now) override {
        socket_->flush();
        record_written(now);
        return true;
    }
    void record_written(ev::Time now) override {
        if (socket_) matcher_.record_written(socket_->written(), now);
    }
    std::size_t pending() const override { return socket_ ? socket_->pending_bytes() : 0; }
    std::uint64_t written() const override { return socket_->written(); }
    // A change to another address also counts as activity.
    std::uint64_t moved() const override {
        return received_ + socket_->written() + refusals_.size();
    }
    bool has_back_pressure() const override { return false; }

    std::optional<Matcher::Event> next(ev::Time read_at) override {
        for (;;) {
            if (auto event = matcher_.next_resolved()) return event;
            if (batch_.empty()) return std::nullopt;
            const std::string_view reply = batch_.front().bytes;
            batch_ = batch_.subspan(1);
            if (auto event = matcher_.match(reply, read_at, last_id_)) return event;
        }
    }

    const End& end() const override { return end_; }
    bool peer_closes() const override { return false; }
    // Each datagram restarts the time to linger, but a server that keeps sending does so only
    // up to the limit.
    ev::Time end_due(ev::Time limit, ev::Time active_at) override {
        if (lingers_since_ == ev::Time{}) lingers_since_ = loop_.now();
        const ev::Duration wanted = lingering_round_trips * matcher_.longest_round_trip();
        const ev::Duration linger =
            std::min(std::clamp(wanted, min_linger, max_linger), options_.close_timeout);
        return std::min(std::max(lingers_since_, active_at) + linger,
                        std::max(lingers_since_ + linger, limit));
    }
    End refusal() const override { return refusal_; }
    void forget_refusal() override { refusal_ = {}; }

private:
    void datagrams_received(std::span<const bufio::Datagram> datagrams) override {
        if (!heard()) give_up_untried();
        refusal_ = {};
        received_ += datagrams.size();
        batch_ = datagrams;
        last_id_ = matcher_.last_id();
        user_.link_changed();
    }
    void datagrams_written() override { user_.link_changed(); }
    void datagrams_ended() override {
        if (socket_->end().reason != Reason::connect) {
            end_ = socket_->end();
        } else {
            refusals_.push_back(socket_->end().text);
            if (!try_next_address()) end_ = refusal_ = all_refused();
        }
        user_.link_changed();
    }

    void open_socket(bufio::Fd connected) {
        bufio::DatagramSocket::User& user = *this;
        socket_ = std::make_unique<bufio::DatagramSocket>(loop_, std::move(connected), user);
        socket_->pause_reading(paused_);
        received_ = 0;
        end_ = {};
    }

    // --- Other addresses of the name.

    // Sends all messages again to the next address. Closes the socket first, because the next
    // one may need its port.
    bool try_next_address() {
        if (matcher_.in_flight() > max_sent_again ||
            matcher_.in_flight_bytes() > max_bytes_sent_again)
            give_up_untried();
        while (!untried_.empty()) {
            socket_.reset();
            address_ = untried_.front();
            untried_.erase(untried_.begin());
            std::string failure;
            bufio::Fd connected =
                bufio::connect_datagrams(options_.endpoint, address_, failure);
            if (!connected) {
                refusals_.push_back(address_.text() + ": " + failure);
                continue;
            }
            open_socket(std::move(connected));
            for (const std::string_view each : matcher_.take_back()) socket_->send(each);
            for (const std::string& each : sent_) socket_->send(each);
            if (untried_.empty()) give_up_untried();  // nothing is to be sent a third time
            flush(loop_.read_clock());
            lingers_since_ = {};
            return true;
        }
        return false;
    }
    void remember(std::string_view payload) {
        if (untried_.empty() || options_.expect != Expect::none) return;
        sent_.emplace_back(payload);
        sent_bytes_ += payload.size();
        if (sent_.size() > max_sent_again || sent_bytes_ > max_bytes_sent_again)
            give_up_untried();
    }
    void give_up_untried() {
        untried_.clear();
        sent_.clear();
        sent_bytes_ = 0;
    }
    End all_refused() const {
        std::string text = "cannot connect to ";
        if (refusals_.size() > 1) text += options_.endpoint.text() + ": ";
        return {Reason::connect, text + joined(refusals_, "; ")};
    }

    ContentMatcher matcher_;
    std::unique_ptr<bufio::DatagramSocket> socket_;
    std::span<const bufio::Datagram> batch_;  // received and not yet matched
    std::uint64_t last_id_ = 0;               // the last message before the batch was read
    std::uint64_t received_ = 0;              // datagrams, on the present socket
    // Until something is received: the addresses to try after the present one. With
    // Expect::none, for which the matcher keeps nothing, also the messages sent so far.
    std::vector<bufio::Address> untried_;
    std::vector<std::string> sent_;
    std::size_t sent_bytes_ = 0;
    std::vector<std::string> refusals_;  // one per address tried so far
    End refusal_;                        // the last one; none once something was received
    End end_;                            // the socket's, if no other address takes over
    ev::Time lingers_since_{};           // start of lingering; none: not yet
};

}  // namespace

std::unique_ptr<Link> make_datagram_link(ev::Loop& loop, const SessionOptions& options,
                                         Link::User& user) {
    return std::make_unique<DatagramLink>(loop, options, user);
}

}  // namespace yodel
