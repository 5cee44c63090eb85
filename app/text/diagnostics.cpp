#include "app/text/diagnostics.hpp"

#include "app/text/json.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <unistd.h>

#include <chrono>

namespace yodel {

namespace {

constexpr std::size_t max_pending = 64 * 1024;

// Longer than `last_drain_time`, because these lines report why the program ends.
constexpr ev::Duration max_drain_time = std::chrono::milliseconds(300);

}  // namespace

void Diagnostics::write_line(std::string_view text) {
    flush();
    const bool fits = output_.pending() == 0 || output_.pending() + text.size() < max_pending;
    if (dropped_lines_ > 0 || !fits) {
        ++dropped_lines_;
        return;
    }
    output_.append_line(text);
    flush();
}

void Diagnostics::write_temporary(std::string_view text) {
    flush();
    if (output_.pending() == 0) output_.append(text);
    flush();
}

void Diagnostics::attach(ev::Loop& loop) {
    output_.attach(loop, [this] { flush(); });
}

void Diagnostics::drain() {
    output_.drain(max_drain_time);
    flush();
}

std::string Diagnostics::remark_line(const std::string& text) const {
    const auto now = std::chrono::system_clock::now();
    JsonObject object;
    if (timestamps_) object.text("time", timestamp_text(now));
    if (form_ == Form::json) return object.text("text", text).str();
    return (timestamps_ ? date_text(now) + " " : "") + program_ + ": " + ui::printable(text);
}

// Drops a line that cannot be written, because the error cannot be reported elsewhere. The next
// line is still tried, because a full disk may have space by then.
void Diagnostics::flush() {
    output_.flush();
    if (output_.error() != 0) output_.clear();
    if (dropped_lines_ == 0 || output_.pending() > 0) return;
    output_.append_line(remark_line(std::to_string(dropped_lines_) +
                                    (dropped_lines_ == 1 ? " line was" : " lines were") +
                                    " not written, because standard error was not read"));
    dropped_lines_ = 0;
    output_.flush();
}

Diagnostics& diagnostics() {
    static Diagnostics only(STDERR_FILENO, "yodel");
    return only;
}

void print_error(const std::string& text) { diagnostics().remark(text); }

}  // namespace yodel
