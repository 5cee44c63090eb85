// Standard error, written in whole lines without ever blocking. Lines wait while nobody reads.
// Above 64 KiB they are left out and counted, and the count is written in their place as soon
// as there is space again.
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
    // How a remark is written: "program: text", or as the object {"text":"text"}.
    enum class Form { text, json };

    // The descriptor outlives this object, and so does the program's name.
    Diagnostics(int fd, const char* program) : program_(program), output_(fd) {}

    void set_program(const char* program) { program_ = program; }
    void set_form(Form form) { form_ = form; }
    Form form() const { return form_; }
    // Makes remarks begin with the time, like the lines of a log.
    void set_dated() { dated_ = true; }

    // Writes one remark. The text may contain any bytes: it is made printable first.
    void remark(const std::string& text) { line(remark_line(text)); }
    // Writes a line as it is, and a newline.
    void line(std::string_view text);
    // Writes a passing state to a terminal. It is left out while lines wait, and not counted.
    void show(std::string_view text);

    void attach(ev::Loop& loop);
    void detach() { output_.detach(); }
    // Waits at most `max_time` for the reader to take the waiting lines.
    void drain(ev::Duration max_time);

private:
    std::string remark_line(const std::string& text) const;
    void flush();

    const char* program_;
    Form form_ = Form::text;
    bool dated_ = false;
    std::uint64_t left_out_ = 0;  // lines left out since the last one was written
    Output output_;
};

// The diagnostics of this process. The first call opens standard error, so it must come after
// fill_standard_descriptors().
Diagnostics& diagnostics();

// While this object lives, waiting lines are written from the loop, which outlives it.
class DiagnosticsOnLoop {
public:
    explicit DiagnosticsOnLoop(ev::Loop& loop) { diagnostics().attach(loop); }
    ~DiagnosticsOnLoop() { diagnostics().detach(); }
    DiagnosticsOnLoop(const DiagnosticsOnLoop&) = delete;
    DiagnosticsOnLoop& operator=(const DiagnosticsOnLoop&) = delete;
};

// Writes a remark to standard error: "program: text".
void print_error(const std::string& text);

// Gives the reader of standard error a moment to take the waiting lines. Must be the last call
// before the program ends.
void finish_diagnostics();

}  // namespace yodel
