// The front end of yodel-load: from its options to a run.
#pragma once

#include "app/run/run_client.hpp"
#include "app/run/run_options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace yodel {

// The options of messages beyond a MessagePlan.
struct LoadPlan {
    std::optional<std::uint64_t> rate;  // thousandths of messages a second
    bool random_arrivals = false;       // a Poisson process; false: even gaps
    std::optional<std::uint64_t> seed;  // start of the random gaps (1)
    std::string messages;               // file of the messages to send; empty: generated ones
    bool generated = false;             // false: standard input is read, unless a terminal
    bool threads_auto = false;          // use no more threads than possible
};

// Completes the run: source, schedule, window and messages. Throws UsageError, and
// the errors of read_own_messages().
void plan_load(const LoadPlan& plan, const MessagePlan& given, RunClient::Options& load);

}  // namespace yodel
