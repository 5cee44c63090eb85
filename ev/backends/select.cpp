#include "ev/backends/backends.hpp"

#include <sys/select.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace ev {

using namespace std::chrono_literals;

namespace {

// select(2) reports a hang-up or an error as readiness, and fails as a whole if one descriptor
// is invalid. So select(2) only sleeps; poll(2) with a timeout of 0 then reports the details.
class SelectBackend final : public Backend {
public:
    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        const int found = call_select(max_wait);
        if (found > 0 || (found < 0 && errno == EBADF))
            Backend::wait(max_wait.zero(), ready);
        else if (found < 0 && errno != EINTR)
            fail(errno, "select");
    }

private:
    void update_kernel(Registration& registration, Events interest) override {
        const int fd = registration.fd;
        if (registration.interest == none && fd >= FD_SETSIZE && fd != invalid_descriptor)
            fail(EMFILE, "select");
        Backend::update_kernel(registration, interest);
    }

    int call_select(Duration max_wait) const {
        fd_set reads;
        fd_set writes;
        FD_ZERO(&reads);
        FD_ZERO(&writes);
        int end = 0;
        for (const pollfd& each : polled_) {
            if (each.fd == invalid_descriptor) return 1;
            if (each.events & POLLIN) FD_SET(each.fd, &reads);
            if (each.events & POLLOUT) FD_SET(each.fd, &writes);
            end = std::max(end, each.fd + 1);
        }
        // Waits for a day at most, which costs only one extra turn a day.
        const auto limit = std::clamp<Duration>(max_wait, 0s, 24h);
        const timespec time{static_cast<std::time_t>(limit / 1s),
                            static_cast<long>((limit % 1s).count())};
        return ::pselect(end, &reads, &writes, nullptr,
                         max_wait == max_wait.max() ? nullptr : &time, nullptr);
    }
};

}  // namespace

std::unique_ptr<Backend> make_select_backend() { return std::make_unique<SelectBackend>(); }

}  // namespace ev
