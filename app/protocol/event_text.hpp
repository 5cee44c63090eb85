// The lines of an event in a transcript:
//
//     2026-11-21 12:04:31.208113 > hello
//
// `>` marks a sent message, `<` received bytes, and `-` a remark. Bytes that are not plain text
// are escaped.
#pragma once

#include "app/protocol/event.hpp"

#include <chrono>
#include <string>

namespace yodel {

// Returns whole lines. A bad or duplicate reply has its line and a remark. Remarks name
// messages by their numbers.
std::string lines(std::chrono::system_clock::time_point at, const Event& event);

// Returns the remark about an event, as a sentence; empty if there is none.
std::string remark(const Event& event);

}  // namespace yodel
