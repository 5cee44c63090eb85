#include "ev/backends/backends.hpp"

#include "ev/system.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace ev {

namespace {

// After a turn with events, the next event is often ready already. Looking without sleeping
// then saves the kernel from adding and removing a wait-queue hook for every descriptor. Looks
// that find nothing become rarer, so that they do not slow ping-pong traffic.
class LookBackend final : public Backend {
public:
    explicit LookBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

    void set(Registration& registration, Events interest) override {
        inner_->set(registration, interest);
    }

    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        if (max_wait <= max_wait.zero()) return inner_->wait(max_wait, ready);
        if (last_turn_had_events_ && ++turns_since_look_ >= interval_) {
            inner_->wait(Duration::zero(), ready);
            turns_since_look_ = 0;
            interval_ = ready.empty() ? std::min(2 * interval_, 16U) : 1;
            if (!ready.empty()) return;
        }
        inner_->wait(max_wait, ready);
        last_turn_had_events_ = !ready.empty();
    }

private:
    const std::unique_ptr<Backend> inner_;
    bool last_turn_had_events_ = false;
    unsigned interval_ = 1;  // turns with events per look
    unsigned turns_since_look_ = 0;
};

constexpr std::pair<Events, char> letters[] = {
    {readable, 'r'}, {writable, 'w'}, {hangup, 'h'}, {error, 'e'}};

class TraceBackend final : public Backend {
public:
    explicit TraceBackend(std::unique_ptr<Backend> traced) : traced_(std::move(traced)) {}

    void set(Registration& registration, Events interest) override {
        traced_->set(registration, interest);
    }

    void wait(Duration max_wait, std::vector<Readiness>& ready) override {
        using Milliseconds = std::chrono::duration<double, std::milli>;
        const auto start = Clock::now();
        traced_->wait(max_wait, ready);
        ++turns_;
        std::string text;
        for (const Readiness& each : ready) {
            text += " " + std::to_string(each.registration->fd);
            for (const auto& [event, letter] : letters)
                if (each.events & event) text += letter;
        }
        std::fprintf(stderr, "ev: turn %lu waited %.3f ms, ready:%s\n", turns_,
                     Milliseconds(Clock::now() - start).count(), text.c_str());
    }

private:
    const std::unique_ptr<Backend> traced_;
    unsigned long turns_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_look_backend(std::unique_ptr<Backend> inner) {
    return std::make_unique<LookBackend>(std::move(inner));
}

std::unique_ptr<Backend> make_trace_backend(std::unique_ptr<Backend> traced) {
    return std::make_unique<TraceBackend>(std::move(traced));
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
    throw std::invalid_argument("EV_BACKEND: unknown backend " + std::string(name) + " (" +
                                std::string(backend_names()) + ")");
}

static std::string_view environment_variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

std::unique_ptr<Backend> make_backend(std::string_view name) {
    if (name.empty()) name = environment_variable("EV_BACKEND");
    auto backend = make_look_backend(make_named_backend(name.empty() ? "auto" : name));
    if (environment_variable("EV_TRACE").empty()) return backend;
    return make_trace_backend(std::move(backend));
}

bool ready_now(int fd, Events events) {
    pollfd polled{fd, static_cast<short>(events), 0};
    return ::poll(&polled, 1, 0) > 0;
}

}  // namespace ev
