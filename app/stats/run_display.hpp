// Displays a run live: on a line, or on a full-screen page. A display requests data from its
// user when it is time to draw.
#pragma once

#include "app/stats/results.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace yodel {

struct RunProgress {
    enum class Phase {
        connecting,  // no message has been sent
        warming_up,
        running,
        ending,  // waits for replies and ends of connections
    };

    // Counts so far, valid until the next turn of the loop.
    const Results& results;
    Phase phase = Phase::connecting;
    std::string target;
    bool load = true;             // false: a single connection without a load
    std::size_t connections = 1;  // requested concurrent connections
    std::size_t open = 0;         // open connections
    // Planned messages per second during the last second; none: paced by the replies.
    std::optional<double> planned_rate = {};
    std::optional<double> last_rate = {};       // rate at the end of a climb
    ev::Duration elapsed{};                     // since the first message
    std::optional<ev::Duration> length = {};    // length of the run; none: unlimited
    std::optional<ev::Duration> until_start{};  // time until the requested start
    std::size_t descriptors = 0;                // descriptors in use
    std::size_t descriptor_limit = 0;           // 0: no limit
};

class RunDisplay {
public:
    class User {
    public:
        virtual RunProgress progress() = 0;
        // Returns the round trips since the last call.
        virtual Histogram take_recent() = 0;
        // Called for ^C. The first call ends the run gracefully, the second call ends it at
        // once.
        virtual void interrupted() = 0;
        // Called before the program is suspended.
        virtual void suspending() = 0;

    protected:
        ~User() = default;
    };
    // The user outlives the display.
    using Make = std::function<std::unique_ptr<RunDisplay>(User& user)>;

    RunDisplay() = default;
    RunDisplay(const RunDisplay&) = delete;
    RunDisplay& operator=(const RunDisplay&) = delete;
    // Restores the terminal. Must not be called from a callback of the user.
    virtual ~RunDisplay() = default;

    // Draws if it is time to. Call it after each turn of the loop.
    virtual void turn_ended() = 0;
    // Call it before writing a line to standard error. Returns false if the line would spoil
    // the display and must be omitted.
    virtual bool prepare_for_line() = 0;
    // Call it after the program was suspended.
    virtual void continued() {}
};

}  // namespace yodel
