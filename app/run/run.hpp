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
#include "ev/threads/crew.hpp"

#include <cstddef>
#include <functional>
#include <memory>
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

    // Call it when the sources of the first lane have more messages, or have ended.
    void sources_changed() { lanes_.first().sources_changed(); }
    // These do the same for all connections as the functions of Lane.
    void pause(bool paused) {
        lanes_.for_each([paused](Lane& lane) { lane.pause(paused); });
    }
    void finish() { lanes_.for_each(&Lane::finish); }
    void close() { lanes_.for_each(&Lane::close); }
    void void_round_trips() { lanes_.for_each(&Lane::void_round_trips); }

    const RunOptions& options() const { return options_; }
    bool over() const { return lanes_.first().over(); }  // sending has ended
    // With several threads these two are up to a tenth of a second old. They are exact after
    // the end.
    const Results& results() const { return sum_ ? sum_->results : lanes_.first().results(); }
    std::size_t open() const {
        return sum_ ? sum_->open : lanes_.first().open();
    }  // connections
    // True if a connection of the caller's thread is open.
    bool has_open_connection() const { return lanes_.first().open() > 0; }

private:
    // A snapshot of some lanes.
    struct Report {
        Report() = default;
        explicit Report(const Lane& lane) : results(lane.results()), open(lane.open()) {}
        void add(const Report& other) {
            results.add(other.results);
            open += other.open;
        }

        Results results;
        std::size_t open = 0;
    };

    Lane::Hooks hooks(std::size_t thread, ev::Mailbox* owner);
    void settled(std::size_t thread);
    void ended(std::size_t thread);
    void request_reports();

    ev::Loop& loop_;
    const RunOptions options_;
    const std::function<void()> done_;
    std::unique_ptr<Report> sum_;  // null with one thread
    ev::Timer report_;
    std::vector<bool> settled_;  // for each thread: it is ready to begin, or ended
    std::size_t unsettled_;      // threads that are not settled
    std::size_t running_;        // threads that have not ended
    bool begun_ = false;
    ev::Crew<Lane> lanes_;
};

}  // namespace yodel
