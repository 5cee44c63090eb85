// Hints at keys, shown instead of the input line while nothing is typed.
#pragma once

#include "app/protocol/session.hpp"

#include <string_view>

namespace yodel {

// The hints for the state of the connection, separated by "; ", the most helpful first; empty:
// none is needed. `sent_before`: a line has been sent, so the user knows how. The text is ASCII
// and lives as long as the program.
std::string_view connection_hints(const Session& session, bool sent_before);

// Returns the hints from the front that fit into the width whole, and always the first one,
// which alone may have to be cut. The view is a part of `hints`.
std::string_view fit_hints(std::string_view hints, int width);

}  // namespace yodel
