// Everything that a run counts, over one connection or many: a value, and the only class that
// counts.
//
// Each thread of a run has its own, and add() makes one of them. Results that were read from
// files (app/stats/end_object.hpp) are added up in the same way. Counting a message allocates
// nothing; a new kind of failure does.
//
// A message is counted in this order: count_sent(), then count_answered(), count_echoed() or
// count_lost(); a late reply moves it from `lost` to `late`. What this program did not send,
// because of a limit of its own or of the end of the run, is counted by count_unsent() alone.
#pragma once

#include "app/stats/histogram.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// How much later than planned a message may be written, in a short run.
inline constexpr std::chrono::milliseconds tolerated_lateness{50};

// The rate of messages with planned times, and the rate that the client itself reached.
struct PlannedRate {
    double planned = 0;  // messages a second
    double reached = 0;  // the same, until the last message that was sent
};

// What the system knows of TCP connections, each at its end.
struct TcpTotals {
    std::optional<ev::Duration> min_rtt = {};  // the smallest of all connections
    std::uint64_t retransmits = 0;             // of all connections together
    std::uint64_t mss = 0;                     // bytes; the smallest of all connections
    std::uint64_t cwnd = 0;                    // segments; the smallest of all connections

    void add(const TcpTotals& other);

    bool operator==(const TcpTotals&) const = default;
};

// The interarrival jitter of one connection (RFC 3550, 6.4.1): a mean of the difference between
// the transit times of two replies that follow each other, each with a sixteenth of the weight.
// A transit is the way there and back.
struct Jitter {
    double mean = 0;  // nanoseconds
    std::uint64_t transits = 0;
    ev::Duration last{};  // transit

    void record(ev::Duration transit);
};

// How a reply is counted.
struct Answer {
    bool right = true;
    bool late = false;                            // its message was counted as lost before
    std::optional<ev::Duration> round_trip = {};  // none: it was not timed
};

struct Results {
    // Messages.
    std::uint64_t sent = 0;
    std::uint64_t echoed = 0;        // answered by the right reply
    std::uint64_t bad = 0;           // answered by another reply
    std::uint64_t lost = 0;          // not answered within the reply timeout
    std::uint64_t late = 0;          // echoed or bad, after the reply timeout
    std::uint64_t unsent = 0;        // due, and never sent by this program
    std::uint64_t unsolicited = 0;   // messages from the server that answer nothing
    std::uint64_t twice = 0;         // further copies of replies
    std::uint64_t out_of_order = 0;  // replies that came after replies to later messages
    Histogram round_trips;
    // How long after its planned time the client wrote each message; empty without planned
    // times.
    Histogram lateness;
    std::optional<PlannedRate> planned_rate;  // none: no planned times

    bool datagrams = false;          // messages are datagrams
    double jitter_sum = 0;           // mean jitter of each connection times its transits, in ns
    std::uint64_t jitter_count = 0;  // transits

    // A recording that is replayed: its unsolicited messages. The replies that are as recorded
    // count as echoed, the others as bad.
    struct Replay {
        std::uint64_t recurred = 0;  // as recorded
        std::uint64_t unrecorded = 0;
        std::uint64_t missing = 0;

        bool operator==(const Replay&) const = default;
    };
    std::optional<Replay> replay;  // set by the owner, if a recording is replayed

    // Connections.
    std::uint64_t asked = 0;  // attempts, each once
    std::uint64_t opened = 0;
    std::uint64_t failed = 0;  // attempts that never opened
    Histogram connect_times;   // of those that opened
    Histogram handshake_times;
    std::optional<TcpTotals> tcp;  // of those that opened and have ended; none: unknown

    // The failure of a connection by its sentence. The text may hold bytes that a peer chose.
    struct Failure {
        std::string text;
        int status;  // the exit status that it leads to
        std::uint64_t count;
        std::uint64_t failed = 0;  // of these, how many never opened

        bool operator==(const Failure&) const = default;
    };
    // In the order of their first occurrence. At most `max_failures` sentences are kept apart.
    std::vector<Failure> failures;
    static constexpr std::size_t max_failures = 100;

    // A sentence about the first message of each kind, set by the owner; empty: none was said.
    std::string wrong_sentence;  // about a wrong reply, or the second copy of one
    std::string lost_sentence;   // "no reply to message 3 within 5s"
    std::string unsent_sentence;
    // The remark of a summary about a certificate that -k alone accepts.
    std::string unverified;

    std::optional<ev::Time> first_sent;
    ev::Time last_answered{};
    // The same of results that were read from files: their time, and their rates added up.
    struct Measured {
        ev::Duration elapsed{};
        double rate = 0;
    };
    std::optional<Measured> measured;

    // The exit status of the first connection that ended for good by a failure: after it was
    // open, and before. Of results from files: of the run.
    int ended_status = 0;
    int failed_status = 0;

    void count_sent(std::uint64_t count, ev::Time now);
    void count_answered(const Answer& answer, ev::Time now);
    // Counts right replies that came together, and their round trip.
    void count_echoed(std::uint64_t count, std::optional<ev::Duration> round_trip,
                      ev::Time now);
    void count_lost() { ++lost; }
    void count_unsent(std::uint64_t count = 1) { unsent += count; }
    void count_unsolicited() { ++unsolicited; }
    void count_repeated() { ++twice; }
    // The order and the transit of a datagram's reply, in addition to count_answered(). The
    // transit counts from when its message was written; none: unknown.
    void count_datagram(Jitter& connection, bool late_in_order,
                        std::optional<ev::Duration> transit);
    void record_lateness(ev::Duration late_by) { lateness.record(late_by); }
    void add_planned_rate(const PlannedRate& more);

    // A replay: a message that got no reply when it was recorded got none again. If one comes
    // late all the same, count_late_as_lost() comes before count_answered().
    void count_silence() { ++echoed; }
    void count_late_as_lost();
    // Its unsolicited messages: as recorded, not recorded, recorded but missing.
    void count_recurred();
    void count_unrecorded();
    void count_missing() { ++replay->missing; }

    void count_try() { ++asked; }
    void count_opened(ev::Duration connect_time, std::optional<ev::Duration> handshake_time);
    // A connection has failed after it was open; or a try has, which then counts as failed.
    void count_failure(std::string_view text, int status, bool was_open,
                       std::uint64_t times = 1);
    // A connection has ended for good with this status.
    void count_end(int status, bool was_open);
    void add_tcp(const TcpTotals& facts);

    // From the first message to the last reply; zero without any.
    ev::Duration elapsed() const;
    double rate() const;  // right replies a second
    ev::Duration jitter() const;
    // Messages whose replies are awaited.
    std::uint64_t in_flight() const;
    // The client has sent what was due, the last message not much later than planned: by a
    // twentieth of the run or, in a short one, by the tolerated lateness.
    bool kept_rate() const;

    void add(const Results& other);

private:
    Failure& failure_of(std::string_view text, int status);
};

}  // namespace yodel
