// A crowd whose connections are dealt out to several threads, each with a loop and a Crowd of
// its own; the first one is that of the caller's loop. They share nothing while they run: what
// they count is added up when all of them have ended. With one thread this is the Crowd itself.
//
// The threads begin to send together: in the open loop when every connection is open or has
// failed, else with the first one that is open. A thread whose connections have all failed
// leaves its messages out.
#pragma once

#include "app/pipe/crowd.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/results.hpp"
#include "ev/loop.hpp"
#include "ev/mailbox.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

class CrowdThreads {
public:
    struct Options {
        Crowd::Options crowd;     // its `thread`, `threads` and `ready` are set here
        std::size_t threads = 1;  // at most as many as connections; 1 where there is a script
        bool busy = false;        // further threads never sleep while they have a connection
    };

    // Returns how many descriptors so many connections on so many threads take.
    static std::size_t descriptors(std::size_t connections, std::size_t threads);

    // `done` is called once, from the loop, when all connections of all threads are closed. It
    // may destroy this. An exception in a thread comes out of the loop. Throws
    // std::system_error where there are no threads or descriptors left.
    CrowdThreads(ev::Loop& loop, Options options, std::function<void()> done,
                 Crowd::Observer* observer = nullptr);
    ~CrowdThreads();
    CrowdThreads(const CrowdThreads&) = delete;
    CrowdThreads& operator=(const CrowdThreads&) = delete;

    // These are the calls of Crowd, for all threads.
    void script_changed() { crowd_.script_changed(); }
    void pause(bool paused);
    void finish();
    void leave();
    void void_round_trips();

    const Crowd::Options& options() const { return options_; }
    bool over() const { return crowd_.over(); }
    // Where there are several threads, these are as they were at most a tenth of a second ago;
    // once all is done they are exact.
    const Results& result() const { return sum_ ? sum_->result : crowd_.result(); }
    Histogram take_recent();
    std::size_t open() const { return sum_ ? sum_->open : crowd_.open(); }
    // A connection of the caller's thread is open.
    bool connection_stands() const { return crowd_.open() > 0; }

private:
    // The figures that a crowd can report at any time.
    struct Report {
        Results result;
        Histogram recent;
        std::size_t open = 0;

        void take(Crowd& crowd, bool with_recent);
        void add(const Report& other);
    };
    class Worker;

    Crowd::Options part(std::size_t thread);
    void start_workers(std::size_t threads, bool busy);
    void of_all(const std::function<void(Crowd&)>& call);
    void settled(std::size_t thread);
    void begin();
    void ended(std::size_t thread);
    void ask();
    void reported();
    void sum_up();

    ev::Loop& loop_;
    const Crowd::Options options_;
    const std::function<void()> done_;
    // These are empty with one thread.
    std::optional<ev::Mailbox> mailbox_;
    std::unique_ptr<Report> sum_;
    Histogram recent_;  // of all threads, since the last call of take_recent()
    ev::Timer ask_;
    std::vector<bool> settled_;  // for each thread: it is ready to begin, or has ended
    std::size_t unsettled_;      // threads that are not
    std::size_t running_;        // threads that have not ended
    std::size_t asked_ = 0;      // workers that have not yet reported since ask()
    bool begun_ = false;

    Crowd crowd_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace yodel
