#include "ev/backends/backends.hpp"

#include "ev/system.hpp"

#include <sys/select.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <utility>

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
            throw_error(errno, "select");
    }

private:
    void update_kernel(Registration& registration, Events interest) override {
        const int fd = registration.fd;
        if (registration.interest == none && fd >= FD_SETSIZE && fd != invalid_descriptor)
            throw_error(EMFILE, "select");
        Backend::update_kernel(registration, interest);
    }

    int call_select(Duration max_wait) const {
        fd_set read_set;
        fd_set write_set;
        FD_ZERO(&read_set);
        FD_ZERO(&write_set);
        int end = 0;
        for (const pollfd& each : polled_) {
            if (each.fd == invalid_descriptor) return 1;
            if (each.events & POLLIN) FD_SET(each.fd, &read_set);
            if (each.events & POLLOUT) FD_SET(each.fd, &write_set);
            end = std::max(end, each.fd + 1);
        }
        // A finite wait lasts a day at most, which costs only one extra turn a day.
        const auto limit = std::clamp<Duration>(max_wait, 0s, 24h);
        const timespec timeout{static_cast<std::time_t>(limit / 1s),
                               static_cast<long>((limit % 1s).count())};
        return ::pselect(end, &read_set, &write_set, nullptr,
                         max_wait == max_wait.max() ? nullptr : &timeout, nullptr);
    }
};

constexpr std::pair<Events, char> event_letters[] = {
    {readable, 'r'}, {writable, 'w'}, {hangup, 'h'}, {error, 'e'}};

// After a turn with events, the next event is often ready already. Looking without sleeping
// then saves the kernel from adding and removing its wait-queue hooks, of which poll(2) needs
// one for every descriptor. After looks that find nothing, looks become rarer, so that they do
// not slow ping-pong traffic.
class LookBackend final : public Backend {
public:
    LookBackend(std::unique_ptr<Backend> inner, bool is_tracing)
        : inner_(std::move(inner)), is_tracing_(is_tracing) {}

    void set(Registration& registration, Events interest) override {
        inner_->set(registration, interest);
    }

    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        const auto start = is_tracing_ ? Clock::now() : Time();
        look_and_sleep(max_wait, ready);
        if (is_tracing_) trace(Clock::now() - start, ready);
    }

private:
    void look_and_sleep(Duration max_wait, std::vector<Readiness>& ready) {
        if (max_wait <= max_wait.zero()) return inner_->wait(max_wait, ready);
        if (last_turn_had_events_ && ++turns_since_look_ >= look_interval_) {
            inner_->wait(Duration::zero(), ready);
            turns_since_look_ = 0;
            look_interval_ = ready.empty() ? std::min(2 * look_interval_, 16U) : 1;
            if (!ready.empty()) return;
        }
        inner_->wait(max_wait, ready);
        last_turn_had_events_ = !ready.empty();
    }

    void trace(Duration waited, const std::vector<Readiness>& ready) {
        std::string text;
        for (const Readiness& each : ready) {
            text += " " + std::to_string(each.registration->fd);
            for (const auto& [event, letter] : event_letters)
                if (each.events & event) text += letter;
        }
        std::fprintf(stderr, "ev: turn %lu waited %.3f ms, ready:%s\n", ++traced_turns_,
                     std::chrono::duration<double, std::milli>(waited).count(), text.c_str());
    }

    const std::unique_ptr<Backend> inner_;
    const bool is_tracing_;
    bool last_turn_had_events_ = false;
    unsigned look_interval_ = 1;  // turns with events per look
    unsigned turns_since_look_ = 0;
    unsigned long traced_turns_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_look_backend(std::unique_ptr<Backend> inner, bool is_tracing) {
    return std::make_unique<LookBackend>(std::move(inner), is_tracing);
}

std::string_view backend_names() {
#if EV_HAS_EPOLL
    return "auto, epoll, poll, select";
#else
    return "auto, poll, select";
#endif
}

static std::unique_ptr<Backend> make_named_backend(std::string_view name) {
    if (name == "select") return std::make_unique<SelectBackend>();
#if EV_HAS_EPOLL
    if (name == "epoll") return make_epoll_backend();
    if (name == "auto") return make_auto_backend();
#endif
    if (name == "poll" || name == "auto") return std::make_unique<Backend>();
    throw std::invalid_argument("EV_BACKEND: unknown backend " + std::string(name) + " (" +
                                std::string(backend_names()) + ")");
}

static std::string_view environment_variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

std::unique_ptr<Backend> make_backend(std::string_view name) {
    if (name.empty()) name = environment_variable("EV_BACKEND");
    return make_look_backend(make_named_backend(name.empty() ? "auto" : name),
                             !environment_variable("EV_TRACE").empty());
}

bool is_ready_now(int fd, Events events) {
    pollfd polled{fd, static_cast<short>(events), 0};
    return ::poll(&polled, 1, 0) > 0;
}

}  // namespace ev
