// The backends besides poll, which is ev::Backend itself.
#pragma once

#include "ev/backend.hpp"

namespace ev {

std::string_view backend_names();  // for users, the default first

// Linux only. Throws std::system_error if no descriptor is left.
std::unique_ptr<Backend> make_epoll_backend();
// Linux only. Chooses between poll and epoll by the number of watched descriptors and the share
// that is usually ready.
std::unique_ptr<Backend> make_auto_backend();

// Before `inner` sleeps, it looks once without sleeping if the last turn had events. These
// looks become rarer while they find nothing. If it traces, it writes a line to standard error
// for each wait: its number, the time waited, and the ready descriptors (r: readable,
// w: writable, h: hang-up, e: error).
std::unique_ptr<Backend> make_look_backend(std::unique_ptr<Backend> inner, bool traces = false);

// Also true for an error.
bool ready_now(int fd, Events events);

}  // namespace ev
