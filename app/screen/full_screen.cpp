#include "app/screen/full_screen.hpp"

#include "app/text/output.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace yodel {

bool can_use_screen_or_warn() {
    const char* const term = std::getenv("TERM");
    const bool is_usable_type = term && *term != '\0' && std::strcmp(term, "dumb") != 0;
    if (!is_usable_type || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)
        return false;
    const std::string trouble = ui::terminal_trouble();
    if (!trouble.empty()) print_error(trouble + "; the full screen is not used");
    return trouble.empty();
}

FullScreen::FullScreen(ev::Loop& loop, ev::Duration frame_time)
    : frame_time_(frame_time),
      resize_signal_(loop, SIGWINCH,
                     [this] {
                         terminal_.resize();
                         has_changed_ = true;
                     }),
      stop_signal_(loop, SIGTSTP, [this] { suspend(); }),
      keyboard_watch_(loop, STDIN_FILENO, ev::readable, [this](ev::Events) { read_keys(); }),
      key_timer_(loop,
                 [this] {
                     terminal_.expire_key();
                     read_keys();
                 }),
      display_watch_(loop, terminal_.output_fd(), ev::none,
                     [this](ev::Events) { await_display(); }),
      stall_timer_(loop, [this] { stalled(true); }),
      frame_timer_(loop, [] {}) {}

void FullScreen::turn_ended() {
    // The SIGCONT handler does not take the terminal over, because a signal that arrived with
    // SIGCONT may end the program first.
    if (is_resuming_ && terminal_.take_over()) {
        is_resuming_ = false;
        read_keys();  // keys that were read before the suspension
    }
    if (is_resuming_ || !has_changed_ || frame_timer_.pending()) return;
    if (terminal_.flush()) {
        has_changed_ = false;
        draw();
        frame_timer_.start(frame_time_);
    }
    await_display();
}

void FullScreen::read_keys() {
    while (const auto key = terminal_.read_key()) press(*key);
    key_timer_.cancel();
    if (const auto timeout = terminal_.key_timeout()) key_timer_.start(*timeout);
    has_changed_ = true;
    if (!terminal_.is_gone()) return;
    keyboard_watch_.want(ev::none);
    std::raise(SIGHUP);  // the terminal is gone: end as SIGHUP does
}

void FullScreen::suspend() {
    suspending();
    terminal_.suspend();
}

void FullScreen::await_display() {
    const bool is_waiting = !terminal_.flush();
    const bool was_waiting = display_watch_.wanted() != ev::none;
    display_watch_.want(is_waiting ? ev::writable : ev::none);
    if (is_waiting && !was_waiting) stall_timer_.start(std::chrono::seconds(1));
    if (!is_waiting && was_waiting && !stall_timer_.pending()) stalled(false);
    if (!is_waiting) stall_timer_.cancel();
}

}  // namespace yodel
