// A live display of a run: a line, or a page on the whole screen. A display pulls what it shows
// from its user when it is time to draw.
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
        connecting,  // no message was sent yet
        running,
        ending,  // nothing more is sent; replies and ends of connections are awaited
    };

    // The counts so far, valid until the next turn of the loop.
    const Results& results;
    Phase phase = Phase::connecting;
    std::string target;
    bool load = true;                           // false: one connection, which is no load
    std::size_t connections = 1;                // asked for, at once
    std::size_t open = 0;                       // of these
    std::optional<double> planned_rate = {};    // messages a second; none: as replies come
    ev::Duration elapsed{};                     // since the first message
    std::optional<ev::Duration> length = {};    // of the run; none: it is not bounded
    std::optional<ev::Duration> until_start{};  // to the time that was asked for
    std::size_t descriptors = 0;                // in use
    std::size_t descriptor_limit = 0;           // 0: there is none
};

class RunDisplay {
public:
    class User {
    public:
        virtual RunProgress progress() = 0;
        // The round trips since the last call.
        virtual Histogram take_recent() = 0;
        // The key ^C: the first ends the run in order, the next one at once.
        virtual void interrupted() = 0;
        // The program is about to be stopped for a while.
        virtual void suspending() = 0;

    protected:
        ~User() = default;
    };
    // The user outlives the display.
    using Make = std::function<std::unique_ptr<RunDisplay>(User& user)>;

    RunDisplay() = default;
    RunDisplay(const RunDisplay&) = delete;
    RunDisplay& operator=(const RunDisplay&) = delete;
    // Gives the terminal back. It must not be called from inside a call of the user.
    virtual ~RunDisplay() = default;

    // Draws if it is time to. To be called after each turn of the loop.
    virtual void turn_ended() = 0;
    // To be called before a line is written to standard error. False: it would spoil the
    // display, and must be left out.
    virtual bool make_way() = 0;
    // The program was stopped for a while.
    virtual void continued() {}
};

}  // namespace yodel
