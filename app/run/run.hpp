// A run: 1 to N connections to one target, spread over 1 to T threads. They send the messages
// of a source and check every reply. Each thread has its own lane, the first one on the
// caller's loop. Lanes share nothing while they run; their results are added up.
//
// All lanes begin to send together: in the open loop when every connection is open or has
// failed, in the closed loop when the first one is open. A lane whose connections have all
// failed skips its messages.
#pragma once

#include "app/run/lane.hpp"
#include "app/run/run_options.hpp"
#include "app/stats/results.hpp"
#include "ev/loop.hpp"
#include "ev/threads/mailbox.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace yodel {

class Run {
public:
    // Calls `done` once, from the loop, when all connections of all threads are closed; the
    // callback may destroy the run. The loop rethrows an exception from a thread. The observer
    // may be null. Throws std::runtime_error if the system's limits do not allow that many
    // connections, std::system_error if there are no threads or descriptors left.
    Run(ev::Loop& loop, RunOptions options, std::function<void()> done,
        RunObserver* observer = nullptr);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // Call it when the sources of the first lane have more messages, or have ended.
    void sources_changed() { first_.sources_changed(); }
    // These do the same for all connections as the functions of Lane.
    void pause(bool paused) {
        for_each_lane([paused](Lane& lane) { lane.pause(paused); });
    }
    void finish() { for_each_lane(&Lane::finish); }
    void close() { for_each_lane(&Lane::close); }
    void void_round_trips() { for_each_lane(&Lane::void_round_trips); }

    const RunOptions& options() const { return options_; }
    bool over() const { return first_.over(); }  // sending has ended
    // With several threads these two are up to a tenth of a second old. They are exact after
    // the end.
    const Results& results() const { return sum_ ? sum_->results : first_.results(); }
    std::size_t open() const { return sum_ ? sum_->open : first_.open(); }  // connections
    // True if a connection of the caller's thread is open.
    bool has_open_connection() const { return first_.open() > 0; }

private:
    // A snapshot of one lane.
    struct Report {
        Results results;
        std::size_t open = 0;

        void take(const Lane& lane);
    };
    class Worker;

    Lane::Hooks hooks(std::size_t thread);
    void for_each_lane(const std::function<void(Lane&)>& call);
    void settled(std::size_t thread);
    void ended(std::size_t thread);
    void ask();
    void reported();
    void sum_up();

    ev::Loop& loop_;
    const RunOptions options_;
    const std::function<void()> done_;
    // These are empty with one thread.
    std::optional<ev::Mailbox> mailbox_;
    std::unique_ptr<Report> sum_;
    ev::Timer ask_;
    std::vector<bool> settled_;  // for each thread: it is ready to begin, or ended
    std::size_t unsettled_;      // threads that are not settled
    std::size_t running_;        // threads that have not ended
    std::size_t asked_ = 0;      // workers that have not yet reported since ask()
    bool begun_ = false;

    Lane first_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace yodel
