// The backends of the loop beside poll, which is ev::Backend itself. A loop is given one by its
// name (make_backend()); these functions are for programs that choose by themselves, and tests.
#pragma once

#include "ev/backend.hpp"

namespace ev {

// The names that make_backend() takes, separated by commas, the default first.
std::string_view backend_names();

std::unique_ptr<Backend> make_select_backend();
// Linux; throws std::system_error if no descriptor is left.
std::unique_ptr<Backend> make_epoll_backend();
// Linux; chooses between poll and epoll by how many descriptors are watched and how many of
// them are usually ready. It begins with poll.
std::unique_ptr<Backend> make_auto_backend();

// Lets another backend sleep, and looks for events without sleeping, either before it sleeps,
// if that has paid lately, or all the time (Loop::set_busy()).
std::unique_ptr<Backend> make_spin_backend(std::unique_ptr<Backend> inner, ReadClock clock);

// Writes a line to standard error for each turn: its number, how long it has waited, and which
// descriptors were ready (r: readable, w: writable, h: hang-up, e: error).
std::unique_ptr<Backend> make_trace_backend(std::unique_ptr<Backend> traced);

// True if the descriptor has one of these events now, or an error. It needs no loop, and does
// not wait.
bool ready_now(int fd, Events events);

}  // namespace ev
