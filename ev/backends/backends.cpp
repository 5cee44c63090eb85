#include "ev/backends/backends.hpp"

#include "ev/backends/system.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace ev {

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
