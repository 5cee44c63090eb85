// The backends besides poll, which is ev::Backend itself.
#pragma once

#include "ev/backend.hpp"

namespace ev {

std::string_view backend_names();  // for users, the default first

// Both exist only if EV_HAS_EPOLL. The first throws std::system_error if the system refuses
// epoll; the second chooses between poll and epoll.
std::unique_ptr<Backend> make_epoll_backend();
std::unique_ptr<Backend> make_auto_backend();

// Returns a backend that, if the last turn had events, may look once without sleeping before
// `inner` sleeps. With `is_tracing`, each wait writes a line to standard error: its number, its
// duration, and the ready descriptors (r: readable, w: writable, h: hang-up, e: error).
std::unique_ptr<Backend> make_look_backend(std::unique_ptr<Backend> inner,
                                           bool is_tracing = false);

bool is_ready_now(int fd, Events events);  // also true for an error or hang-up

}  // namespace ev
