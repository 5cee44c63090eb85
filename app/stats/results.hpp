// Everything that a run counts, over one connection or many: a value, and the only class that
// counts.
//
// Each thread of a run has its own results, and add() adds them up. Results from files
// (app/stats/end_object.hpp) are added up the same way. Counting a message allocates nothing;
// a new kind of failure does.
//
// A message is counted in this order: count_sent(), then count_answered(), count_echoed() or
// count_lost(); a late reply moves it from `lost` to `late`. A message that this program did
// not send, because of its own limit or the end of the run, is counted by count_unsent()
// alone.
#pragma once

#include "app/stats/histogram.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yodel {

// How much later than planned a message may be written, in a short run.
inline constexpr std::chrono::milliseconds tolerated_lateness{50};

// The rate of messages with planned times, and the rate that the client itself reached.
struct PlannedRate {
    double planned = 0;  // messages a second
    double reached = 0;  // messages a second, until the last message was sent
};

// The system's facts about TCP connections, each at its end.
struct TcpTotals {
    std::optional<ev::Duration> min_rtt = {};  // the smallest of all connections
    std::uint64_t retransmits = 0;             // sum over all connections
    std::uint64_t mss = 0;                     // bytes; the smallest of all connections
    std::uint64_t cwnd = 0;                    // segments; the smallest of all connections

    void add(const TcpTotals& other);

    bool operator==(const TcpTotals&) const = default;
};

// The interarrival jitter of one connection (RFC 3550, 6.4.1): a running mean of the
// difference between the transit times of consecutive replies, each with a weight of one
// sixteenth. A transit is the way there and back.
struct Jitter {
    double mean = 0;  // nanoseconds
    std::uint64_t transits = 0;
    ev::Duration last{};  // transit

    void record(ev::Duration transit);
};

// Returns the difference between the system's clock in UTC and the clock of loops.
ev::Duration utc_offset_now();

// How a reply is counted.
struct Answer {
    bool right = true;
    bool late = false;                            // its message was counted as lost before
    std::optional<ev::Duration> round_trip = {};  // none: it was not timed
    bool warm_up = false;                         // its message was part of the warm-up
    // Of datagrams:
    bool reordered = false;                    // came after the reply to a later message
    std::optional<ev::Duration> transit = {};  // since the message was written; none: unknown
};

// What became of messages.
struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t echoed = 0;  // answered by the right reply
    std::uint64_t bad = 0;     // answered by another reply
    std::uint64_t lost = 0;    // not answered within the reply timeout
    std::uint64_t unsent = 0;  // due, and never sent by this program

    bool any() const { return sent + unsent > 0; }
    // Returns the number of messages whose replies are awaited.
    std::uint64_t in_flight() const {
        const std::uint64_t resolved = echoed + bad + lost;
        return sent > resolved ? sent - resolved : 0;
    }
};
// Counts by the names of their figures.
inline constexpr std::pair<const char*, std::uint64_t Counts::*> warm_up_counts[] = {
    {"sent", &Counts::sent}, {"echoed", &Counts::echoed}, {"bad", &Counts::bad},
    {"lost", &Counts::lost}, {"unsent", &Counts::unsent},
};

struct Results : Counts {
    Counts warm_up;                 // its messages are counted nowhere else
    std::uint64_t late = 0;         // echoed or bad, after the reply timeout
    std::uint64_t unsolicited = 0;  // messages from the server that answer nothing
    std::uint64_t stale = 0;        // unsolicited messages behind a right reply
    std::uint64_t duplicates = 0;   // duplicate replies
    std::uint64_t reordered = 0;    // replies that came after replies to later messages
    Histogram round_trips;
    // How long after its planned time the client wrote each message; empty without planned
    // times.
    Histogram lateness;
    std::optional<PlannedRate> planned_rate;  // none: no planned times

    bool datagrams = false;          // messages are datagrams
    double jitter_sum = 0;           // mean jitter of each connection times its transits, in ns
    std::uint64_t jitter_count = 0;  // transits

    // The unsolicited messages of a recording that is replayed. Replies as recorded count as
    // echoed, other replies as bad.
    struct Replay {
        std::uint64_t recurred = 0;  // as recorded
        std::uint64_t unrecorded = 0;
        std::uint64_t missing = 0;

        bool operator==(const Replay&) const = default;
    };
    std::optional<Replay> replay;  // set by the owner, if a recording is replayed

