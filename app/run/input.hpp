// Reads messages from standard input: one per line, or one per read.
//
// Reads only on demand, so that back-pressure slows a fast writer down. Calls `changed` from
// the loop after each read.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/run/source.hpp"
#include "bufio/buffer.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yodel {

// Returns why the message cannot be sent as a single message; empty if it can.
std::string message_refusal(std::string_view message, const Framing& framing,
                            std::size_t max_frame);

class Input {
public:
    struct Options {
        const Framing* framing = find_framing("line");  // the connections' framing
        std::size_t max_frame = 32 * 1024 * 1024;       // limit of a message, in bytes
        bool escapes = false;                           // lines contain \n, \xNN and the like
        bool lines = true;                              // false: each read is a message
        bool single = false;  // refuse a line that would be several messages
        // Returns space for a read that becomes one message. Null: reads into our own buffer.
        std::function<char*(std::size_t)> reserve = nullptr;
    };
    Input(ev::Loop& loop, Options options, std::function<void()> changed);

    void want(bool more) { watch_.want(more && !ended_ ? ev::readable : ev::none); }
    // Returns the next message, valid until it is removed. Returns none if no message is
    // complete, at the end, and after an error.
    std::optional<std::string_view> next();
    // Returns the whole lines in the first `limit` bytes, including their newlines.
    std::string_view whole_lines(std::size_t limit) const;
    // Remove the message from next(), or `size` bytes of the lines from whole_lines().
    void remove_message() { remove(message_size_); }
    void remove_lines(std::size_t size);
    // Returns true if the message from next() is in the space from `reserve`.
    bool in_reserved_space() const { return !reserved_bytes_.empty(); }
    // Returns true if the message from next() ends without a newline.
    bool unterminated() const { return unterminated_; }
    // Returns true if the input has ended and all messages were removed.
    bool over() const { return ended_ && buffer_.empty() && reserved_bytes_.empty(); }

    const Trouble& trouble() const { return trouble_; }
    // Ends the input with an error. The text is prefixed with "standard input: ".
    void fail(const std::string& text, int status);

private:
    void read();
    void remove(std::size_t size);
    void refuse(const std::string& text);
    Decoder::Decoded decode_next();

    const Options options_;
    const std::function<void()> changed_;
    bool ended_ = false;
    bufio::Buffer buffer_;             // bytes read and not yet removed
    std::string_view reserved_bytes_;  // bytes in the space from `reserve`, not yet removed
    Decoder lines_;
    std::size_t message_size_ = 0;   // bytes that the message from next() occupies
    std::uint64_t line_number_ = 1;  // number of the next line
    bool unterminated_ = false;
    std::string unescaped_;  // the message from next(), with its escapes replaced
    Trouble trouble_;
    ev::Watch watch_;
};

// Buffers standard input for several connections, each of which sends all messages. Holds every
// message, because a connection that opens late begins with the first one. Reports an error
// once, not for each connection.
class Script {
public:
    static constexpr std::size_t max_bytes = 256 * 1024 * 1024;  // including overhead

    // Calls `changed` from the loop when more messages or EOF arrive.
    Script(ev::Loop& loop, Input::Options options, std::function<void()> changed);

    std::size_t size() const { return messages_.size(); }  // messages read so far
    // The reference is valid until the next turn of the loop.
    const std::string& message(std::size_t i) const { return messages_[i]; }
    bool ended() const { return input_.over(); }
    const Trouble& trouble() const { return input_.trouble(); }

private:
    void read();

    const std::function<void()> changed_;
    std::deque<std::string> messages_;
    std::size_t bytes_ = 0;
    Input input_;
};

// One connection's position in a script. The script must outlive it.
class ScriptSource final : public Source {
public:
    explicit ScriptSource(const Script& script) : script_(script) {}

    std::optional<Outgoing> next() override {
        if (next_index_ == script_.size()) return std::nullopt;
        return Outgoing{.payload = script_.message(next_index_)};
    }
    void sent(const Outgoing&, QueuedIds) override { ++next_index_; }
    bool over() const override { return script_.ended() && next_index_ == script_.size(); }

private:
    const Script& script_;
    std::size_t next_index_ = 0;  // index of the next message
};

// Sends each line of standard input once, on any connection of a lane. Reads only if a message
// is wanted and no line is left.
class LineSource final : public Source {
public:
    // Calls `changed` from the loop after each read.
    LineSource(ev::Loop& loop, const Input::Options& options, std::function<void()> changed)
        : input_(loop, options, [this, changed = std::move(changed)] {
              input_.want(false);
              changed();
          }) {}

    std::optional<Outgoing> next() override;
    void sent(const Outgoing&, QueuedIds) override;
    bool over() const override { return left_ == 0 || input_.over(); }
    void end_after(std::uint64_t count) override { left_ = count; }
    Trouble trouble() const override;

private:
    Input input_;
    std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();
    bool any_ = false;  // a line was read
};

}  // namespace yodel
