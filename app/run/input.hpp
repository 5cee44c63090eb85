// Reads messages from standard input: one per line, or one per read.
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
        std::size_t max_frame = 32 * 1024 * 1024;       // limit of a message, in bytes
        bool escapes = false;                           // lines contain \n, \xNN and the like
        bool lines = true;                              // false: each read is a message
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
    void remove_message() { remove(used_); }
    void remove_lines(std::size_t size);
    // Returns true if the message from next() is in the space from `reserve`.
    bool direct() const { return !direct_.empty(); }
    // Returns true if the message from next() ends without a newline.
    bool unterminated() const { return unterminated_; }
    // Returns true if the input has ended and all messages were removed.
    bool over() const { return ended_ && buffer_.empty() && direct_.empty(); }

    const Trouble& trouble() const { return trouble_; }
    // Ends the input with an error. The text is prefixed with "standard input: ".
    void fail(const std::string& text, int status);

private:
    void read();
    void remove(std::size_t size);
    void refuse(const std::string& text);
    Decoder::Cut cut();

    const Options options_;
    const std::function<void()> changed_;
    bool ended_ = false;
    bufio::Buffer buffer_;     // bytes read and not yet removed
    std::string_view direct_;  // unremoved bytes in the space from `reserve`
    Decoder lines_;
    std::size_t used_ = 0;    // bytes that the message from next() occupies
    std::uint64_t line_ = 1;  // number of the next line
    bool unterminated_ = false;
    std::string plain_;  // the message from next(), with its escapes replaced
    Trouble trouble_;
    ev::Watch watch_;
};

// Buffers standard input for many connections, each of which sends all messages. Stores all
// messages, because a connection that opens late begins with the first. Reports an error once,
// not for each connection.
class Script {
public:
    static constexpr std::size_t max_bytes = 256 * 1024 * 1024;  // including overhead

    // Calls `changed` from the loop after more messages or the end of the input.
    Script(ev::Loop& loop, Input::Options options, std::function<void()> changed);

    std::size_t size() const { return messages_.size(); }  // messages read so far
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
