// Reads the user's own messages for a run.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/run/sources.hpp"

#include <cstddef>
#include <string>

namespace yodel {

// Reads messages from the lines of a file. Throws InputError if
// the file cannot be read. Throws FileError if it is empty or, with the line's number, if a
// line cannot be sent.
OwnMessages read_own_messages(const std::string& file, const Framing& framing,
                              std::size_t max_frame, bool escapes);

}  // namespace yodel
