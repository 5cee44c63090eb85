// A responder on one end of a connection; the test holds the other end.
#pragma once

#include "app/server/responder.hpp"
#include "bufio/stream.hpp"
#include "bufio/transport.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/virtual_time.hpp"

#include <fcntl.h>
#include <sys/socket.h>

namespace test {

class Answering final : private bufio::Stream::Owner {
public:
    // `make` takes the loop and the stream, and returns the responder.
    template <class Make>
    explicit Answering(Make make)
        : ends_(socket_ends()),
          resume_(loop, [this] { answer(); }),
          stream_(loop, transport(std::move(ends_.writer)), *this),
          responder_(make(loop, stream_)) {
        answer();
        loop.settle();
    }

    // The actions of the peer. After each, the responder has answered all that it can.
    void send(std::string_view bytes) {
        REQUIRE(::send(ends_.reader.get(), bytes.data(), bytes.size(), 0) ==
                static_cast<ssize_t>(bytes.size()));
        loop.settle();
    }
    void close_sending() {
        ::shutdown(ends_.reader.get(), SHUT_WR);
        loop.settle();
    }
    // Returns the bytes received since the last call. A moment passes, for a responder that
    // wants to be called again.
    std::string received() {
        loop.pass(std::chrono::microseconds(1));
        return take(ends_.reader);
    }
    // Calls received() until nothing more arrives, because reading makes space.
    std::string received_in_all() {
        std::string all;
        for (std::string some = received(); !some.empty(); some = received()) all += some;
        return all;
    }
    // Fills the connection, and leaves `waiting` bytes pending in the server's stream.
    void fill_output(std::size_t waiting) {
        const std::string some(waiting, '.');
        while (stream_.pending() == 0) stream_.write(some);
        stream_.write(some.substr(0, waiting - std::min(waiting, stream_.pending())));
        loop.settle();
    }

    yodel::Responder& responder() { return *responder_; }
    bufio::Stream& stream() { return stream_; }

    VirtualLoop loop;

private:
    static std::unique_ptr<bufio::Transport> transport(bufio::Fd socket) {
        ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
        return bufio::make_plain_transport(std::move(socket));
    }
    void stream_changed(bufio::Stream&) override { answer(); }
    void answer() {
        if (stream_.end()) return;
        const ev::Time next = responder_->answer();
        if (next != ev::Time::max()) resume_.start_at(next);
    }

    Ends ends_;
    ev::Timer resume_;  // until the responder wants to be called again
    bufio::Stream stream_;
    std::unique_ptr<yodel::Responder> responder_;
};

}  // namespace test
