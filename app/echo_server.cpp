#include "app/echo_server.hpp"

#include "app/units.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

using bufio::End;
using bufio::Reason;
using bufio::Stream;

class EchoServer::Connection final : private Stream::User {
public:
    Connection(EchoServer& server, std::unique_ptr<bufio::Transport> transport,
               std::string peer)
        : place(server.connections_.size()),
          server_(server),
          peer_(std::move(peer)),
          timer_(server.loop_, [this] { timed_out(); }),
          stream_(server.loop_, std::move(transport), *this, limits(server.options_)) {
        if (!stream_.open()) timer_.start(server_.options_.handshake_timeout);
        renew();
    }

    void finish(ev::Duration grace) { stream_.finish(grace); }

    std::size_t place;  // in the server's list

private:
    static Stream::Limits limits(const Options& options) {
        Stream::Limits limits;
        limits.input_high = std::min(limits.input_high, options.max_buffer);
        limits.input_low = limits.input_high / 4;
        limits.output = options.max_buffer;
        return limits;
    }

    void stream_changed(Stream&) override {
        renew();
        echo();
        if (stream_.input_ended() && stream_.received().empty()) stream_.finish();
        if (!stream_.end()) return;
        log(stream_.end());
        server_.remove(*this);
    }

    // What does not fit into the output stays where it is, and is not read beyond its mark.
    void echo() {
        if (stream_.finishing()) return stream_.consume(stream_.received().size());
        const std::size_t room = server_.options_.max_buffer - stream_.pending();
        const std::string_view bytes = stream_.received().substr(0, room);
        if (bytes.empty() || !stream_.write(bytes)) return;
        stream_.consume(bytes.size());
    }

    void renew() {
        const auto& idle = server_.options_.idle_timeout;
        if (stream_.open() && idle) timer_.start(*idle);
        if (stream_.open() && !idle) timer_.cancel();
    }

    void timed_out() {
        const auto& options = server_.options_;
        log(stream_.open()
                ? End{Reason::timeout, "idle for " + duration_text(*options.idle_timeout)}
                : End{Reason::timeout,
                      "no TLS handshake within " + duration_text(options.handshake_timeout)});
        server_.remove(*this);
    }

    void log(const End& end) {
        if (end.reason != Reason::clean) server_.log_(peer_ + ": " + end.text);
    }

    EchoServer& server_;
    std::string peer_;
    ev::Timer timer_;  // of the handshake, then of idleness
    Stream stream_;
};

EchoServer::EchoServer(ev::Loop& loop, Options options, Log log)
    : loop_(loop),
      options_(std::move(options)),
      log_(std::move(log)),
      drain_(loop, [this] { finish_all(); }) {}

EchoServer::~EchoServer() = default;

const bufio::Address& EchoServer::listen(const bufio::Address& address) {
    listeners_.push_back(std::make_unique<bufio::Listener>(
        loop_, address, [this](bufio::Fd socket, const bufio::Address& peer) {
            accept(std::move(socket), peer);
        }));
    return listeners_.back()->address();
}

void EchoServer::accept(bufio::Fd socket, const bufio::Address& peer) {
    if (connections_.size() >= options_.max_connections)
        return log_(peer.text() + ": closed at once, " + std::to_string(connections_.size()) +
                    " connections are the most (--max-conns)");
    auto transport = options_.tls ? options_.tls->accept(std::move(socket))
                                  : bufio::make_plain_transport(std::move(socket));
    connections_.push_back(
        std::make_unique<Connection>(*this, std::move(transport), peer.text()));
}

void EchoServer::drain(ev::Duration grace, std::function<void()> drained) {
    drained_ = std::move(drained);
    grace_ = grace;
    listeners_.clear();
    drain_.start(ev::Duration::zero());
}

void EchoServer::finish_all() {
    for (const auto& connection : connections_) connection->finish(grace_);
    if (connections_.empty()) drained_();
}

void EchoServer::remove(Connection& connection) {
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
