// Connections to the examined server, for checks that are written as a person would do them by
// hand: connect, send, expect. A function that waits runs the loop, so no callback may call it.
// It throws Failed if something else arrived, and Stopped if the loop was stopped.
#pragma once

#include "app/protocol/session.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// What a check needs from a server:
//     again   answer a second message on a connection
//     size    answer a message longer than a few bytes
//     pieces  read a message in pieces, or several messages together
//     many    serve several clients at the same time
//     cr      not treat 0d as an end
enum Ability : unsigned { again = 1, size = 2, pieces = 4, many = 8, cr = 16 };

struct Cause {
    std::string text = {};  // what the evidence proves, as a clause; empty without evidence
    unsigned lacks = 0;     // the missing abilities
};

struct Failed {
    enum class How { other, differs, closed, silent };  // silent: not in time

    std::string text = {};  // the unexpected reply or event, as a clause; empty if none
    How how = How::other;
    bufio::End end = {};        // why there is no connection, if that is the failure
    std::string expected = {};  // the right reply
    std::string received = {};  // its beginning, or another reply
    Cause cause = {};
    std::size_t number = 0;  // the check
    std::size_t see = 0;     // an earlier check with the same cause
};

struct Stopped {};

class Examination;

// With a stream, a call may send or expect a part of a message. With datagrams and WebSocket,
// each call sends or expects a message.
class Connection final : private Session::Owner {
public:
    // Waits until the connection is open.
    Connection(Examination& examination, Session::Options options);

    Connection& send(std::string_view bytes);
    Connection& queue(std::string_view payload);  // a message, whose reply is then expected
    void expect();  // sends the queued messages, and waits for all expected replies
    void expect(std::string_view reply);
    Connection& echo(std::string_view payload);
    // Stops reading, and sends bursts of messages until the server has accepted nothing for
    // `patience`, but at most 16 MiB. `gap`: between two bursts.
    Connection& flood(ev::Duration gap = std::chrono::milliseconds(1),
                      ev::Duration patience = std::chrono::milliseconds(400));
    void pause(bool paused) { session_.pause(paused); }  // stops reading while paused
    // Half-closes, and waits for all expected replies and the server's end.
    void finish();
    // The server sees a reset if it has sent more than was read.
    void leave() { session_.disconnect(); }
    bool ended() const { return closed() || session_.input_ended(); }
    // What no call has expected yet: bytes of a stream, or a message.
    std::string_view received() const {
        return received_.empty() ? std::string_view() : received_.front();
    }
    // Describes a wrong or incomplete reply.
    Failed failure(std::string_view reply, std::string_view received) const;

private:
    void session_changed() override {}
    void session_event(const Event& event) override;

    bool closed() const { return session_.state() == Session::State::closed; }
    void add(std::deque<std::string>& to, std::string_view bytes) const;
    void flush();
    void refuse_excess(std::string_view reply) const;

    Examination& examination_;
    const std::size_t number_;
    const bool is_stream_;
    // Messages, and the bytes of a stream as one message.
    std::deque<std::string> queue_;
    std::deque<std::string> expected_;
    std::deque<std::string> received_;
    Session session_;
};

class Examination {
public:
    // All checks together may take the max_time of the options, or else 15s without the time to
    // connect and without the lateness of this process.
    Examination(ev::Loop& loop, Session::Options options, bool tracing);

    Connection& connect(bool raw = false);  // raw: without the protocol of WebSocket

    const Session::Options& options() const { return options_; }
    bool is_stream() const { return !options_.endpoint.udp && !options_.websocket; }
    // Return a message and its reply as bytes. A payload too long for the framing is cut.
    std::string frame(std::string_view payload) const;
    std::string reply(std::string_view payload) const;
    std::string_view payload_of(std::string_view reply) const;  // which may be incomplete

    // Runs the loop until the condition holds. Returns false if nothing was received for
    // `limit`, by default the reply timeout.
    bool wait(const std::function<bool()>& done, ev::Duration limit = {});
    void sleep(ev::Duration duration);
    ev::Time now() const { return loop_.read_clock(); }

    void begin_check();  // closes all connections, and forgets the last check
    void close_all() { connections_.clear(); }
    // This process was not served in time since begin_check().
    bool was_late() const { return late_; }
    bool over() const { return now() >= end_; }
    const std::vector<std::string>& trace() const { return trace_; }  // sent and received bytes

private:
    friend class Connection;

    void trace(std::size_t connection, const char* verb, std::string_view bytes);

    ev::Loop& loop_;
    Session::Options options_;
    ev::Time end_;
    ev::Timer tick_;  // bounds each wait of the loop, so that lateness is noticed
    std::uint64_t received_count_ = 0;  // on all connections
    bool late_ = false;
    const std::size_t max_trace_;
    std::vector<std::string> trace_;
    std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace yodel
