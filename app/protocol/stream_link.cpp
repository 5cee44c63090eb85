// Carries messages in a stream over TCP, TLS, WebSocket or UDP. Unless it is a WebSocket, each
// side can close separately.
//
// With datagrams the link is ready at once, because only a reply proves that there is a peer.
// Only an ICMP "port unreachable" proves that there is none, and it ends the stream. The link
// lingers after the last reply, because a late reply changes the fate of its message from lost
// to late.

#include "app/protocol/content_matcher.hpp"
#include "app/protocol/link.hpp"
#include "app/protocol/ordered_matcher.hpp"
#include "bufio/packets.hpp"
#include "bufio/stream.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace yodel {

using bufio::End;

namespace {

using Alert = std::array<char, 7>;  // a TLS alert with its record header

// A TLS server answers a client without TLS with nothing but an alert.
bool is_tls_alert(const Alert& bytes) {
    return bytes[0] == '\x15' && bytes[1] == '\x03' && bytes[2] <= '\x04' && bytes[3] == '\0' &&
           bytes[4] == '\x02' && (bytes[5] == '\x01' || bytes[5] == '\x02');
}

// With datagrams, the link waits for late and duplicate replies after the last expected reply:
// for lingering_round_trips times the longest round trip, but at least min_linger, at most
// max_linger, and not longer than -q.
constexpr ev::Duration min_linger = std::chrono::milliseconds(100);
constexpr ev::Duration max_linger = std::chrono::seconds(1);
constexpr int lingering_round_trips = 4;

std::unique_ptr<Matcher> make_matcher(const SessionOptions& options) {
    if (options.endpoint.udp)
        return std::make_unique<ContentMatcher>(
            ContentMatcher::Options{.expect = options.expect,
                                    .pattern = options.pattern_or_null(),
                                    .numbered = options.numbered,
                                    .expected_unsolicited = options.expected_unsolicited});
    return std::make_unique<OrderedMatcher>(
        OrderedMatcher::Options{.framing = options.framing,
                                .max_frame = options.max_frame,
                                .expect = options.expect,
                                .greeted = options.starttls != nullptr,
                                .coalesce = options.coalesce,
                                .pattern = options.pattern_or_null(),
                                .expected_unsolicited = options.expected_unsolicited});
}

class StreamLink final : public Link, private bufio::Stream::User {
public:
    StreamLink(ev::Loop& loop, const SessionOptions& options, Link::User& user)
        : Link(loop, options, user),
          owned_matcher_(make_matcher(options)),
          matcher_(*owned_matcher_) {}

    Matcher& matcher() override { return matcher_; }

    void reset_facts() override { facts_.reset(); }
    void open(bufio::DialResult result) override {
        address_ = result.address;
        if (options_.has_handshake()) facts_ = std::make_unique<Facts>();
        auto transport = make_transport(std::move(result.socket));
        bufio::Stream::Limits limits;
        limits.output = options_.max_frame + std::max(options_.max_frame, limits.output);
        bufio::Stream::User& user = *this;
        stream_ = std::make_unique<bufio::Stream>(loop_, std::move(transport), user, limits);
        stream_->pause_reading(paused_);
        linger_start_ = {};
    }
    void opened() override { record_facts(); }
    bool greeted() override { return matcher_.greeted(stream_->received()); }
    // Records the facts before the stream is closed.
    void close() override {
        if (!stream_) return;
        record_facts();
        tcp_ = tcp();
        stream_->close();
        stream_.reset();
        unprocessed_.reset();
    }
    bool connected() const override { return stream_ != nullptr; }
    bool ready() const override { return stream_->handshake_done(); }
    bool has_received() const override {
        return stream_->bytes_read() > 0 && stream_->is_open();
    }
    bool peer_known() const override {
        return connected() && (!lossy() || options_.listens() || stream_->bytes_read() > 0);
    }
    void pause(bool paused) override {
        paused_ = paused;
        if (stream_) stream_->pause_reading(paused);
    }

    QueuedIds send(std::string_view payload, ev::Time planned,
                   std::optional<std::string_view> reply) override {
        if (!is_sendable(*options_.framing, options_.max_frame, payload)) return {};
        return matcher_.queue(payload, planned, reply);
    }
    char* reserve(std::size_t size) override { return matcher_.reserve(size); }
    QueuedIds send_reserved(std::size_t size) override {
        if (size == 0 || size > options_.max_frame) return {};
        return matcher_.queue_reserved(size);
    }
    bool flushed() const override { return matcher_.flushed(); }
    bool flush(ev::Time now) override {
        const bool accepted = stream_->write(matcher_.flush(now));
        if (!accepted && !stream_->end()) return false;  // an ended stream reports its end
        matcher_.release_idle();
        record_written(now);
        return true;
    }
    void record_written(ev::Time now) override {
        matcher_.record_written(stream_->bytes_written(), now);
    }
    std::size_t pending() const override { return stream_ ? stream_->pending() : 0; }
    std::uint64_t written() const override { return stream_->bytes_written(); }
    std::uint64_t traffic() const override { return stream_->traffic(); }
    bool has_back_pressure() const override { return !lossy(); }
    void ping() override { stream_->ping(); }
    std::uint64_t answered_ping() const override { return stream_->answered_ping(); }

