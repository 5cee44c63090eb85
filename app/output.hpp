// Standard output for a program that must not block: what the reader does not take waits here.
// The descriptor's own flags stay as they are, because others share them.
#pragma once

#include "bufio/buffer.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <string_view>

namespace yodel {

class Output {
public:
    // `changed` is called when something was written later than it was appended, or failed.
    Output(ev::Loop& loop, int fd, std::function<void()> changed);

    void append(std::string_view bytes) { buffer_.append(bytes); }
    void append_line(std::string_view text);  // and a newline
    // The same, and flushes; what the reader takes at once is not copied.
    void write(std::string_view bytes);
    // Writes what the reader takes now; the rest goes by itself.
    void flush();
    std::size_t pending() const { return buffer_.size(); }
    bool done() const { return pending() == 0 || error() != 0; }
    int error() const { return error_; }  // errno of the write that failed; 0 if none did

private:
    void write_some();
    bool writes_at_once() const;
    ssize_t write_piece(std::string_view bytes) const;

    bufio::Fd own_;  // a description of our own of the same pipe; empty: it is shared
    int fd_;
    bool socket_ = false;
    std::size_t piece_;  // bytes to write at once; if limited, only after a word from poll
    bufio::Buffer buffer_;
    int error_ = 0;
    bool blocked_ = false;
    std::function<void()> changed_;
    ev::Watch watch_;
};

}  // namespace yodel
