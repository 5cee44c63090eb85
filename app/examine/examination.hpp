// Conversations with an echo server, written as scripts: connections send bytes and await
// replies. A function that waits runs the loop, so it must not be called from a callback. It
// throws Failed if something else came, and Stopped if the loop was stopped.
#pragma once

#include "app/protocol/session.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

struct Failed {
    std::string text;        // the unexpected reply or event, as a clause
    bool timed_out = false;  // nothing came in time
    bufio::End end = {};     // why there is no connection, if that is the failure
    std::string hint = {};   // a likely reason, as a clause
};

struct Stopped {};

class Examination;

// With a stream, a call may send or expect a part of a message. With datagrams and WebSocket,
// each call sends or expects a message.
class Connection final : private Session::User {
public:
    // Waits until the connection is open. The examination must outlive it.
    Connection(Examination& examination, const Session::Options& options);

    void send(std::string_view bytes);
    void expect(std::string_view reply);
    void echo(std::string_view payload);  // sends a message, and expects its reply
    void send_all(std::span<const std::string> payloads);  // at once
    void expect_all(std::span<const std::string> payloads);
    // Stops reading, and sends messages of 1 KiB until the server accepts no more, but at most
    // 16 MiB. Returns their payloads.
    std::vector<std::string> flood();
    void pause(bool paused) { session_.pause(paused); }  // stops reading while paused
    void half_close() { session_.finish(); }
    void expect_end();
    // Closes now. The server sees a reset if it has sent more than was read.
    void leave() { session_.disconnect(); }
    std::string& received() { return received_; }  // bytes not yet expected
    const bufio::Address& address() const { return session_.address(); }

private:
    void session_changed() override {}
    void session_answered(const Message&, const Reply&) override {}
    void session_lost(const Message&) override {}
    void session_unsolicited(std::string_view payload) override;

    void queue(std::string_view bytes);
    bool closed() const { return session_.state() == Session::State::closed; }
    bool has_reply(std::size_t size) const;
    Failed failure(std::string_view reply, std::string_view came);

    Examination& examination_;
    const std::size_t number_;
    const bool is_stream_;
    std::string received_;           // bytes not yet expected
    std::deque<std::size_t> sizes_;  // sizes of the messages in received_; unused by a stream
    std::size_t unanswered_ = 0;     // bytes sent without a reply so far
    std::uint64_t excess_ = 0;       // bytes dropped once max_excess was reached
    Session session_;
};

class Examination {
public:
    // `options`: the target. `limit`: for all checks together; grows if this process is late,
    // unless --max-time is given.
    // `tracing`: record the sent and received bytes.
    Examination(ev::Loop& loop, Session::Options options, ev::Duration limit, bool tracing);

    Connection& connect();
    Connection& connect_raw();  // without the protocol of WebSocket

    const Session::Options& options() const { return options_; }
    bool is_stream() const { return !options_.endpoint.udp && !options_.websocket; }
    // Return a message and its reply as the bytes that a connection sends and receives. A
    // payload that is too long for the framing is cut.
    std::string frame(std::string_view payload) const;
    std::string reply(std::string_view payload) const;

    // Runs the loop until the condition holds. Returns false if nothing was received for
    // `limit`, by default the reply timeout.
    bool wait(const std::function<bool()>& done, ev::Duration limit = {});
    void sleep(ev::Duration duration);

    void reset();  // closes all connections, and forgets the last check
    // Returns true if this process was not served in time since reset().
    bool was_late() const { return late_; }
    bool over() const { return loop_.read_clock() >= end_; }
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
    const bool tracing_;
    std::vector<std::string> trace_;
    std::vector<std::unique_ptr<Connection>> connections_;
};

struct Check {
    unsigned kinds;     // kinds of targets; see kind_of()
    const char* name;   // what the server does: "echoes an empty message"
    const char* cause;  // usual cause of a failure, as a clause
    void (*perform)(Examination& examination);  // throws Failed and Stopped
};

// Returns the checks of a target, in their order. Later checks are pointless if the first
// fails.
std::vector<Check> checks_of(const Session::Options& target);

}  // namespace yodel
