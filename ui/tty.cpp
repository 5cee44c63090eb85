#include "ui/tty.hpp"

#include <termios.h>
#include <unistd.h>

#include <cerrno>
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

}  // namespace ui
