// Writing to a pipe, a terminal, a socket or a file without ever blocking: bytes that the
// reader has not taken wait here.
//
// The flags of the descriptor stay as they are, because other processes share them. A pipe or a
// terminal is opened a second time instead, so that O_NONBLOCK is ours alone; a socket is
// written with MSG_DONTWAIT. If the system can't open a pipe again (no /proc/self/fd), it
// gets at most PIPE_BUF bytes at once, and only when it is writable, which does not block
// unless another process fills it at the same moment; a terminal written that way may block.
#pragma once

#include "bufio/buffer.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace yodel {

// How long a program or a file that ends waits for its reader.
inline constexpr ev::Duration last_wait = std::chrono::milliseconds(200);

class Output {
public:
    // Until attach(), writes happen only inside the calls below. The descriptor stays the
    // caller's and outlives this object.
    explicit Output(int fd);
    // Takes over a file that was opened with O_NONBLOCK.
    explicit Output(bufio::Fd file);
    Output(ev::Loop& loop, int fd, std::function<void()> changed) : Output(fd) {
        attach(loop, std::move(changed));
    }

    // From here on waiting bytes are also written from the loop, which must live until
    // detach() or the end of this object. `changed` is called after such a write, and when one
    // has failed.
    void attach(ev::Loop& loop, std::function<void()> changed);
    void detach();

    void append(std::string_view bytes) { buffer_.append(bytes); }
    void append_line(std::string_view text);  // appends a newline as well
    // Appends and flushes. Bytes that the reader takes at once are not copied.
    void write(std::string_view bytes);
    // Writes all that the reader takes now; the rest is written from the loop.
    void flush();
    // Waits at most `max_time` for the reader to take everything. Detaches from the loop, and
    // must not be called from one of its callbacks.
    void drain(ev::Duration max_time);
    // Drops the waiting bytes, and forgets an error.
    void clear();
    std::size_t pending() const { return buffer_.size(); }
    bool done() const { return pending() == 0 || error() != 0; }
    int error() const { return error_; }  // errno of the write that failed; 0 if none did
    std::string error_text() const;       // error() in words

private:
    void write_some();
    ssize_t write_piece(std::string_view bytes) const;

    bufio::Fd own_;  // opened here or handed over; empty: the descriptor is shared
    int fd_;
    bool socket_ = false;
    std::size_t piece_;  // bytes to write at once; if limited, only while that does not block
    bufio::Buffer buffer_;
    int error_ = 0;
    bool blocked_ = false;  // the last write found no space; the loop reports when it does
    std::function<void()> changed_;
    ev::Watch watch_;
};

}  // namespace yodel
