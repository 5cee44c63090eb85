// Writes whole lines to standard error without blocking. Lines are buffered while nobody reads.
// Beyond 64 KiB they are dropped, and their count is written in their place once there is
// space.
//
// Only the main thread may use it.
#pragma once

#include "app/text/output.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace yodel {

class Diagnostics {
public:
    // Form of a remark: "program: text", or the object {"text":"text"}.
    enum class Form { text, json };

    // The descriptor and the program's name must outlive this object.
    Diagnostics(int fd, const char* program) : program_(program), output_(fd) {}

    void set_program(const char* program) { program_ = program; }
    void set_form(Form form) { form_ = form; }
    Form form() const { return form_; }
    void set_timestamps() { timestamps_ = true; }  // before each remark, as in a log

    // Writes one remark. The text may contain any bytes, and is made printable.
    void remark(const std::string& text) { write_line(remark_line(text)); }
    // Writes a line unchanged, and a newline.
    void write_line(std::string_view text);
    // Writes a temporary text to a terminal, unless lines are buffered.
    void write_temporary(std::string_view text);

    void attach(ev::Loop& loop);
    void detach() { output_.detach(); }
    // Waits a moment until the buffered lines are written. Call it last in the program.
    void drain();

private:
    std::string remark_line(const std::string& text) const;
    void flush();

    const char* program_;
    Form form_ = Form::text;
    bool timestamps_ = false;
    std::uint64_t dropped_lines_ = 0;  // lines dropped since the last written line
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
