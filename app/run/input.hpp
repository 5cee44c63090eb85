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

    const SourceTrouble& trouble() const { return trouble_; }
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
    std::string plain_;  // the same message, where it had escapes
    SourceTrouble trouble_;
    ev::Watch watch_;
};

}  // namespace yodel
