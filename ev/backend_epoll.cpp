#include "ev/backend.hpp"

#include "ev/system.hpp"

#if EV_HAS_EPOLL

#    include <fcntl.h>
#    include <sys/epoll.h>
#    include <unistd.h>

#    include <algorithm>
#    include <array>
#    include <cerrno>
#    include <system_error>
#    include <utility>

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

// Differs from poll(2) in that a descriptor closed while it is watched falls silent.
class EpollBackend final : public Backend {
public:
    void wait(std::chrono::nanoseconds longest, std::vector<Readiness>& ready) override {
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
        if (errno != EPERM && errno != EBADF && errno != ENOENT) fail();
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
        if (result == 0) return;
        duplicates_.clear();
        refused_.clear();
        epoll_ = Descriptor(-1);  // frees the number that the new one may need
        epoll_ = open();
        for (Registration* registration : registrations_)
            if (registration != &removed)
                update_kernel(*registration, none, registration->interest);
    }

    static Descriptor open() {
        Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
        if (epoll < 0) fail();
        return epoll;
    }

    [[noreturn]] static void fail() {
        throw std::system_error(errno, std::generic_category(), "epoll");
    }

    struct Duplicate {
        const Registration* registration;
        Descriptor number;
    };

    Descriptor epoll_ = open();
    std::vector<Readiness> refused_;  // always ready: regular files; or invalid descriptors
    std::vector<Duplicate> duplicates_;
    std::array<epoll_event, 256> found_;
#    if EV_HAS_EPOLL_PWAIT2
    bool has_pwait2_ = true;
#    endif
};

}  // namespace

std::unique_ptr<Backend> make_epoll_backend() { return std::make_unique<EpollBackend>(); }

}  // namespace ev
#endif
