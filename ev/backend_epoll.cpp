#include "ev/backend.hpp"

#include "ev/system.hpp"

#if EV_HAS_EPOLL

#    include <fcntl.h>
#    include <sys/epoll.h>
#    include <unistd.h>

#    include <algorithm>
#    include <cerrno>
#    include <exception>
#    include <system_error>
#    include <utility>
#    include <vector>

namespace ev {

namespace {

static_assert(readable == EPOLLIN && writable == EPOLLOUT && error == EPOLLERR &&
              hangup == EPOLLHUP);

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    operator int() const { return number_; }

private:
    int number_;
};

// Differs from poll(2) in that a descriptor closed while it is watched falls silent. While
// there is no set of the kernel's, poll serves.
class EpollBackend final : public Backend {
public:
    EpollBackend() {
        if (!open()) fail();
    }

    void wait(std::chrono::nanoseconds longest, std::vector<Readiness>& ready) override {
        if (epoll_ < 0 && !open()) return Backend::wait(longest, ready);
        ready.insert(ready.end(), refused_.begin(), refused_.end());
        const int count =
            wait_for_events(limit_of(refused_.empty() ? longest : longest.zero()));
        if (count < 0 && errno != EINTR) fail();
        for (int i = 0; i < count; ++i) {
            const epoll_event& found = found_[static_cast<std::size_t>(i)];
            ready.push_back({static_cast<Registration*>(found.data.ptr), found.events});
        }
    }

private:
    int wait_for_events(const Limit& limit) {
        const auto most = static_cast<int>(found_.size());
#    if EV_HAS_EPOLL_PWAIT2
        if (limit.is_fine && has_pwait2_) {  // Linux has it only since 5.11
            const int count = ::epoll_pwait2(epoll_, found_.data(), most, &limit.time, nullptr);
            if (count >= 0 || errno != ENOSYS) return count;
            has_pwait2_ = false;
        }
#    endif
        return ::epoll_wait(epoll_, found_.data(), most, limit.milliseconds);
    }

    void update_kernel(Registration& registration, Events before, Events interest) override {
        if (before == none && found_.size() <= registrations_.size())
            found_.resize(2 * registrations_.size() + 1);
        if (epoll_ < 0) return Backend::update_kernel(registration, before, interest);
        const auto same = [&](const Readiness& ready) {
            return ready.registration == &registration;
        };
        const bool refused = std::erase_if(refused_, same) > 0;
        if (interest == none) {
            if (!refused) forget(registration);
            return;
        }
        const int change = before == none ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
        if (control(change, number_of(registration), registration, interest)) return;
        if (errno == EEXIST) return add_duplicate(registration, interest);
        // EINVAL: the number of a closed descriptor is that of the set by now.
        if (errno != EPERM && errno != EBADF && errno != ENOENT && errno != EINVAL) fail();
        refused_.push_back({&registration, errno == EPERM ? interest : error});
    }

    bool control(int change, int fd, Registration& registration, Events interest) const {
        epoll_event event{interest, {&registration}};
        return ::epoll_ctl(epoll_, change, fd, &event) == 0;
    }

    // A set takes a descriptor once: each further watch of it is registered by a duplicate.
    void add_duplicate(Registration& registration, Events interest) {
        Descriptor duplicate(::fcntl(registration.fd, F_DUPFD_CLOEXEC, 0));
        duplicates_.reserve(duplicates_.size() + 1);
        if (duplicate < 0 || !control(EPOLL_CTL_ADD, duplicate, registration, interest)) fail();
        duplicates_.push_back({&registration, std::move(duplicate)});
    }

    int number_of(const Registration& registration) const {
        for (const Duplicate& duplicate : duplicates_)
            if (duplicate.registration == &registration) return duplicate.number;
        return registration.fd;
    }

    // A descriptor closed too early may leave its file in the set, under another number and
    // for ever ready. A new set knows nothing of it.
    void forget(Registration& removed) {
        const int result = ::epoll_ctl(epoll_, EPOLL_CTL_DEL, number_of(removed), nullptr);
        std::erase_if(duplicates_,
                      [&](const Duplicate& each) { return each.registration == &removed; });
        if (result != 0) close();
    }

    // Returns false, without a set, if the system refuses one for all that is watched.
    bool open() {
        try {
            epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
            if (epoll_ < 0) return false;
            for (Registration* const each : registrations_)
                update_kernel(*each, none, each->interest);
            return true;
        } catch (const std::exception&) {
            close();
            return false;
        }
    }

    void close() {
        duplicates_.clear();
        refused_.clear();
        epoll_ = Descriptor(-1);
    }

    [[noreturn]] static void fail() {
        throw std::system_error(errno, std::generic_category(), "epoll");
    }

    struct Duplicate {
        const Registration* registration;
        Descriptor number;
    };

    Descriptor epoll_{-1};
    std::vector<Readiness> refused_;  // always ready: regular files; or invalid descriptors
    std::vector<Duplicate> duplicates_;
    std::vector<epoll_event> found_{1};  // space for all, so that each turn serves all
#    if EV_HAS_EPOLL_PWAIT2
    bool has_pwait2_ = true;
#    endif
};

}  // namespace

std::unique_ptr<Backend> make_epoll_backend() { return std::make_unique<EpollBackend>(); }

}  // namespace ev
#endif
