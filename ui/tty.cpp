#include "ui/tty.hpp"

#include "ui/text.hpp"

#include <curses.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace ui {

termios terminal_settings() {
    termios settings{};
    if (::tcgetattr(STDIN_FILENO, &settings) != 0)
        throw std::system_error(errno, std::generic_category(), "the terminal's settings");
    return settings;
}

bool change_settings(const termios& settings) {
    int result = -1;
    do {
        result = ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

bool in_background() {
    const pid_t owner = ::tcgetpgrp(STDIN_FILENO);
    return owner > 0 && owner != ::getpgrp();
}

void discard_output(int fd) {
    ::tcflush(fd, TCOFLUSH);
    ::tcflow(fd, TCOON);
}

std::string control_sequence(const char* capability) {
    static std::string collected;  // tputs() passes no context to its callback
    collected.clear();
    const char* const string = ::tigetstr(capability);
    const bool found = string != nullptr && string != reinterpret_cast<const char*>(-1);
    if (found)
        ::tputs(string, 1, [](int c) {
            collected += static_cast<char>(c);
            return c;
        });
    return collected;
}

std::string terminal_type_trouble() {
    const char* const type = std::getenv("TERM");
    const std::string subject =
        "the terminal type \"" + printable(type ? type : "") + "\" (TERM) ";
    int error = 0;
    if (::setupterm(type, STDOUT_FILENO, &error) != OK)
        return subject + "is not known on this system";
    const bool places_cursor = !control_sequence("cup").empty();
    ::del_curterm(cur_term);
    return places_cursor ? "" : subject + "cannot position its cursor";
}

}  // namespace ui
