// Standard input as the source of messages: each of its lines is one, and each reply a line of
// standard output.  With framing raw, bytes pass as they are.
#pragma once

#include "app/pipe/pipe_mode.hpp"
#include "bufio/buffer.hpp"
#include "ev/loop.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class PipeClient final : public PipeMode {
public:
    struct Options {
        AnySession::Options session;
        Reporter::Options report = {};
        // Messages in flight at once; none: 64 messages, or 128 KiB of shorter ones.
        std::optional<unsigned> window = {};
        bool escapes = false;  // input holds \n, \xNN and the like
    };

    // Throws std::system_error: the log.
    PipeClient(ev::Loop& loop, Options options);

private:
    void send() override;
    void connected() override;

    bool raw() const { return !session().options().framing->has_frames(); }
    bool bytes_pass() const { return raw() && !options_.escapes; }  // as they are read
    void read_input();
    void take_input(std::string_view bytes);
    bool has_space() const;
    std::size_t raw_window() const;
    bool send_next();
    bool send_lines(std::string_view lines);
    bool send_message(const Decoder::Cut& cut);
    bool send_payload(std::string_view payload);
    std::string_view whole_lines() const;
    Decoder::Cut next_message();
    void give_up_input(Reporter::Trouble trouble);

    Options options_;
    bool input_ended_ = false;
    bufio::Buffer input_;  // read and not yet sent
    Decoder lines_;
    ev::Watch watch_;     // of standard input
    ev::Timer greeting_;  // until it is over, a greeting may come before the first message
};

}  // namespace yodel
