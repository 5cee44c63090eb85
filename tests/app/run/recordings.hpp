// Shared by tests of recordings: a server that the test defines, and recordings in files.
#pragma once

#include "app/protocol/message_object.hpp"
#include "bufio/fd.hpp"
#include "bufio/listen.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/redirected.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

using Lines = std::vector<std::string>;

// Answers each line of each connection with the lines that the test chooses, and may begin
// with some. A line that begins with ~ is sent a second later.
class LineServer final : private bufio::Stream::User {
public:
    using Answer = std::function<Lines(const std::string& line)>;

    LineServer(ev::Loop& loop, Answer answer, const Lines& greeting)
        : loop_(loop),
          answer_(std::move(answer)),
          listener_(loop, any_loopback_port(),
                    [this, greeting](bufio::Fd socket, const bufio::Address&) {
                        bufio::Stream::User& user = *this;
                        streams_.push_back(std::make_unique<bufio::Stream>(
                            loop_, bufio::make_plain_transport(std::move(socket)), user));
                        send(*streams_.back(), greeting);
                    }) {}
    std::string port() const { return std::to_string(listener_.address().port()); }

    std::vector<ev::Time> times;  // arrival of each line

private:
    void send(bufio::Stream& stream, const Lines& lines) {
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
    void stream_changed(bufio::Stream& stream) override {
        for (;;) {
            const std::string_view received = stream.received();
            const std::size_t end = received.find('\n');
            if (end == received.npos) break;
            const std::string line(received.substr(0, end));
            stream.consume(end + 1);
            times.push_back(loop_.now());
            send(stream, answer_(line));
        }
        if (stream.input_ended()) stream.finish();
    }

    ev::Loop& loop_;
    Answer answer_;
    std::vector<std::unique_ptr<bufio::Stream>> streams_;
    std::vector<ev::Timer> timers_;
    bufio::Listener listener_;
};

// Builds a recording line by line.
class Recorded {
public:
    Recorded& say(ev::Duration at, const std::string& sent,
                  const std::optional<std::string>& reply,
                  std::optional<ev::Duration> round_trip = {}) {
        const yodel::Message message{.id = ++last_, .payload = sent, .planned = ev::Time(at)};
        const yodel::Reply received{reply ? std::string_view(*reply) : "", round_trip};
        return add(yodel::recorded_object(reply ? yodel::Fate::echoed : yodel::Fate::lost,
                                          &message, reply ? &received : nullptr, {}, {})
                       .str());
    }
    Recorded& hear(ev::Duration at, const std::string& payload) {
        const yodel::Reply reply{payload, {}};
        return add(
            yodel::recorded_object(yodel::Fate::unsolicited, nullptr, &reply, {}, ev::Time(at))
                .str());
    }
    Recorded& add(const std::string& line) {
        text += line + "\n";
        return *this;
    }
    Recorded& end() { return add(R"({"type":"end"})"); }

    std::string text = yodel::recording_object(*yodel::find_framing("line"), 1, 1).str() + "\n";

private:
    std::uint64_t last_ = 0;
};

// A temporary file, removed with the object.
class RecordingFile {
public:
    explicit RecordingFile(const std::string& text) {
        const bufio::Fd file(::mkstemp(name.data()));
        REQUIRE(::write(file.get(), text.data(), text.size()) ==
                static_cast<ssize_t>(text.size()));
    }
    ~RecordingFile() { ::unlink(name.c_str()); }
    RecordingFile(const RecordingFile&) = delete;
    RecordingFile& operator=(const RecordingFile&) = delete;

    std::string name = "/tmp/yodel_replay_XXXXXX";
};

}  // namespace test
