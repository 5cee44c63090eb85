#include "ev/backend.hpp"

#include <poll.h>
#include <sys/select.h>

#include <algorithm>
#include <cerrno>

namespace ev {

namespace {

// Sleeps in select(2). That call reports a hang-up or an error as readiness, and fails as a
// whole for one invalid descriptor. poll(2) then reports the details, without sleeping.
int poll_by_select(pollfd* polled, std::size_t count, int milliseconds) {
    fd_set reads, writes;
    FD_ZERO(&reads);
    FD_ZERO(&writes);
    int end = 0;
    for (const pollfd* each = polled; each != polled + count; ++each) {
        if (each->fd == invalid_descriptor)
            return ::poll(polled, static_cast<nfds_t>(count), 0);
        if (each->events & POLLIN) FD_SET(each->fd, &reads);
        if (each->events & POLLOUT) FD_SET(each->fd, &writes);
        end = std::max(end, each->fd + 1);
    }
    timeval limit{milliseconds / 1000, milliseconds % 1000 * 1000};
    const int found =
        ::select(end, &reads, &writes, nullptr, milliseconds < 0 ? nullptr : &limit);
    return found > 0 || (found < 0 && errno == EBADF)
               ? ::poll(polled, static_cast<nfds_t>(count), 0)
               : found;
}

}  // namespace

std::unique_ptr<Backend> make_select_backend() {
    return make_poll_backend(poll_by_select, FD_SETSIZE - 1);
}

}  // namespace ev
