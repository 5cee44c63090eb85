// Standard input, cut into messages: one per line, or one per read.
//
// Reads only on demand, so that a fast writer meets back-pressure. Calls `changed` from the
// loop after each read.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/run/source.hpp"
#include "bufio/buffer.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class Input {
public:
    struct Options {
        const Framing* framing = find_framing("line");  // the connections' framing
        std::size_t max_frame = 32 * 1024 * 1024;       // limit for a message
        bool escapes = false;                           // lines contain \n, \xNN and the like
        bool lines = true;                              // false: each read is a message
        // Returns space for a read that becomes a message as it is. Null: reads into our own
        // buffer.
        std::function<char*(std::size_t)> reserve = nullptr;
    };
    Input(ev::Loop& loop, Options options, std::function<void()> changed);

    void want(bool more) { watch_.want(more && !ended_ ? ev::readable : ev::none); }
    // Returns the next complete message, valid until it is taken. Returns none if no message
    // is complete yet, at the end, and after an error.
    std::optional<std::string_view> next();
    // Returns the complete lines in the first `limit` bytes, with their newlines.
    std::string_view whole_lines(std::size_t limit) const;
    // Remove the message from next(), or `size` bytes of the lines from whole_lines().
    void take_message() { take(used_); }
    void take_lines(std::size_t size);
    // True if the message from next() is in the space from `reserve`.
    bool direct() const { return !direct_.empty(); }
    // True if the message from next() was not ended by a newline.
    bool unterminated() const { return unterminated_; }
    // True if the input has ended and all messages were taken.
    bool over() const { return ended_ && buffer_.empty() && direct_.empty(); }

    const Trouble& trouble() const { return trouble_; }
    // Ends the input with an error. The text is prefixed with "standard input: ".
    void fail(const std::string& text, int status);

private:
    void read();
    void take(std::size_t size);
    void refuse(const std::string& text);
    Decoder::Cut cut();

    const Options options_;
    const std::function<void()> changed_;
    bool ended_ = false;
    bufio::Buffer buffer_;     // bytes read and not yet taken
    std::string_view direct_;  // the same in the space from `reserve`
    Decoder lines_;
    std::size_t used_ = 0;    // bytes that the message from next() occupies
    std::uint64_t line_ = 1;  // number of the next line
    bool unterminated_ = false;
    std::string plain_;  // the message from next(), with its escapes replaced
    Trouble trouble_;
    ev::Watch watch_;
};

// Standard input as the source of many connections: each connection sends all messages, in
// order. Messages are kept, because a connection that opens late begins with the first one. An
// error is reported once, not for each connection.
class Script {
public:
    static constexpr std::size_t max_bytes = 256 * 1024 * 1024;  // including overhead

    // Calls `changed` from the loop when more messages have come, or the input has ended.
    Script(ev::Loop& loop, Input::Options options, std::function<void()> changed);

    std::size_t size() const { return messages_.size(); }  // messages so far
    // The reference is valid until the next turn of the loop.
    const std::string& message(std::size_t i) const { return messages_[i]; }
    bool ended() const { return input_.over(); }
    const Trouble& trouble() const { return input_.trouble(); }

private:
    void read();

    const std::function<void()> changed_;
    std::vector<std::string> messages_;
    std::size_t bytes_ = 0;
    Input input_;
};

// One connection's position in a script. The script must outlive it.
class ScriptSource final : public Source {
public:
    explicit ScriptSource(const Script& script) : script_(script) {}

    std::optional<Outgoing> next() override {
        if (line_ == script_.size()) return std::nullopt;
        return Outgoing{.payload = script_.message(line_)};
    }
    void sent(const Outgoing&, Queued) override { ++line_; }
    bool over() const override { return script_.ended() && line_ == script_.size(); }

private:
    const Script& script_;
    std::size_t line_ = 0;  // index of the next message
};

}  // namespace yodel
