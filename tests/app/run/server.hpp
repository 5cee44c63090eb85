// A server inside a test, on the test's loop.
#pragma once

#include "bufio/listen.hpp"
#include "tests/app/fixture.hpp"

#include <cstddef>

namespace test {

using Replies = std::vector<std::string>;

// Echoes all bytes, without allocating, or answers each line with the lines that the test
// chooses. A line that begins with ~ is sent a second later.
class Server final : private bufio::Stream::Owner {
public:
    using Answer = std::function<Replies(const std::string& line)>;
    enum class Mode {
        answers,
        damages,  // changes each echo of 64 bytes that begins with an even digit
        drops,    // reads everything
        ignores,  // reads no more than its buffer holds
    };

    explicit Server(ev::Loop& loop, Answer answer = nullptr, Replies greeting = {})
        : loop_(loop), answer_(std::move(answer)), greeting_(std::move(greeting)) {
        listen();
    }
    std::string port() const { return std::to_string(address_.port()); }
    void close() { listener_.reset(); }  // refuses new connections
    void listen() {
        listener_.emplace(loop_, address_, [this](bufio::Fd socket, const bufio::Address&) {
            streams.push_back(std::make_unique<bufio::Stream>(
                loop_, bufio::make_plain_transport(std::move(socket)), owner()));
            send(*streams.back(), greeting_);
        });
        address_ = listener_->address();
    }
    void reset(std::size_t connection) {
        streams[connection]->abort();
        streams[connection].reset();
    }
    // Answers from now on, beginning with the bytes already received.
    void resume() {
        mode = Mode::answers;
        for (const auto& stream : streams) answer(*stream);
    }
    // Returns the bytes read on each connection.
    std::vector<std::uint64_t> bytes_read() const {
        std::vector<std::uint64_t> each;
        for (const auto& stream : streams) each.push_back(stream ? stream->bytes_read() : 0);
        return each;
    }

    std::vector<std::unique_ptr<bufio::Stream>> streams;  // null after a reset
    std::vector<ev::Time> times;  // arrival of each line that was answered
    Mode mode = Mode::answers;

private:
    bufio::Stream::Owner& owner() { return *this; }
    void stream_changed(bufio::Stream& changed) override {
        if (mode == Mode::drops) changed.consume(changed.received().size());
        if (mode == Mode::answers || mode == Mode::damages) answer(changed);
        if (changed.input_ended()) changed.finish();
    }
    void answer(bufio::Stream& stream) {
        if (answer_) return answer_lines(stream);
        if (mode == Mode::damages) {
            stream.write(damaged(std::string(stream.received())));
        } else {
            stream.write(stream.received());
        }
        stream.consume(stream.received().size());
    }
    void answer_lines(bufio::Stream& stream) {
        for (std::size_t end = 0; (end = stream.received().find('\n')) != std::string::npos;) {
            const std::string line(stream.received().substr(0, end));
            stream.consume(end + 1);
            times.push_back(loop_.now());
            send(stream, answer_(line));
        }
    }
    void send(bufio::Stream& stream, const Replies& lines) {
        for (const std::string& line : lines) {
            if (!line.starts_with('~')) {
                stream.write(line + "\n");
                continue;
            }
            timers_.emplace_back(loop_,
                                 [this, &stream, line] { send(stream, {line.substr(1)}); });
            timers_.back().start(std::chrono::seconds(1));
        }
    }
    static std::string damaged(std::string bytes) {
        for (std::size_t i = 0; i + 1 < bytes.size(); i += 65)
            if ((bytes[i] - '0') % 2 == 0) bytes[i + 1] = '#';
        return bytes;
    }

    ev::Loop& loop_;
    const Answer answer_;
    const Replies greeting_;
    std::vector<ev::Timer> timers_;
    bufio::Address address_ = any_loopback_port();
    std::optional<bufio::Listener> listener_;
};

}  // namespace test