    // Connections.
    bool probe = false;          // the run sends no messages, and counts connections instead
    std::uint64_t attempts = 0;  // to connect, retries and replacements included
    std::uint64_t opened = 0;
    std::uint64_t failed = 0;              // attempts that never opened
    std::uint64_t starved = 0;             // got no reply while others were served
    std::uint64_t handshakes_full = 0;     // TLS handshakes of connections that opened
    std::uint64_t handshakes_resumed = 0;  // the same, with the session of an earlier one
    Histogram connect_times;               // one time per connection that opened
    Histogram handshake_times;
    std::optional<TcpTotals> tcp;  // sums over connections that opened and ended; none: unknown

    // A failure of connections, by its sentence. The text may contain bytes that a peer chose.
    struct Failure {
        std::string text;
        int status;  // the exit status that it leads to
        std::uint64_t count;
        std::uint64_t failed = 0;  // occurrences before the connection opened

        bool operator==(const Failure&) const = default;
    };
    // In the order of their first occurrence. At most `max_failures` sentences are
    // distinguished.
    std::vector<Failure> failures;
    static constexpr std::size_t max_failures = 100;

    // A sentence about the first message of each kind, set by the owner; empty if there was
    // none.
    std::string bad_sentence;   // about a wrong reply, a duplicate, or stale bytes
    std::string lost_sentence;  // "no reply to message 3 within 5s"
    std::string unsent_sentence;
    std::string starved_sentence;
    // The remark of a summary about a certificate that was accepted only because of -k.
    std::string unverified;

    // In a probe: when the first connection was tried, and the last one opened.
    std::optional<ev::Time> first_sent;
    ev::Time last_answered{};
    // Added to these two it gives the time since 1970 in UTC. Results from files contain that.
    ev::Duration utc_offset = utc_offset_now();
    // By how much the requested start was missed; none: no start was requested.
    std::optional<ev::Duration> late_start;
    // For merged runs: the time that all share, as a part of the time from the first message to
    // the last reply.
    std::optional<double> overlap;

    // The exit status of the first connection that ended for good by a failure: after it was
    // open, and before. For results from files: the status of the run.
    int ended_status = 0;
    int failed_status = 0;

    void count_sent(std::uint64_t count, ev::Time now, bool in_warm_up = false);
    void count_answered(const Answer& answer, ev::Time now);
    // Counts right replies that were read together, and their round trip.
    void count_echoed(std::uint64_t count, std::optional<ev::Duration> round_trip,
                      ev::Time now);
    void count_unsent(std::uint64_t count = 1, bool in_warm_up = false) {
        counts(in_warm_up).unsent += count;
    }
    // Counts the order and the transit of a datagram's reply, in addition to count_answered().
    // The transit begins when the message was written; none: unknown.
    void count_datagram(Jitter& connection, bool late_in_order,
                        std::optional<ev::Duration> transit);
    void record_lateness(ev::Duration late_by) { lateness.record(late_by); }
    void add_planned_rate(const PlannedRate& more);

    // Counts a silent message as lost, because a late reply comes: call it before
    // count_answered().
    void count_late_as_lost();

    void count_try() { ++attempts; }
    // `tls`: the handshake was not of WebSocket alone.
    void count_opened(ev::Duration connect_time, std::optional<ev::Duration> handshake_time,
                      bool resumed = false, bool tls = true);
    // Counts the failure of an open connection, or of a try, which then counts as failed.
    void count_failure(std::string_view text, int status, bool was_open,
                       std::uint64_t times = 1);
    void count_starved() { ++starved; }
    // Counts a connection that has ended for good with this status.
    void count_end(int status, bool was_open);
    void add_tcp(const TcpTotals& facts);

    // Returns the time of the first message; 1970 if it is unknown.
    std::chrono::system_clock::time_point began() const;
    // Returns the time from the first message to the last reply; zero without any reply.
    ev::Duration elapsed() const;
    // Returns the number of right replies or, in a probe, of opened connections.
    std::uint64_t achieved() const { return probe ? opened : echoed; }
    double rate() const;  // achieved a second
    ev::Duration jitter() const;
    // True if the client has sent all messages that were due, the last of them late by at most
    // 5 % of the run or, in a short run, by the tolerated lateness.
    bool kept_rate() const;

    void add(const Results& other);

private:
    Counts& counts(bool in_warm_up) { return in_warm_up ? warm_up : *this; }
    Failure& failure_of(std::string_view text, int status);
};

}  // namespace yodel