    std::optional<Event> next(ev::Time read_at) override {
        if (paused_) return std::nullopt;
        if (!unprocessed_) {
            unprocessed_ = stream_->received();
            if (stream_->bytes_read() == unprocessed_->size())
                unprocessed_->copy(first_bytes_.data(), first_bytes_.size());
        }
        return matcher_.next(*unprocessed_, read_at);
    }
    // Raises the stream's water marks until the rest of an incomplete message has arrived.
    void input_matched() override {
        if (!unprocessed_) return;
        const std::size_t left = unprocessed_->size();
        unprocessed_.reset();
        stream_->consume(stream_->received().size() - left);
        if (!paused_) stream_->set_min_readable(left + 1);
    }
    std::string partial_message() override {
        return stream_ ? std::string(unprocessed_.value_or(stream_->received())) : "";
    }

    bool input_ended() const override {
        return stream_ && stream_->input_ended() && !stream_->rejection();
    }
    bool can_half_close() const override { return !options_.websocket; }
    bool output_closed() const override { return stream_->output_closed(); }
    bool peer_closes() const override { return !lossy(); }
    bool finishing() const override { return stream_->finishing(); }
    void finish() override { stream_->finish(); }
    // Each received datagram restarts the linger time. A restart does not extend it beyond
    // `limit`.
    ev::Time end_deadline(ev::Time limit, ev::Time active_at) override {
        if (!lossy()) return limit;
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
    const End& end() const override {
        return stream_->end() ? stream_->end() : stream_->rejection();
    }
    // An alert proves nothing if the server merely echoed our own bytes.
    bool got_tls_alert() const override {
        return stream_ && !options_.tls && stream_->bytes_read() == first_bytes_.size() &&
               is_tls_alert(first_bytes_) && !matcher_.echoed();
    }

    const bufio::TlsFacts* tls() const override {
        return facts_ && facts_->tls ? &*facts_->tls : nullptr;
    }
    const websocket::Facts* websocket() const override {
        return facts_ && options_.websocket ? &facts_->websocket : nullptr;
    }
    std::optional<bufio::TcpFacts> tcp() const override {
        return stream_ ? options_.tcp_facts(stream_->descriptor()) : tcp_;
    }

private:
    std::unique_ptr<bufio::Transport> make_transport(bufio::Fd socket) {
        const bool listens = options_.listens();
        if (lossy()) return bufio::make_packet_transport(std::move(socket), address_, !listens);
        if (options_.starttls)
            return connect_starttls(*options_.starttls, std::move(socket), *options_.tls,
                                    options_.endpoint.host);
        auto below = !options_.tls ? bufio::make_plain_transport(std::move(socket))
                     : listens
                         ? options_.tls->accept(std::move(socket))
                         : options_.tls->connect(std::move(socket), options_.endpoint.host);
        if (!options_.websocket) return below;
        if (listens) return websocket::accept(std::move(below), options_.max_frame);
        return websocket::connect(std::move(below), *options_.websocket, options_.max_frame,
                                  facts_->websocket);
    }

    bool lossy() const { return options_.endpoint.udp; }
    void stream_changed(bufio::Stream&) override {
        if (stream_->bytes_read() > 0) refusal_ = {};
        const bufio::Reason reason = stream_->end().reason;
        if (lossy() && (reason == bufio::Reason::refused || reason == bufio::Reason::connect))
            refusal_ = stream_->end();
        user_.link_changed();
    }
    void record_facts() {
        if (stream_->tls()) facts_->tls = *stream_->tls();
    }

    const std::unique_ptr<Matcher> owned_matcher_;
    Matcher& matcher_;
    struct Facts {
        std::optional<bufio::TlsFacts> tls;
        websocket::Facts websocket;
    };
    std::unique_ptr<Facts> facts_;  // outlives the stream; null without TLS and WebSocket
    std::unique_ptr<bufio::Stream> stream_;
    // Input not yet matched; set between next() and input_matched().
    std::optional<std::string_view> unprocessed_;
    std::optional<bufio::TcpFacts> tcp_;  // as of the end of the last connection
    End refusal_;  // of the last connection over UDP; none once something was received
    ev::Time linger_start_{};  // 0 before it
    Alert first_bytes_{};      // first received bytes; examined only if nothing followed
};

}  // namespace

std::unique_ptr<Link> make_stream_link(ev::Loop& loop, const SessionOptions& options,
                                       Link::User& user) {
    return std::make_unique<StreamLink>(loop, options, user);
}

}  // namespace yodel
