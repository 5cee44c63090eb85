#include "app/run/progress_line.hpp"

#include "app/stats/outcome.hpp"
#include "app/text/diagnostics.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace yodel {

namespace {

constexpr ev::Duration period = std::chrono::milliseconds(200);

// Returns the width of the terminal on standard error, or 80 if it is unknown.
std::size_t columns() {
    winsize size{};
    ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    return size.ws_col > 0 ? size.ws_col : 80;
}

// A background job leaves the terminal to the foreground program.
bool in_background() {
    const pid_t owner = ::tcgetpgrp(STDERR_FILENO);
    return owner > 0 && owner != ::getpgrp();
}

}  // namespace

void TemporaryLine::show(std::string text) {
    clear();
    if (in_background()) return;
    text.resize(
        std::min(text.size(), columns() - 1));  // some terminals wrap after the last column
    diagnostics().write_temporary(text);
    width_ = text.size();
}

void TemporaryLine::clear() {
    if (width_ == 0) return;
    diagnostics().write_temporary("\r" + std::string(width_, ' ') + "\r");
    width_ = 0;
}

ProgressDisplay::ProgressDisplay(ev::Loop& loop, User& user)
    : user_(user), timer_(loop, [this] { show(); }) {
    timer_.start(period);
}

bool ProgressDisplay::prepare_for_line() {
    line_.clear();
    return true;
}

void ProgressDisplay::show() {
    timer_.start(period);
    const RunProgress progress = user_.progress();
    std::string text = progress.load ? std::to_string(progress.open) + " open, " : "";
    if (progress.phase == RunProgress::Phase::warming_up) text += "warming up, ";
    line_.show(text + progress_text(progress.results));
}

}  // namespace yodel
