#include "ev/backend.hpp"

#include <sys/select.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace ev {

namespace {

// select(2) reports a hang-up or an error as readiness, and fails as a whole for one invalid
// descriptor. So it only sleeps, and poll(2), which does not, reports the details.
class SelectBackend final : public Backend {
public:
    void wait(std::chrono::nanoseconds longest, std::vector<Readiness>& ready) override {
        const int found = sleep(milliseconds(longest));
        if (found > 0 || (found < 0 && errno == EBADF))
            Backend::wait(longest.zero(), ready);
        else if (found < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "select");
    }

private:
    void update_kernel(Registration& registration, Events before, Events) override {
        const int fd = registration.fd;
        if (before == none && fd >= FD_SETSIZE && fd != invalid_descriptor)
            throw std::system_error(EMFILE, std::generic_category(), "select");
    }

    int sleep(int milliseconds) const {
        fd_set reads, writes;
        FD_ZERO(&reads);
        FD_ZERO(&writes);
        int end = 0;
        for (const pollfd& each : polled_) {
            if (each.fd == invalid_descriptor) return 1;
            if (each.events & POLLIN) FD_SET(each.fd, &reads);
            if (each.events & POLLOUT) FD_SET(each.fd, &writes);
            end = std::max(end, each.fd + 1);
        }
        timeval limit{milliseconds / 1000, milliseconds % 1000 * 1000};
        return ::select(end, &reads, &writes, nullptr, milliseconds < 0 ? nullptr : &limit);
    }
};

}  // namespace

std::unique_ptr<Backend> make_select_backend() { return std::make_unique<SelectBackend>(); }

}  // namespace ev
