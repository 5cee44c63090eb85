#include "app/server/echo_server.hpp"

#include "app/server/datagram_port.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/system.hpp"
#include "app/text/units.hpp"
#include "app/websocket/transport.hpp"

#include <sys/socket.h>
#if YODEL_HAS_MALLOC_TRIM
#    include <malloc.h>
#endif

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace yodel {

using bufio::End;
using bufio::Reason;
using bufio::Stream;

namespace {

// Time for a peer to close its side after an error has made us close ours.
constexpr ev::Duration linger_time = std::chrono::seconds(2);
// While draining, a peer is dropped once our side is closed and it has been silent for this
// long. Dropping a peer that still sends would cause a reset, and destroy replies in flight.
constexpr ev::Duration silence_time = std::chrono::milliseconds(100);

// The log quotes at most this many bytes of a read.
constexpr std::size_t max_quoted_bytes = 256;
// If more connections than this still have undelivered data after the grace period, only their
// number is logged, unless the log is verbose.
constexpr int max_cut_off_logged = 8;

// Buffered input takes memory in addition to max_buffer, so there is little of it. But the
// low-water mark must exceed an incomplete length prefix, or reading would stall.
Stream::Limits stream_limits(std::size_t max_buffer) {
    const std::size_t input = std::clamp<std::size_t>(max_buffer, 16, 16 * 1024);
    return {.input_high = input, .input_low = input / 4, .output = max_buffer};
}

// A peak of this many connections leaves memory that is worth returning to the system.
constexpr std::size_t large_peak = 100;

}  // namespace

class EchoServer::Connection final : private Stream::Owner {
public:
    Connection(EchoServer& server, std::unique_ptr<bufio::Transport> transport,
               std::string peer)
        : server_(server),
          peer_(std::move(peer)),
          stream_(server.loop_, std::move(transport), *this,
                  stream_limits(server.options_.effective_max_buffer())),
          responder_(make_responder(
              server.loop_, server.options_.faults, *server.options_.framing,
              {server.options_.effective_max_buffer(), server.options_.max_frame},
              server.counters_.accepted, stream_)) {
        if (!stream_.is_open()) restart_timeout(server_.options_.handshake_timeout);
        check_handshake();
        advance();
    }

    // Closes immediately during the handshake. Otherwise finishes once all input is answered;
    // until then, the rest of an incomplete message may still arrive.
    void drain() {
        if (!stream_.is_open()) return close();
        is_draining_ = true;
        advance();
    }

    // Returns true if received bytes are unanswered, or answers are unsent.
    bool has_undelivered() const {
        return stream_.pending() > 0 || !stream_.received().empty() || stream_.held() > 0 ||
               responder_->has_pending();
    }

    // Closes the connection after the grace period. If data is undelivered, counts a failure,
    // and logs it if `is_logged`.
    void cut_off(bool is_logged) {
        if (has_undelivered()) fail("not all echoes were sent in time", is_logged);
        close();
    }

    void close() { stream_.close(); }
    const Stream& stream() const { return stream_; }

    std::list<Connection>::iterator place;  // in the server's list

private:
    void stream_changed(Stream&) override {
        check_handshake();
        follow_traffic();
        advance();
        const End& end = stream_.end();
        if (!end) return;
        const bool is_graceful = end.reason == Reason::clean || end.reason == Reason::aborted;
        if (!is_graceful && !responder_->end()) fail(end.text("the client"));
        if (server_.options_.is_verbose)
            log("closed, " + bytes_text(stream_.bytes_read()) + " in, " +
                std::to_string(stream_.bytes_written()) + " out");
        server_.remove(*this);
    }

    void check_handshake() {
        if (is_opened_ || !stream_.is_open()) return;
        is_opened_ = true;
        timeout_ = {};
        restart_timeout(server_.options_.idle_timeout);
        const bufio::TlsFacts* const tls = stream_.tls();
        const std::string how = tls ? ", " + tls->version + " " + tls->cipher : "";
        if (server_.options_.is_verbose) log("connected" + how);
    }

    // Creates the timer when it is first needed, because most connections need none.
    void restart_timeout(std::optional<ev::Duration> timeout) {
        if (!timeout) return;
        if (!timeout_) timeout_ = ev::Timer(server_.loop_, [this] { time_out(); });
        timeout_.start(*timeout);
    }

    // Returns true if a draining connection only waits for the peer to close.
    bool is_leaving() const { return is_draining_ && stream_.output_closed(); }

    void time_out() {
        if (is_leaving()) return close();
        const bufio::TlsFacts* const tls = stream_.tls();
        const bool is_upgrade = !tls || !tls->version.empty();
        fail(is_opened_ ? "idle for " + duration_text(*server_.options_.idle_timeout)
                        : std::string("no ") + (is_upgrade ? "WebSocket" : "TLS") +
                              " handshake within " +
                              duration_text(server_.options_.handshake_timeout));
        close();
    }

    // If data has moved since the last call, restarts the idle timeout and logs what was read.
    void follow_traffic() {
        const std::uint64_t input = stream_.bytes_read() - logged_read_;
        const std::uint64_t moved = stream_.traffic();
        if (moved == seen_traffic_) return;
        seen_traffic_ = moved;
        last_traffic_at_ = server_.loop_.now();
        logged_read_ += input;
        if (is_opened_ && !is_leaving()) restart_timeout(server_.options_.idle_timeout);
        if (!server_.options_.is_verbose || input == 0 || stream_.is_finishing()) return;
        // Quotes no WebSocket messages, because they contain length prefixes that the peer did
        // not send.
        const auto count = static_cast<std::size_t>(input);
        const std::string_view bytes =
            stream_.received().substr(stream_.received().size() - count);
        const bool is_quoted = !server_.options_.framing->is_websocket;
        log("read " + bytes_text(count) +
            (is_quoted ? ": " + excerpt(bytes.substr(0, max_quoted_bytes), count) : ""));
    }

    // Answers the input, or discards it once our side is closed or sending has failed.
    void advance() {
        if (stream_.is_finishing() || stream_.output_failed())
            stream_.consume(stream_.received().size());
        else
            answer();
        if (is_leaving() && !stream_.end())
            restart_timeout(last_traffic_at_ + silence_time - server_.loop_.now());
    }

    void answer() {
        const ev::Time next_at = responder_->answer();
        if (!resume_timer_ && next_at != ev::Time::max())
            resume_timer_ = ev::Timer(server_.loop_, [this] {
                advance();
                follow_traffic();
            });
        if (next_at != ev::Time::max()) resume_timer_.start_at(next_at);
        if (stream_.end() || responder_->has_pending()) return;
        const bool is_over = stream_.input_ended() || (is_draining_ && stream_.held() == 0);
        if (!responder_->end() && (!is_over || !stream_.received().empty())) return;
        const End& stopped = stream_.rejection() ? stream_.rejection() : responder_->end();
        if (stopped) {
            if (stopped.reason != Reason::aborted) fail(stopped.text("the client"));
            return stream_.finish(linger_time);  // the peer still gets the earlier replies
        }
        stream_.finish();
    }

    // Only the first failure of a connection counts, because the others follow from it.
    void fail(const std::string& text, bool is_logged = true) {
        if (has_failed_) return;
        has_failed_ = true;
        ++server_.counters_.failed;
        if (is_logged) log(text);
    }

    void log(const std::string& text) { server_.log_(peer_, text); }

    EchoServer& server_;
    std::string peer_;
    ev::Timer timeout_;       // for the handshake, then for idleness, then for is_leaving()
    ev::Timer resume_timer_;  // due when the responder wants to be called again
    Stream stream_;
    std::unique_ptr<Responder> responder_;
    std::uint64_t logged_read_ = 0;   // bytes_read() when traffic was last seen
    std::uint64_t seen_traffic_ = 0;  // Stream::traffic() at that time
    ev::Time last_traffic_at_{};
    bool is_opened_ = false;    // the handshake is done
    bool is_draining_ = false;  // to be finished once all input is answered
    bool has_failed_ = false;   // already counted as failed
};

// Without max_buffer, the limit admits the longest length-prefixed message, so that a client
// may send the whole message before it reads.
std::size_t EchoServer::Options::effective_max_buffer() const {
    const std::size_t max_payload = std::min(max_frame, framing->max_payload());
    const std::size_t message = framing->has_length() ? framing->overhead() + max_payload : 0;
    return max_buffer.value_or(std::max<std::size_t>(1024 * 1024, message));
}

EchoServer::EchoServer(ev::Loop& loop, Options options, Log log)
    : loop_(loop),
      options_(std::move(options)),
      log_(std::move(log)),
      drain_timer_(loop,
                   [this] {
                       for (Connection& connection : connections_) connection.drain();
                       report_drained();
                   }),
      grace_timer_(loop, [this] { cut_off(); }) {}

EchoServer::~EchoServer() {
    for (Connection& connection : connections_) connection.close();
}

const bufio::Address& EchoServer::listen(const bufio::Address& address) {
    listeners_.push_back(std::make_unique<bufio::Listener>(
        loop_, address,
        [this](bufio::Fd socket, const bufio::Address& peer) {
            accept(std::move(socket), peer);
        },
        [this](int code) {
            log_("accepting", "paused, " + std::generic_category().message(code));
        }));
    return listeners_.back()->address();
}

const bufio::Address& EchoServer::listen_datagrams(const bufio::Address& address) {
    datagram_ports_.push_back(std::make_unique<DatagramPort>(*this, address));
    return datagram_ports_.back()->address();
}

void EchoServer::close_last_datagram_port() { datagram_ports_.pop_back(); }

// A connection that cannot be served must not end the others.
void EchoServer::accept(bufio::Fd socket, const bufio::Address& peer) {
    ++counters_.accepted;
    if (connections_.size() >= options_.max_connections)
        return refuse(socket, peer,
                      "more than " + count_text(options_.max_connections, "connection") +
                          " (--max-conns)");
    try {
        const bool is_stalled = options_.faults.is_handshake_stalled;
        auto transport = options_.tls && !is_stalled
                             ? options_.tls->accept(std::move(socket))
                             : bufio::make_plain_transport(std::move(socket));
        if (options_.framing->is_websocket && !is_stalled)
            transport = websocket::accept(std::move(transport), options_.max_frame);
        connections_.emplace_back(*this, std::move(transport), peer.text());
        connections_.back().place = std::prev(connections_.end());
        peak_connections_ = std::max(peak_connections_, connections_.size());
    } catch (const std::exception& error) {
        refuse(socket, peer, error.what());
    }
}

// Closes our side, and reads up to 4 KiB, because closing a socket with unread bytes would
// reset the connection.
void EchoServer::refuse(const bufio::Fd& socket, const bufio::Address& peer,
                        const std::string& why) {
    char unread[4096];
    ++counters_.turned_away;
    log_(peer.text(), "refused: " + why);
    if (!socket) return;
    ::shutdown(socket.get(), SHUT_WR);
    ::recv(socket.get(), unread, sizeof unread, 0);
}

void EchoServer::drain(ev::Duration grace, std::function<void()> on_drained) {
    on_drained_ = std::move(on_drained);
    listeners_.clear();
    for (const auto& port : datagram_ports_) port->stop_receiving();
    drain_timer_.start(ev::Duration::zero());
    grace_timer_.start(grace);
}

// If many connections have undelivered data, logs their number instead of a line for each.
void EchoServer::cut_off() {
    const auto count = std::count_if(connections_.begin(), connections_.end(),
                                     [](const auto& each) { return each.has_undelivered(); });
    const bool is_each_logged = options_.is_verbose || count <= max_cut_off_logged;
    for (Connection& connection : connections_) connection.cut_off(is_each_logged);
    if (!is_each_logged)
        log_("leaving",
             std::to_string(count) + " connections did not receive all echoes in time");
    datagram_ports_.clear();
    if (on_drained_) std::exchange(on_drained_, nullptr)();
}

Counters EchoServer::counters() const {
    Counters sum = counters_;
    sum.connections = connections_.size();
    for (const Connection& connection : connections_) {
        sum.bytes_in += connection.stream().bytes_read();
        sum.bytes_out += connection.stream().bytes_written();
    }
    return sum;
}

void EchoServer::remove(Connection& connection) {
    counters_.bytes_in += connection.stream().bytes_read();
    counters_.bytes_out += connection.stream().bytes_written();
    std::list<Connection> removed;
    removed.splice(removed.end(), connections_, connection.place);
    removed.clear();
#if YODEL_HAS_MALLOC_TRIM
    // After a peak, blocks in use lie between the freed ones, so the C library returns no
    // memory by itself.
    if (connections_.empty() && std::exchange(peak_connections_, 0) >= large_peak)
        ::malloc_trim(0);
#endif
    for (const auto& listener : listeners_) listener->resume();
    report_drained();
}

void EchoServer::report_drained() {
    const bool has_pending = std::any_of(datagram_ports_.begin(), datagram_ports_.end(),
                                         [](const auto& port) { return port->has_pending(); });
    if (on_drained_ && connections_.empty() && !has_pending)
        std::exchange(on_drained_, nullptr)();
}

std::unique_ptr<EchoServer> start_own_server(ev::Loop& loop, bufio::Endpoint& endpoint,
                                             const Framing& framing, std::size_t connections,
                                             bufio::TlsClientOptions* tls) {
    if (!framing.can_echo())
        throw UsageError(framing.label() +
                         " needs a target, because the built-in server only echoes");
    endpoint.host = endpoint.family == AF_INET6 ? "::1" : "127.0.0.1";
    endpoint.service = "0";
    const bufio::LookupResult found = bufio::resolve_without_network(endpoint);
    if (found.addresses.empty())
        throw std::runtime_error("cannot resolve the local address " + endpoint.host);
    EchoServer::Options options;
    options.framing = &framing;
    options.max_connections = std::max(options.max_connections, connections);
    options.may_answer_all = true;  // a message that a client repeats is not a loop
    if (tls) {
        options.tls = bufio::TlsContext::server();
        tls->pins = {options.tls->pin()};
    }
    auto server = std::make_unique<EchoServer>(loop, std::move(options), [](auto&, auto&) {});
    const bufio::Address& any_port = found.addresses.front();
    const bufio::Address& bound =
        endpoint.is_udp ? server->listen_datagrams(any_port) : server->listen(any_port);
    endpoint.service = std::to_string(bound.port());
    return server;
}

}  // namespace yodel
