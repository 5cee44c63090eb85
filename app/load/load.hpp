// Turns the options of yodel-load into a run.
#pragma once

#include "app/run/run_client.hpp"
#include "app/run/run_options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace yodel {

// Options for the messages, in addition to MessagePlan.
struct LoadPlan {
    std::optional<std::uint64_t> rate;  // thousandths of messages a second
    bool random_arrivals = false;       // Poisson process; false: even gaps
    std::optional<std::uint64_t> seed;  // for random gaps; default 1
    std::string messages;               // file of messages; empty: generated messages
    bool generated = false;             // false: reads standard input unless it is a terminal
    bool threads_auto = false;          // limit threads to a possible number
};

// Sets the source, schedule, window and messages of the run. Throws UsageError, and what
// read_own_messages() throws.
void plan_load(const LoadPlan& plan, const MessagePlan& given, RunClient::Options& load);

}  // namespace yodel
