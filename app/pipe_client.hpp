// The client between two pipes: each line of standard input is a message, each reply a line of
// standard output.  With framing raw, bytes pass as they are.
#pragma once

#include "app/reporter.hpp"
#include "app/session.hpp"
#include "bufio/buffer.hpp"
#include "ev/loop.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class PipeClient final : private Session::User {
public:
    struct Options {
        Session::Options session;
        Reporter::Options report = {};
        std::optional<unsigned> window = {};  // messages in flight at once; none: see below
        bool escapes = false;                 // input holds \n, \xNN and the like
    };

    // Stops the loop when all is done. Throws std::system_error: the log.
    PipeClient(ev::Loop& loop, Options options);

    // Closes the connection; for a signal from outside.
    void leave();
    void turn_ended() {}
    // Says on standard error how it went, and returns the exit status.
    int report() { return reporter_.finish(trouble_); }

private:
    void session_changed() override;
    void session_answered(const Message& message, const Reply& reply) override;
    void session_lost(const Message& message) override;
    void session_unasked(std::string_view payload) override;
    void session_received(std::string_view bytes) override;

    bool raw() const { return session_.options().framing->kind == Framing::Kind::raw; }
    bool bytes_pass() const { return raw() && !options_.escapes; }  // as they are read
    void entered(Session::State state);
    void read_input();
    void take_input(std::string_view bytes);
    void send_input();
    bool has_room() const;
    std::size_t raw_window() const;
    bool send_next();
    std::string_view whole_lines() const;
    bool send(std::string_view payload);
    Decoder::Cut next_message();
    void refuse_input(std::string why);
    void give_up_input();

    Options options_;
    std::string trouble_;  // with our own input
    bool input_ended_ = false;
    bool leaving_ = false;
    bufio::Buffer input_;  // read and not yet sent
    Decoder lines_;
    ev::Watch watch_;  // of standard input
    Session session_;
    Session::State told_ = Session::State::idle;  // the state last seen
    Reporter reporter_;
};

}  // namespace yodel
