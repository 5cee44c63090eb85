#include "ui/tty.hpp"

#include <termios.h>
#include <unistd.h>

namespace ui {

bool in_background() {
    const pid_t owner = ::tcgetpgrp(STDIN_FILENO);
    return owner > 0 && owner != ::getpgrp();
}

void discard_output(int fd) {
    ::tcflush(fd, TCOFLUSH);
    ::tcflow(fd, TCOON);
}

}  // namespace ui
