// Runs 1 to N connections to one target on 1 to T threads. Each thread runs its own lane, the
// first lane on the caller's loop. Lanes share no data that changes. Their results are added up
// at intervals and at the end.
//
// All lanes begin to send together. The open loop begins when every connection is open or has
// failed. The closed loop begins when the first connection is open, or when all connections of
// one lane have failed.
// A lane whose connections have all failed skips its messages.
#pragma once

#include "app/run/lane.hpp"
#include "app/stats/results.hpp"
#include "bufio/dial.hpp"
#include "ev/loop.hpp"
#include "ev/threads/crew.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

namespace yodel {

class Run {
public:
    // The loop rethrows an exception from a thread. The owner may be null; it is called by the
    // first lane only. Throws std::runtime_error if the system's limits do not allow the
    // connections, and std::system_error if no threads or descriptors are left.
    Run(ev::Loop& loop, RunOptions options, Lane::Owner* owner = nullptr);
    Run(const Run&) = delete;

    // Each of these calls the lane's function of the same name, for every lane.
    void pause(bool is_paused) {
        lanes_.post_to_each([is_paused](Lane& lane) { lane.pause(is_paused); });
    }
    void finish() { lanes_.post_to_each(&Lane::finish); }
    void close() { lanes_.post_to_each(&Lane::close); }

    // Call them before and after a suspension of the program. No message is timed that was in
    // flight, or became due, during the suspension.
    void suspending() { timing_begins_at_ = ev::Time::max(); }
    void continued() { timing_begins_at_ = loop_.read_clock(); }

    bool is_over() const { return lanes_.first().is_over(); }  // the first lane sends no more
    bool has_ended() const { return running_count_ == 0; }     // all connections are closed
    // With several threads, until the end of the run, the results lag by about a tenth
    // of a second, and contain neither the steps of a climb nor the samples.
    const RunResults& results() const { return sum_ ? *sum_ : lanes_.first().results(); }

private:
    void look_up();
    void looked_up(const bufio::LookupResult& result);
    void lane_ready();
    void lane_ended();
    void request_reports();

    ev::Loop& loop_;
    const RunOptions options_;
    std::optional<bufio::Lookup> lookup_;
    std::unique_ptr<RunResults> sum_;  // null with one thread
    ev::Timer report_timer_;
    std::size_t unready_count_;  // threads that are not ready to begin
    std::size_t running_count_;  // threads that have not ended
    // Read by all threads, which may run before continued() is called.
    std::atomic<ev::Time> timing_begins_at_{};
    ev::Crew<Lane> lanes_;
};

}  // namespace yodel
