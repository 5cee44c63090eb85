#include "ev/backend.hpp"

#include "ev/system.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace ev {

[[noreturn]] static void fail(int reason) {
    throw std::system_error(reason, std::generic_category(), "poll");
}

template <class T>
static void make_room_for_one(std::vector<T>& list) {
    if (list.size() == list.capacity()) list.reserve(2 * list.size() + 1);
}

void Backend::set(Registration& registration, Events interest) {
    const Events before = registration.interest;
    if (interest == before) return;
    if (before == none) {  // first, because nothing may fail once the kernel knows
        make_room_for_one(registrations_);
        make_room_for_one(polled_);
    }
    update_kernel(registration, before, interest);
    registration.interest = interest;
    if (before == none) {
        registration.place = registrations_.size();
        registrations_.push_back(&registration);
        polled_.push_back({registration.fd, 0, 0});
    }
    const std::size_t place = registration.place;
    polled_[place].events = static_cast<short>(interest);
    if (interest != none) return;
    registrations_.back()->place = place;
    registrations_[place] = registrations_.back();
    registrations_.pop_back();
    polled_[place] = polled_.back();
    polled_.pop_back();
}

static std::size_t descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<std::size_t>(limit.rlim_cur);
}

// poll(2) takes no longer list than this, whatever is in it.
void Backend::update_kernel(Registration&, Events before, Events) {
    if (before != none || registrations_.size() < limit_) return;
    limit_ = descriptor_limit();
    if (registrations_.size() >= limit_) fail(EMFILE);
}

void Backend::copy_to(Backend& successor) const {
    successor.registrations_ = registrations_;
    successor.polled_ = polled_;
    for (Registration* const each : registrations_)
        successor.update_kernel(*each, none, each->interest);
}

Limit limit_of(std::chrono::nanoseconds longest) {
    using std::chrono::milliseconds;
    if (longest == longest.max()) return {.milliseconds = -1};
    const std::chrono::nanoseconds most = milliseconds(std::numeric_limits<int>::max());
    const auto limit = std::clamp(longest, longest.zero(), most);
    if (limit == limit.zero() || limit >= milliseconds(20))
        return {.milliseconds = static_cast<int>((limit - limit / 128) / milliseconds(1))};
    return {.is_fine = true,
            .time = {0, static_cast<long>(limit.count())},
            .milliseconds = static_cast<int>(std::chrono::ceil<milliseconds>(limit).count())};
}

static int call_poll(std::vector<pollfd>& polled, const Limit& limit) {
    const auto count = static_cast<nfds_t>(polled.size());
#if EV_HAS_PPOLL
    if (limit.is_fine) return ::ppoll(polled.data(), count, &limit.time, nullptr);
#endif
    return ::poll(polled.data(), count, limit.milliseconds);
}

void Backend::wait(std::chrono::nanoseconds longest, std::vector<Readiness>& ready) {
    int left = call_poll(polled_, limit_of(longest));
    const std::size_t limit = left < 0 && errno == EINVAL ? descriptor_limit() : size();
    for (std::size_t i = limit; i < size(); ++i) ready.push_back({registrations_[i], error});
    if (left < 0 && errno != EINTR && limit >= size()) fail(errno);
    for (std::size_t i = 0; left > 0; ++i) {
        if (polled_[i].revents == 0) continue;
        const auto events = static_cast<Events>(polled_[i].revents);
        ready.push_back({registrations_[i], events & POLLNVAL ? error : events});
        --left;
    }
}

bool ready_now(int fd, Events events) {
    pollfd polled{fd, static_cast<short>(events), 0};
    return ::poll(&polled, 1, 0) > 0;
}

std::string_view backend_names() {
#if EV_HAS_EPOLL
    return "auto, epoll, poll, select";
#else
    return "auto, poll, select";
#endif
}

static std::unique_ptr<Backend> make_named_backend(std::string_view name) {
    if (name == "select") return make_select_backend();
#if EV_HAS_EPOLL
    if (name == "epoll") return make_epoll_backend();
    if (name == "auto") return make_auto_backend();
#endif
    if (name == "poll" || name == "auto") return std::make_unique<Backend>();
    throw std::invalid_argument("EV_BACKEND: no backend is called " + std::string(name) + " (" +
                                std::string(backend_names()) + ")");
}

static std::string_view environment(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

std::unique_ptr<Backend> make_backend(std::string_view name) {
    if (name.empty()) name = environment("EV_BACKEND");
    std::unique_ptr<Backend> backend = make_named_backend(name.empty() ? "auto" : name);
    if (environment("EV_TRACE").empty()) return backend;
    return make_trace_backend(std::move(backend));
}

}  // namespace ev
