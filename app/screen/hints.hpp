// Hints at keys. They stand in the place of the input line while nothing is typed.
#pragma once

#include "app/protocol/session.hpp"

#include <string_view>

namespace yodel {

// Each function that returns hints returns them as one text, separated by "; ", the most
// helpful first. The text is ASCII and lives as long as the program.

// The hints for the state of the connection; empty: none is needed. `sent_before`: a line has
// been sent, so that the user knows how.
std::string_view connection_hints(const Session& session, bool sent_before);

// Returns the hints from the front that fit into the width whole, and always the first one,
// which alone may have to be cut. The view is a part of `hints`.
std::string_view fit_hints(std::string_view hints, int width);

}  // namespace yodel
