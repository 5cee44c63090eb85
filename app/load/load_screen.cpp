#include "app/load/load_screen.hpp"

#include "app/load/load_page.hpp"

#include <unistd.h>

#include <chrono>

namespace yodel {

LoadScreen::LoadScreen(ev::Loop& loop, User& user)
    : FullScreen(loop, std::chrono::milliseconds(100)), loop_(loop), user_(user) {}

bool LoadScreen::prepare_for_line() { return ::isatty(STDERR_FILENO) != 1; }

void LoadScreen::press(const ui::Key& key) {
    const ui::Chord chord = ui::without_alt(key.chord);
    if (chord == ui::ctrl('c')) user_.interrupted();
    if (chord == ui::ctrl('z')) suspend();
    if (chord == ui::ctrl('l')) terminal().redraw();
}

void LoadScreen::draw() {
    const RunProgress progress = user_.progress();
    map_.add(loop_.now(), user_.take_recent());
    rate_.add(loop_.now(), progress.results.achieved_count());
    terminal().draw({.rows = load_page(progress, rate_.per_second(), map_, terminal().size())});
    mark_changed();  // the page contains times, so it always differs
}

}  // namespace yodel
