#include "app/screen/load_screen.hpp"

#include "app/screen/load_page.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>

namespace yodel {

namespace {

constexpr ev::Duration period = std::chrono::milliseconds(100);

}  // namespace

LoadScreen::LoadScreen(ev::Loop& loop, ui::Color color, User& user)
    : loop_(loop),
      user_(user),
      resized_(loop, SIGWINCH, [this] { terminal_.resize(); }),
      stopped_(loop, SIGTSTP, [this] { suspend(); }),
      terminal_(color),
      keyboard_(loop, STDIN_FILENO, ev::readable, [this](ev::Events) { read_keys(); }),
      escape_(loop,
              [this] {
                  terminal_.expire_key();
                  read_keys();
              }),
      display_(loop, terminal_.output(), ev::none, [this](ev::Events) { await_display(); }),
      frame_(loop, [this] { due_ = true; }) {}

bool LoadScreen::make_way() { return ::isatty(STDERR_FILENO) != 1; }

// The terminal is taken over again at the end of a turn, so that a signal that came with
// SIGCONT can end the program first.
void LoadScreen::turn_ended() {
    if (resuming_) take_terminal();
    if (resuming_ || !due_) return;
    due_ = false;
    frame_.start(period);
    if (!terminal_.flush()) return;
    draw();
    await_display();
}

void LoadScreen::take_terminal() {
    resuming_ = !terminal_.take_over();
    if (!resuming_) read_keys();  // those that had been read before the suspension
}

void LoadScreen::read_keys() {
    while (const auto key = terminal_.read_key()) press(*key);
    if (terminal_.key_incomplete()) escape_.start(terminal_.escape_delay());
    if (!terminal_.gone()) return;
    keyboard_.want(ev::none);
    std::raise(SIGHUP);  // a terminal that hangs up ends the program as the signal does
}

void LoadScreen::press(const ui::Key& key) {
    if (key.chord == ui::ctrl('c')) user_.interrupted();
    if (key.chord == ui::ctrl('z')) suspend();
    if (key.chord == ui::ctrl('l')) terminal_.redraw();
}

// Replies that are read in the rest of this turn have waited for us.
void LoadScreen::suspend() {
    user_.suspending();
    terminal_.suspend();
}

void LoadScreen::draw() {
    const RunProgress progress = user_.progress();
    map_.add(loop_.now(), user_.take_recent());
    rate_.add(loop_.now(), progress.results.echoed);
    terminal_.draw({.rows = load_page(progress, rate_.per_second(), map_, terminal_.size())});
}

void LoadScreen::await_display() { display_.want(terminal_.flush() ? ev::none : ev::writable); }

}  // namespace yodel
