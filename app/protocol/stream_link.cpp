// Carries messages in a stream, with or without TLS. A stream preserves their order and
// has back-pressure. Unless it is a WebSocket, each side can close separately.

#include "app/protocol/link.hpp"
#include "app/protocol/ordered_matcher.hpp"
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

class StreamLink final : public Link, private bufio::Stream::User {
public:
    StreamLink(ev::Loop& loop, const SessionOptions& options, Link::User& user)
        : Link(loop, options, user),
          matcher_({.framing = options.framing,
                    .max_frame = options.max_frame,
                    .expect = options.expect,
                    .greeted = options.starttls != nullptr,
                    .coalesce = options.coalesce,
                    .pattern = options.pattern_or_null(),
                    .expected_unsolicited = options.expected_unsolicited}) {}

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
    void pause(bool paused) override {
        paused_ = paused;
        if (stream_) stream_->pause_reading(paused);
    }

    QueuedIds send(std::string_view payload, ev::Time planned,
                   std::optional<std::string_view> reply) override {
        if (!is_sendable(*options_.framing, options_.max_frame, payload)) return {};
        return matcher_.messages().queue(payload, planned, reply);
    }
    char* reserve(std::size_t size) override { return matcher_.messages().reserve(size); }
    QueuedIds send_reserved(std::size_t size) override {
        if (size == 0 || size > options_.max_frame) return {};
        return matcher_.messages().queue_reserved(size);
    }
    bool flushed() const override { return matcher_.messages().flushed(); }
    bool flush(ev::Time now) override {
        InFlight& messages = matcher_.messages();
        const bool accepted = stream_->write(messages.flush(now));
        if (!accepted && !stream_->end()) return false;  // an ended stream reports its end
        messages.release_idle();
        record_written(now);
        return true;
    }
    void record_written(ev::Time now) override {
        matcher_.messages().record_written(stream_->bytes_written(), now);
    }
    std::size_t pending() const override { return stream_ ? stream_->pending() : 0; }
    std::uint64_t written() const override { return stream_->bytes_written(); }
    std::uint64_t traffic() const override { return stream_->traffic(); }
    bool has_back_pressure() const override { return true; }
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
    bool finishing() const override { return stream_->finishing(); }
    void finish() override { stream_->finish(); }
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

    void stream_changed(bufio::Stream&) override { user_.link_changed(); }
    void record_facts() {
        if (stream_->tls()) facts_->tls = *stream_->tls();
    }

    OrderedMatcher matcher_;
    struct Facts {
        std::optional<bufio::TlsFacts> tls;
        websocket::Facts websocket;
    };
    std::unique_ptr<Facts> facts_;  // outlives the stream; null without TLS and WebSocket
    std::unique_ptr<bufio::Stream> stream_;
    // Input not yet matched; set between next() and input_matched().
    std::optional<std::string_view> unprocessed_;
    std::optional<bufio::TcpFacts> tcp_;  // as of the end of the last connection
    Alert first_bytes_{};  // first received bytes; examined only if nothing followed
};

}  // namespace

std::unique_ptr<Link> make_stream_link(ev::Loop& loop, const SessionOptions& options,
                                       Link::User& user) {
    return std::make_unique<StreamLink>(loop, options, user);
}

}  // namespace yodel
