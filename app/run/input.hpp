// Standard input, cut into messages: a line each, or the bytes as they come.
//
// It is read only while more is wanted, so that a fast writer meets back-pressure. `changed` is
// called from the loop after each read.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/run/source.hpp"
#include "bufio/buffer.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class Input {
public:
    struct Options {
        const Framing* framing = find_framing("line");  // of the connections
        std::size_t max_frame = 32 * 1024 * 1024;       // bytes of a message
        bool escapes = false;                           // lines contain \n, \xNN and the like
        bool lines = true;                              // else each read is a message
        // Returns space for bytes that are messages as they are read; null: they are kept here.
        std::function<char*(std::size_t)> reserve = nullptr;
    };
    Input(ev::Loop& loop, Options options, std::function<void()> changed);

    void want(bool more) { watch_.want(more && !ended_ ? ev::readable : ev::none); }
    // Returns the next message, whole and valid until it is taken; none if there is none yet,
    // at the end, and after a failure.
    std::optional<std::string_view> next();
    // Returns the whole lines at the front, in at most `limit` bytes, with their newlines.
    std::string_view whole_lines(std::size_t limit) const;
    // Removes what next() or whole_lines() has returned.
    void take_message() { take(used_); }
    void take_lines(std::size_t size);
    // The message that next() has returned is in the space of `reserve`.
    bool direct() const { return !direct_.empty(); }
    // It is a line without its newline.
    bool unterminated() const { return unterminated_; }
    // Nothing is left, and nothing will come.
    bool over() const { return ended_ && buffer_.empty() && direct_.empty(); }

    const Trouble& trouble() const { return trouble_; }
    // Ends the input with a sentence, which gets the input's name.
    void fail(const std::string& text, int status);

private:
    void read();
    void take(std::size_t size);
    Decoder::Cut cut();

    const Options options_;
    const std::function<void()> changed_;
    bool ended_ = false;
    bufio::Buffer buffer_;     // read and not yet taken
    std::string_view direct_;  // the same, in the space of `reserve`
    Decoder lines_;
    std::size_t used_ = 0;  // bytes of the message that next() has returned
    bool unterminated_ = false;
    std::string plain_;  // the same message without its escapes
    Trouble trouble_;
    ev::Watch watch_;
};

// Standard input as the source of many connections: each sends all of its messages, in order.
// They are kept, because a connection that opens late begins with the first one. The trouble of
// a script is reported once, not for each connection.
class Script {
public:
    static constexpr std::size_t max_bytes = 256 * 1024 * 1024;  // with their overhead

    // `changed` is called from the loop when there are more messages, or no more will come.
    Script(ev::Loop& loop, Input::Options options, std::function<void()> changed);

    std::size_t size() const { return messages_.size(); }  // messages so far
    // Valid until the loop goes on.
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

// One connection's way through a script, which outlives it.
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
    std::size_t line_ = 0;  // the next one
};

}  // namespace yodel
