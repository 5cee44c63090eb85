#include "app/echo_server.hpp"

#include "app/echo.hpp"
#include "app/units.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace yodel {

using bufio::End;
using bufio::Reason;
using bufio::Stream;

namespace {

// For a peer that goes on after the last word to take what was said before.
constexpr ev::Duration lingering = std::chrono::seconds(2);

// What is read beyond the buffer is kept small, for it comes on top; but a part of a length,
// which waits for the rest, is below the low-water mark.
Stream::Limits limits(std::size_t buffer) {
    Stream::Limits limits;
    limits.input_high = std::clamp<std::size_t>(buffer, 16, 64 * 1024);
    limits.input_low = limits.input_high / 4;
    limits.output = buffer;
    return limits;
}

}  // namespace

class EchoServer::Connection final : private Stream::User {
public:
    Connection(EchoServer& server, std::unique_ptr<bufio::Transport> transport,
               std::string peer)
        : place(server.connections_.size()),
          server_(server),
          peer_(std::move(peer)),
          stream_(server.loop_, std::move(transport), *this,
                  limits(server.options_.max_buffer)),
          echo_(server.make_echo(*this)) {
        if (!stream_.open()) start_timer(server_.options_.handshake_timeout);
        echo_->greet(stream_);
        settle();
        advance();
    }

    // Answers what has come, and closes when it can't be more.
    void advance() {
        if (stream_.finishing()) return stream_.consume(stream_.received().size());
        echo_->answer(stream_);
        if (echo_->end() && !stream_.end()) return refuse();
        const bool over = stream_.input_ended() || draining_;
        if (over && stream_.received().empty() && !echo_->holds()) stream_.finish();
    }

    void drain() {
        if (!stream_.open()) return stream_.abort();
        draining_ = true;
        advance();
    }

    const Stream& stream() const { return stream_; }

    std::size_t place;  // in the server's list

private:
    void stream_changed(Stream&) override {
        settle();
        if (opened_ && server_.options_.idle_timeout)
            timer_.start(*server_.options_.idle_timeout);
        advance();
        if (stream_.end()) end_with(stream_.end());
    }

    // Once the handshake is done.
    void settle() {
        if (opened_ || !stream_.open()) return;
        opened_ = true;
        timer_ = {};
        if (server_.options_.idle_timeout) start_timer(*server_.options_.idle_timeout);
        if (server_.options_.verbose) log("connected" + tls_text());
    }

    std::string tls_text() const {
        const bufio::TlsFacts* const tls = stream_.tls();
        return tls ? ", " + tls->version + " " + tls->cipher : "";
    }

    void start_timer(ev::Duration duration) {
        timer_ = ev::Timer(server_.loop_, [this] { timed_out(); });
        timer_.start(duration);
    }

    void timed_out() {
        const Options& options = server_.options_;
        end_with(opened_
                     ? End{Reason::timeout, "idle for " + duration_text(*options.idle_timeout)}
                     : End{Reason::timeout, "no TLS handshake within " +
                                                duration_text(options.handshake_timeout)});
    }

    // The peer gets what was answered before, and is heard no more.
    void refuse() {
        if (echo_->end().reason != Reason::aborted) fail(echo_->end());
        stream_.finish(lingering);
    }

    void fail(const End& end) {
        if (!failed_) ++server_.counters_.failed;
        if (!failed_) log(end.text);
        failed_ = true;
    }

    void end_with(const End& end) {
        const bool in_order = end.reason == Reason::clean || end.reason == Reason::aborted;
        if (!in_order && !echo_->end()) fail(end);
        if (server_.options_.verbose)
            log("closed, " + std::to_string(stream_.bytes_read()) + " bytes in, " +
                std::to_string(stream_.bytes_written()) + " out");
        server_.remove(*this);
    }

    void log(const std::string& text) { server_.log_({peer_, text}); }

    EchoServer& server_;
    std::string peer_;
    ev::Timer timer_;  // of the handshake, then of idleness; empty without one
    Stream stream_;
    std::unique_ptr<Echo> echo_;
    bool opened_ = false;    // the handshake is done
    bool draining_ = false;  // it ends as soon as nothing is on its way
    bool failed_ = false;    // and that is logged
};

EchoServer::EchoServer(ev::Loop& loop, Options options, Log log)
    : loop_(loop),
      options_(std::move(options)),
      log_(std::move(log)),
      drain_(loop,
             [this] {
                 for (const auto& connection : connections_) connection->drain();
                 if (connections_.empty()) drained_();
             }),
      grace_(loop, [this] { drained_(); }) {}

EchoServer::~EchoServer() = default;

const bufio::Address& EchoServer::listen(const bufio::Address& address) {
    listeners_.push_back(std::make_unique<bufio::Listener>(
        loop_, address,
        [this](bufio::Fd socket, const bufio::Address& peer) {
            accept(std::move(socket), peer);
        },
        [this](int code) {
            log_({"accepting", "pauses, " + std::generic_category().message(code)});
        }));
    return listeners_.back()->address();
}

// One connection that can't be served is no reason to end the others.
void EchoServer::accept(bufio::Fd socket, const bufio::Address& peer) {
    ++counters_.accepted;
    try {
        if (connections_.size() >= options_.max_connections)
            throw std::runtime_error(std::to_string(connections_.size()) +
                                     " connections are the most (--max-conns)");
        connections_.push_back(
            std::make_unique<Connection>(*this, transport(std::move(socket)), peer.text()));
    } catch (const std::exception& error) {
        ++counters_.turned_away;
        log_({peer.text(), std::string("closed at once, ") + error.what()});
    }
}

std::unique_ptr<bufio::Transport> EchoServer::transport(bufio::Fd socket) const {
    if (options_.tls && !options_.faults.stall_handshake)
        return options_.tls->accept(std::move(socket));
    return bufio::make_plain_transport(std::move(socket));
}

std::unique_ptr<Echo> EchoServer::make_echo(Connection& connection) {
    const EchoLimits limits{options_.max_buffer, options_.max_frame};
    if (!options_.faults.any()) return make_faithful_echo(*options_.framing, limits);
    return make_faulty_echo(loop_, options_.faults, *options_.framing, limits,
                            counters_.accepted, [&connection] { connection.advance(); });
}

void EchoServer::drain(ev::Duration grace, std::function<void()> drained) {
    drained_ = std::move(drained);
    listeners_.clear();
    drain_.start(ev::Duration::zero());
    grace_.start(grace);
}

EchoServer::Counters EchoServer::counters() const {
    Counters sum = counters_;
    for (const auto& connection : connections_) {
        sum.bytes_in += connection->stream().bytes_read();
        sum.bytes_out += connection->stream().bytes_written();
    }
    return sum;
}

void EchoServer::remove(Connection& connection) {
    counters_.bytes_in += connection.stream().bytes_read();
    counters_.bytes_out += connection.stream().bytes_written();
    const std::size_t place = connection.place;
    const std::unique_ptr<Connection> removed = std::move(connections_[place]);
    if (place + 1 < connections_.size()) {
        connections_[place] = std::move(connections_.back());
        connections_[place]->place = place;
    }
    connections_.pop_back();
    if (drained_ && connections_.empty()) drained_();
}

}  // namespace yodel
