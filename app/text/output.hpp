// Writes to a pipe, a terminal, a socket or a file without blocking. Buffers the bytes that the
// reader does not yet accept.
//
// The flags of the descriptor stay unchanged, because other processes share them. Instead, a
// pipe or terminal is opened again with O_NONBLOCK, and a socket is written with MSG_DONTWAIT.
// If the system cannot open a pipe again (no /proc/self/fd), a call writes at most PIPE_BUF
// bytes, and only when the pipe is writable. This blocks only if another process fills the
// pipe at the same moment. A terminal written this way may block.
#pragma once

#include "bufio/buffer.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace yodel {

// Longest wait for the slow reader of a log or recording when the program ends.
inline constexpr ev::Duration max_final_drain = std::chrono::milliseconds(200);

class Output {
public:
    // Until attach(), writes happen only inside the calls below. The caller owns the
    // descriptor, which must outlive this object.
    explicit Output(int fd);
    // Owns the file, which must be opened with O_NONBLOCK.
    explicit Output(bufio::Fd file);
    Output(ev::Loop& loop, int fd, std::function<void()> on_write) : Output(fd) {
        attach(loop, std::move(on_write));
    }

    // Writes buffered bytes also from the loop, which must live until detach() or the end of
    // this object. Calls `on_write` after each such write, failed or not.
    void attach(ev::Loop& loop, std::function<void()> on_write);
    void detach();

    void append(std::string_view bytes) { buffer_.append(bytes); }
    void append_line(std::string_view text) {
        append(text);
        append("\n");
    }
    // Appends and flushes. If nothing is buffered, writes first, and copies only the rest.
    void write(std::string_view bytes);
    // Writes as much as the reader accepts now. The loop, if attached, writes the rest.
    void flush();
    // Waits at most `max_time` until everything is written. Detaches from the loop. Must not be
    // called from a callback of the loop.
    void drain(ev::Duration max_time);
    void clear();  // drops the buffered bytes, and resets the error
    std::size_t pending() const { return buffer_.size(); }
    bool is_done() const { return pending() == 0 || error() != 0; }
    int error() const { return error_; }  // errno of a failed write; 0 if none
    std::string error_text() const;       // error() in words

private:
    void write_some();
    ssize_t write_piece(std::string_view bytes) const;

    bufio::Fd owned_fd_;  // opened here or handed over; empty if the caller owns fd_
    int fd_;
    bool is_socket_ = false;
    bool may_block_ = false;  // at most PIPE_BUF bytes per write, once the descriptor is ready
    bufio::Buffer buffer_;
    int error_ = 0;
    bool is_blocked_ = false;  // the last write found no space
    std::function<void()> on_write_;
    ev::Watch watch_;
};

// Writes whole lines to standard error without blocking. Lines are buffered until the reader
// accepts them. Once a line does not fit in 64 KiB, lines are dropped until the buffer is
// empty, and their number is written in their place. Only the main thread may use this class.
class Diagnostics {
public:
    // Form of a remark: "program: text", or the object {"text":"text"}.
    enum class Form { text, json };

    // The descriptor and the program's name must outlive this object.
    Diagnostics(int fd, const char* program) : program_(program), output_(fd) {}

    void set_program(const char* program) { program_ = program; }
    void set_form(Form form) { form_ = form; }
    Form form() const { return form_; }
    void enable_timestamps() { has_timestamps_ = true; }  // before each remark, as in a log

    // Writes one remark. The text may contain any bytes, and is made printable.
    void remark(const std::string& text) { write_line(remark_line(text)); }
    // Writes a line unchanged, and a newline.
    void write_line(std::string_view text);
    // Shows a line on the terminal until the next line or clear_temporary(). It is cut to the
    // terminal's width, and omitted in a background job and while lines are buffered.
    void show_temporary(std::string text);
    void clear_temporary();
    // Writes a text unchanged, unless lines are buffered. Allocates only if the reader does not
    // accept the whole text now, or lines were dropped.
    void write_temporary(std::string_view text);

    void attach(ev::Loop& loop);
    void detach() { output_.detach(); }
    // Waits briefly for the buffered lines to be written. Call it last in the program.
    void drain();

private:
    std::string remark_line(const std::string& text) const;
    void flush();

    const char* program_;
    Form form_ = Form::text;
    bool has_timestamps_ = false;
    std::uint64_t dropped_lines_ = 0;  // lines dropped since the last written line
    std::size_t temporary_width_ = 0;  // columns of the temporary line
    Output output_;
};

// Returns the diagnostics of this process. The descriptor of standard error must be open before
// the first call.
Diagnostics& diagnostics();

// While this object lives, the loop, which must outlive it, writes buffered lines.
class DiagnosticsOnLoop {
public:
    explicit DiagnosticsOnLoop(ev::Loop& loop) { diagnostics().attach(loop); }
    ~DiagnosticsOnLoop() { diagnostics().detach(); }
    DiagnosticsOnLoop(const DiagnosticsOnLoop&) = delete;
    DiagnosticsOnLoop& operator=(const DiagnosticsOnLoop&) = delete;
};

void print_error(const std::string& text);

}  // namespace yodel
