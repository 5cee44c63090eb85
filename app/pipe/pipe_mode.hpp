// The client without a screen: one session, and the reporter of what comes of it.  Subclasses
// are the sources of messages: standard input, a generator, or a recording.
#pragma once

#include "app/pipe/reporter.hpp"
#include "app/protocol/any_session.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace yodel {

class PipeMode : private AnySession::User {
public:
    struct Options {
        AnySession::Options session;
        Reporter::Options report = {};
    };
    PipeMode(const PipeMode&) = delete;
    PipeMode& operator=(const PipeMode&) = delete;

    // Closes the connection and stops the loop soon, for a signal from outside, which then is
    // the exit status.
    void leave(int signo);
    // The program was stopped for a while: the round trips in flight can't be timed.
    virtual void continued() { session_.void_round_trips(); }
    void turn_ended() {}
    bool connection_stands() const { return session_.connected(); }
    // Prints on standard error how it went, and returns the exit status.
    int report();

protected:
    // Stops the loop when all is done. While the reader of standard output has yet to take more
    // than `high_water` bytes, the session is paused. Throws std::system_error: the log.
    PipeMode(ev::Loop& loop, const Options& options, std::size_t high_water);
    ~PipeMode() = default;

    // The source: sends what there is space for, and finishes the session after the last
    // message. Called after each change, until the session is closed.
    virtual void send() = 0;
    virtual void connected() {}  // and nothing was sent over the connection yet
    virtual void disconnected() {}
    virtual ev::Duration overdue(ev::Time /*planned*/, ev::Time /*sent*/) const { return {}; }
    virtual void before_report() {}
    // The limit of the whole run has passed: what standard output has not taken is dropped.
    virtual bool out_of_time() const { return session_.out_of_time(); }
    virtual std::string limit_text() const;
    // To be called when out_of_time() becomes true.
    void output_changed();
    virtual void left_flight(const Message& /*message*/) {}  // it is answered, or lost
    virtual void unsolicited(std::string_view payload) { reporter_.unsolicited(payload); }
    bool leaving() const { return leaving_; }  // a signal ends the program

    // A server that has answered nothing in time gets as much as it takes, within bounds of
    // memory, instead of the usual window for each reply time-out: whether it reads at all
    // shows soon.
    bool window_lifted() const;

    // Datagrams have no back-pressure: with more of them in flight, buffers on the way drop
    // some.
    bool way_full() const;

    AnySession& session() { return session_; }
    const AnySession& session() const { return session_; }
    Reporter& reporter() { return reporter_; }
    const Reporter& reporter() const { return reporter_; }

private:
    void session_changed() override;
    void session_answered(const Message& message, const Reply& reply) override;
    void session_echoed(const Batch& batch, std::optional<ev::Duration> round_trip) override;
    void session_lost(const Message& message) override;
    void session_unsolicited(std::string_view payload) override;
    void session_repeated(std::string_view payload) override;
    void session_received(std::string_view bytes) override;

    void state_changed(AnySession::State state);

    ev::Loop& loop_;
    const std::size_t high_water_;
    bool leaving_ = false;
    bool silent_ = false;  // a reply is overdue, and none has come since
    const std::unique_ptr<AnySession> own_session_;
    AnySession& session_;
    AnySession::State reported_state_ = AnySession::State::idle;
    Reporter reporter_;
};

}  // namespace yodel
