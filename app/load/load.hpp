// Turns the options of yodel-load into a run.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/run/run_client.hpp"
#include "app/run/sources.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace yodel {

// Options of yodel-load for the messages.
struct LoadPlan {
    unsigned window = 1;  // messages in flight per connection, without a rate
    std::optional<std::uint64_t> rate_thousandths = {};  // thousandths of messages per second
    // The rate at the end of the run, to which the rate climbs; none if it is constant.
    std::optional<std::uint64_t> last_rate_thousandths = {};
    bool random_arrivals = false;            // a Poisson process instead of even gaps
    std::optional<std::uint64_t> seed = {};  // for random gaps; default 1
    std::string messages_file = {};          // empty if messages are generated
    bool reads_lines() const { return messages_file == "-"; }
    bool generated = false;     // the options ask for generated messages
    bool threads_auto = false;  // may reduce the number of threads
};

// Sets the source, schedule, window and messages of the run. A generated message has `size`
// bytes. Throws UsageError, and the errors of read_own_messages().
void plan_load(const LoadPlan& plan, std::optional<std::size_t> size, RunClient::Options& load);

// Reads messages from the lines of a file, at most 64 MiB. Throws FileError if it cannot be
// read, is empty or, with the line's number, if a line cannot be sent.
OwnMessages read_own_messages(const std::string& file, const LineReader::Options& lines);

}  // namespace yodel
