// Messages made up here and sent at an interval, as ping does, to any echo service.
//
// They go out when they are due, whether or not replies have come, and a round trip is counted
// from then, so that a service that stalls is seen to stall. What is due while there is no
// connection, or the peer takes nothing, is lost. With no interval they go out as fast as the
// window allows.
#pragma once

#include "app/reporter.hpp"
#include "app/session.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <string>

namespace yodel {

class Unattended final : private Session::User {
public:
    struct Options {
        Session::Options session;
        Reporter::Options report = {};
        std::uint64_t count = 0;  // messages; 0: until it is ended from outside
        ev::Duration interval = std::chrono::seconds(1);
        std::size_t size = 64;    // bytes of a message
        std::size_t window = 64;  // with no interval: messages in flight at once
    };

    // Stops the loop when all is done. Throws std::system_error: the log.
    Unattended(ev::Loop& loop, Options options);

    // Closes the connection; for a signal from outside.
    void leave();
    void turn_ended() {}
    // Says on standard error how it went, and returns the exit status.
    int report();

private:
    void session_changed() override;
    void session_answered(const Message& message, const Reply& reply) override;
    void session_lost(const Message& message) override;
    void session_unasked(std::string_view payload) override;

    void entered(Session::State state);
    void send_due();
    void send_one();
    bool all_sent() const;
    void finish_if_done();
    void show_progress();
    void clear_progress();

    Options options_;
    bool leaving_ = false;
    bool progress_;                   // is shown, on the terminal that standard error is
    std::size_t progress_width_ = 0;  // columns to be cleared
    ev::Timer due_;
    ev::Timer progress_due_;
    Session session_;
    Session::State told_ = Session::State::idle;  // the state last seen
    Reporter reporter_;
};

// Plain text of that many bytes, none of which ends a message in any framing; of one number and
// the next they differ, where there is room for that.
std::string made_up_message(std::uint64_t number, std::size_t size);

}  // namespace yodel
