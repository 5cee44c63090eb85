// Examines an echo server: performs checks, and reports each as a line of TAP (the Test
// Anything Protocol) or as a JSON object.
#pragma once

#include "app/protocol/session.hpp"
#include "app/text/exit_status.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace yodel {

struct ExamineOptions {
    Session::Options target;
    bool json = false;
    bool verbose = false;  // also report sent and received bytes
    std::function<void(const std::string& lines)> print;
    std::function<void(std::size_t number, std::size_t count)> check_begins;
};

// Returns when all checks are done, when the remaining checks would be pointless, when the time
// limit has passed, or when the loop was stopped. The returned trouble has a text only if the
// first check could not connect.
Trouble examine(ev::Loop& loop, const ExamineOptions& options);

}  // namespace yodel
