#include "ev/backends/backends.hpp"

#include "ev/system.hpp"

#if EV_HAS_EPOLL

#    include "ev/fd.hpp"

#    include <sys/epoll.h>

#    include <algorithm>
#    include <exception>

namespace ev {

namespace {

static_assert(readable == EPOLLIN && writable == EPOLLOUT && error == EPOLLERR &&
              hangup == EPOLLHUP);

// Unlike poll(2), epoll reports nothing for a descriptor that was closed while watched. While
// this backend has no epoll instance, it uses poll.
class EpollBackend : public Backend {
public:
    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        if (!is_open() && !open()) return Backend::wait(max_wait, ready);
        ready.insert(ready.end(), refused_.begin(), refused_.end());
        const int count = call_epoll(refused_.empty() ? max_wait : max_wait.zero());
        if (count < 0 && errno != EINTR) throw_error(errno, "epoll");
        for (int i = 0; i < count; ++i) {
            const epoll_event& found = epoll_events_[static_cast<std::size_t>(i)];
            ready.push_back({static_cast<Registration*>(found.data.ptr), found.events});
        }
    }

    bool is_open() const { return static_cast<bool>(epoll_); }
    // Returns false, and leaves epoll closed, if it can't create the epoll instance or register
    // a descriptor.
    bool open() {
        try {
            epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
            if (!is_open()) return false;
            for (Registration* const each : registrations_)
                register_interest(EPOLL_CTL_ADD, *each, each->interest);
            return true;
        } catch (const std::exception&) {
            close();
            return false;
        }
    }
    void close() {
        duplicates_.clear();
        refused_.clear();
        epoll_.reset();
    }

private:
    int call_epoll(Duration max_wait) {
        const auto limit = static_cast<int>(epoll_events_.size());
#    if EV_HAS_EPOLL_PWAIT2
        if (needs_ns(max_wait) && has_pwait2_) {  // since Linux 5.11
            const timespec timeout{0, static_cast<long>(max_wait.count())};
            const int count =
                ::epoll_pwait2(epoll_.get(), epoll_events_.data(), limit, &timeout, nullptr);
            if (count >= 0 || errno != ENOSYS) return count;
            has_pwait2_ = false;
        }
#    endif
        return ::epoll_wait(epoll_.get(), epoll_events_.data(), limit,
                            milliseconds_of(max_wait));
    }

    void update_kernel(Registration& registration, Events interest) override {
        const bool is_new = registration.interest == none;
        if (is_new && epoll_events_.size() <= registrations_.size())
            epoll_events_.resize(2 * registrations_.size() + 1);
        if (!is_open()) return Backend::update_kernel(registration, interest);
        const auto is_same = [&](const Readiness& ready) {
            return ready.registration == &registration;
        };
        const bool was_refused = std::erase_if(refused_, is_same) > 0;
        if (interest != none)
            register_interest(is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, registration, interest);
        else if (!was_refused)
            unregister(registration);
    }

    void register_interest(int change, Registration& registration, Events interest) {
        if (control(change, descriptor_of(registration), registration, interest)) return;
        if (errno == EEXIST) return add_duplicate(registration, interest);
        // EINVAL means that the number of a closed descriptor now belongs to the epoll
        // instance.
        if (errno != EPERM && errno != EBADF && errno != ENOENT && errno != EINVAL)
            throw_error(errno, "epoll");
        refused_.push_back({&registration, errno == EPERM ? interest : error});
    }

    bool control(int change, int fd, Registration& registration, Events interest) const {
        epoll_event event{interest, {&registration}};
        return ::epoll_ctl(epoll_.get(), change, fd, &event) == 0;
    }

    // epoll accepts a descriptor only once, so any other watch registers a duplicate of it.
    void add_duplicate(Registration& registration, Events interest) {
        Fd duplicate(::fcntl(registration.fd, F_DUPFD_CLOEXEC, 0));
        duplicates_.reserve(duplicates_.size() + 1);
        if (!duplicate || !control(EPOLL_CTL_ADD, duplicate.get(), registration, interest))
            throw_error(errno, "epoll");
        duplicates_.push_back({&registration, std::move(duplicate)});
    }

    int descriptor_of(const Registration& registration) const {
        for (const Duplicate& duplicate : duplicates_)
            if (duplicate.registration == &registration) return duplicate.fd.get();
        return registration.fd;
    }

    // If a descriptor was closed too early, removing it fails. Its open file description may
    // stay in the epoll instance, always ready. So the instance is closed. The next wait opens
    // a new one (EpollBackend) or uses poll (AutoBackend).
    void unregister(Registration& removed) {
        const int result =
            ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor_of(removed), nullptr);
        std::erase_if(duplicates_,
                      [&](const Duplicate& each) { return each.registration == &removed; });
        if (result != 0) close();
    }

    struct Duplicate {
        const Registration* registration;
        Fd fd;
    };

    Fd epoll_;
    std::vector<Readiness> refused_;  // regular files and invalid descriptors, always ready
    std::vector<Duplicate> duplicates_;
    std::vector<epoll_event> epoll_events_{1};  // large enough for all registrations
#    if EV_HAS_EPOLL_PWAIT2
    bool has_pwait2_ = true;
#    endif
};

// The cost of poll grows with the watched descriptors, the cost of epoll with the ready ones.
// After each wait this backend adds up the estimated excess cost of its current choice. It
// switches when the sum exceeds about the cost of a switch. The first switches each double the
// threshold, so that a borderline load does not make the backend oscillate.
class AutoBackend final : public EpollBackend {
public:
    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        if (excess_ > switch_threshold_ * (watch_count() + 16)) {
            excess_ = 0;
            switch_threshold_ = std::min(2 * switch_threshold_, 512L);
            if (is_open())
                close();
            else
                open();  // if the system refuses epoll, poll stays in use
        }
        is_open() ? EpollBackend::wait(max_wait, ready) : Backend::wait(max_wait, ready);
        update_excess(max_wait > max_wait.zero(), static_cast<long>(ready.size()));
    }

private:
    long watch_count() const { return static_cast<long>(registrations_.size()); }

    // The unit is the time that poll takes for a descriptor, about 17 ns. The other costs are
    // multiples of it, which were measured once. If poll may sleep, the kernel also adds and
    // removes a wait-queue hook for each descriptor.
    void update_excess(bool may_sleep, long found) {
        const long poll_cost = watch_count() * (may_sleep ? 4 : 1);
        const long epoll_cost = found * 8 + 1;
        const long difference = poll_cost - epoll_cost;
        excess_ = std::max(0L, excess_ + (is_open() ? -difference : difference));
    }

    long excess_ = 0;  // excess cost of the current choice, in units of update_excess()
    long switch_threshold_ = 8;  // excess per descriptor that causes a switch
};

}  // namespace

std::unique_ptr<Backend> make_epoll_backend() {
    auto backend = std::make_unique<EpollBackend>();
    if (!backend->open()) throw_error(errno, "epoll");
    return backend;
}

std::unique_ptr<Backend> make_auto_backend() { return std::make_unique<AutoBackend>(); }

}  // namespace ev
#endif
