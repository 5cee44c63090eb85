// An echo server inside a test, on the test's loop.
#pragma once

#include "bufio/listen.hpp"
#include "tests/app/fixture.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test {

// Echoes without allocating, except for replies that the test wants changed.
class EchoServer final : private bufio::Stream::User {
public:
    explicit EchoServer(ev::Loop& loop) : loop_(loop) { listen(); }
    int port() const { return address_.port(); }
    void close() { listener_.reset(); }  // refuses new connections
    void listen() {
        listener_.emplace(loop_, address_, [this](bufio::Fd socket, const bufio::Address&) {
            streams.push_back(std::make_unique<bufio::Stream>(
                loop_, bufio::make_plain_transport(std::move(socket)), user()));
        });
        address_ = listener_->address();
    }
    // Answers from now on, beginning with the bytes received meanwhile.
    void resume() {
        answers = true;
        for (const auto& stream : streams) answer(*stream);
    }
    std::uint64_t bytes_read() const {
        std::uint64_t sum = 0;
        for (const auto& stream : streams) sum += stream ? stream->bytes_read() : 0;
        return sum;
    }

    std::vector<std::unique_ptr<bufio::Stream>> streams;
    std::size_t reads = 0;
    bool answers = true;
    bool damages = false;  // damages every message that begins with an even digit

private:
    bufio::Stream::User& user() { return *this; }
    void stream_changed(bufio::Stream& changed) override {
        ++reads;
        if (answers) answer(changed);
        if (changed.input_ended()) changed.finish();
    }
    void answer(bufio::Stream& stream) const {
        if (damages) {
            stream.write(damaged(std::string(stream.received())));
        } else {
            stream.write(stream.received());
        }
        stream.consume(stream.received().size());
    }
    static std::string damaged(std::string bytes) {
        for (std::size_t i = 0; i + 1 < bytes.size(); i += 65)
            if ((bytes[i] - '0') % 2 == 0) bytes[i + 1] = '#';
        return bytes;
    }

    ev::Loop& loop_;
    bufio::Address address_ = any_loopback_port();
    std::optional<bufio::Listener> listener_;
};

}  // namespace test
