// All counts of a run, on one connection or many, and the tables of its figures. To add a
// count, add a member to Results and a row; to add times, add a histogram and a row.
//
// Each thread of a run owns a RunResults object, and add() merges such objects. Counting a
// message allocates only for a sample, or if a histogram, `jitters` or `steps` must grow.
//
// A late reply moves its message, usually from `lost`, to `echoed` or `bad`, and also counts it
// as `late`. A message that was due, but never sent, counts only as unsent.
#pragma once

#include "app/protocol/event.hpp"
#include "app/stats/histogram.hpp"
#include "bufio/stream.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// Tolerated delay of a message after its planned time. A long run may tolerate more.
inline constexpr std::chrono::milliseconds tolerated_lateness{50};

// The interarrival jitter of one connection (RFC 3550, 6.4.1): a running mean, with a weight of
// one sixteenth, of the absolute difference between the transit times of consecutive replies. A
// transit time includes both ways.
struct Jitter {
    double mean = 0;  // nanoseconds
    std::uint64_t transits = 0;
    ev::Duration last_transit{};

    void record(ev::Duration transit);
};

// Returns the system's UTC time minus the time of the loops' clock.
ev::Duration system_clock_offset();

struct Results {
    std::uint64_t sent = 0;
    std::uint64_t echoed = 0;  // answered by the right reply, or unanswered as recorded
    std::uint64_t bad = 0;     // answered by another reply
    std::uint64_t lost = 0;    // not answered before the reply timeout or the connection's end
    std::uint64_t unsent = 0;  // due, and never sent by this program
    std::uint64_t late = 0;    // answered after the reply timeout; also echoed or bad
    std::uint64_t unsolicited = 0;  // messages from the server that answer nothing
    std::uint64_t stale = 0;        // unsolicited messages after the connection's first echo
    std::uint64_t duplicates = 0;   // further replies to an answered message
    std::uint64_t reordered = 0;    // replies that arrived after those to later messages
    Histogram round_trips;
    // Delay of each message's write after its planned time; empty if no message has such a
    // time.
    Histogram lateness;
    // Messages per second, as planned and as the client sent them. The end of an open loop sets
    // both.
    std::optional<double> planned_rate;
    double reached_rate = 0;

    bool uses_datagrams = false;  // messages are datagrams
    std::vector<Jitter> jitters;  // by connection number; empty if no datagram was timed

    // A recording is replayed. Replies as recorded count as echoed, other replies as bad.
    bool is_replay = false;
    std::uint64_t as_recorded = 0;  // unsolicited messages that the recording contains
    std::uint64_t unrecorded = 0;   // unsolicited messages that the recording does not contain
    std::uint64_t missing = 0;      // recorded unsolicited messages that did not arrive

    // Connections.
    bool is_probe = false;       // the run sends no messages, and counts connections instead
    std::uint64_t attempts = 0;  // attempts to connect, including retries and replacements
    std::uint64_t opened = 0;
    std::uint64_t open = 0;                // connections that are open now
    std::uint64_t failed = 0;              // attempts that never opened
    std::uint64_t handshakes_full = 0;     // TLS handshakes without an earlier session
    std::uint64_t handshakes_resumed = 0;  // TLS handshakes that resumed an earlier session
    Histogram connect_times;               // one time per connection that opened
    Histogram handshake_times;
    // Facts about all ended connections: retransmits are summed up, and of each other fact only
    // the minimum is kept. No value if unknown.
    std::optional<bufio::TcpFacts> tcp;

    // A kind of failure, usually of a connection. The text may contain bytes that a peer chose.
    struct Failure {
        std::string text;
        int status;  // resulting exit status
        std::uint64_t count;
        std::uint64_t failed = 0;  // occurrences before the connection opened

        bool operator==(const Failure&) const = default;
    };
    // Sorted by first occurrence. If there are more kinds than `max_failures`, the last element
    // becomes "other failures", and counts all further kinds.
    std::vector<Failure> failures;
    static constexpr std::size_t max_failures = 100;

    // Sentences about the first message of each kind, set by the owner. A sentence is empty if
    // there was no such message.
    std::string reply_problem_sentence;  // about a bad, duplicate or stale reply
    std::string lost_sentence;           // "no reply to message 3 within 5s"
    std::string unsent_sentence;
    // Remark about a certificate that was accepted only because of -k.
    std::string unverified_remark;

    // When the first message was sent, and when the last reply arrived. In a probe, when the
    // first attempt to connect began, and when the last connection opened.
    std::optional<ev::Time> first_sent_at;
    ev::Time last_answered_at{};
    // Add this offset to first_sent_at or last_answered_at to get the UTC time since 1970.
    ev::Duration clock_offset = system_clock_offset();
    // Delay of the start after the requested time; none if no start was requested.
    std::optional<ev::Duration> late_start;

    // Exit statuses of the first connection that failed for good after it had opened, and of
    // the first that never opened; 0 if there is no such connection.
    int opened_failure_status = 0;
    int failed_status = 0;

    void add(const Event& event);
    // If `has_tls` is false, the handshake does not count as full or resumed.
    void count_opened(ev::Duration connect_time, std::optional<ev::Duration> handshake_time,
                      bool is_resumed = false, bool has_tls = true);
    // Counts a failure of an open connection, or of an attempt, which then counts as failed.
    void count_failure(std::string_view text, int status, bool was_open,
                       std::uint64_t times = 1);
    // Call it when a connection has ended for good.
    void record_end(int status, bool was_open);
    void add_tcp(const bufio::TcpFacts& facts);

    bool has_messages() const { return sent + unsent > 0; }
    std::uint64_t in_flight() const {
        const std::uint64_t resolved = echoed + bad + lost;
        return sent > resolved ? sent - resolved : 0;
    }
    // Returns the time of the first message, or 1970 if it is unknown.
    std::chrono::system_clock::time_point began_at() const;
    // Returns the time from first_sent_at to last_answered_at, or zero if nothing was answered.
    ev::Duration elapsed() const;
    // Returns the number of right replies or, in a probe, of opened connections.
    std::uint64_t achieved_count() const { return is_probe ? opened : echoed; }
    double rate() const;  // achieved_count() per second
    ev::Duration jitter() const;
    // Returns true if no rate was planned, or if the client reached it: the last message was
    // late by at most 5 % of the run, or by `tolerated_lateness` if that is longer.
    bool reached_planned_rate() const;

    void add(const Results& other);

private:
    void add_answer(const Event& event);
    Failure& failure_of(std::string_view text, int status);
};

// The total that percentages of a count refer to. If it is 0, they prove nothing.
struct Whole {
    // Returns none if the count is not measured. JSON then omits the count.
    std::optional<std::uint64_t> (*total_of)(const Results&);
    const char* empty_reason;  // why the total is 0, as a clause
    const char* unmeasured_reason = "";
    bool is_about_connections = false;
};

// A count that is a figure.
struct CountRow {
    const char* name;  // also in JSON
    std::uint64_t Results::*count;
    const Whole* whole;
    bool is_fault = false;  // a nonzero count may mean exit status 1; see Outcome
};
extern const std::array<CountRow, 14> count_rows;

// A histogram. Each of its statistics is a figure. JSON contains its buckets in an array whose
// name is the prefix and `histogram`.
struct TimesRow {
    const char* name;
    std::string_view prefix;  // prefix of the figures' names
    Histogram Results::*times;
    const char* json_key;  // of the object that contains the main statistics
    const char* unmeasured_reason;
    bool is_about_connections = false;  // both JSON members are in the object `connections`
};
extern const std::array<TimesRow, 4> times_rows;

struct Figure {
    enum class Kind { time, count, rate };
    std::string name;
    Kind kind = Kind::time;
    const char* unmeasured_reason = "";  // why there is no value, as a clause
    bool is_about_connections = false;   // it can be measured only for the whole run
    const CountRow* count = nullptr;     // null unless the figure is a count
    const TimesRow* times = nullptr;     // null unless the figure is a statistic of times

    // Returns the value: nanoseconds, a count, or a number per second, by `kind`. Returns none
    // if the figure was not measured.
    std::optional<double> value(const Results& results) const;
};

// Returns the statistic of the times: min, mean, max, or pN, the Nth percentile with 0 < N <
// 100. Returns none for any other name.
std::optional<ev::Duration> statistic(const Histogram& times, std::string_view name);
std::optional<Figure> find_figure(std::string_view name);

// Returns the row of the most important times of a run: round trips unless the run is a probe.
// In a probe, handshake times if there are any; otherwise connect times.
const TimesRow& main_times(const Results& results);

// Returns the main times recorded after `seen` was copied, and copies all of them to `seen`.
Histogram recent_times(const Results& results, Histogram& seen);

// Samples of a load: the 50 slowest messages with a right reply, and the first 50 with a bad
// one, as JSON objects.
class Samples {
public:
    static constexpr std::size_t max_count = 50;      // of each kind
    static constexpr std::size_t max_payload = 2048;  // bytes; the rest is cut off

    // Times in the objects are relative to `started_at`.
    explicit Samples(ev::Time started_at) : started_at_(started_at) {}

    // Ignores events other than replies to messages, and a right reply without a round trip.
    void add(const Event& event);
    void add(const Samples& other);
    JsonObject json() const;

private:
    // Sorted by rank, the highest first: by the round trip or, for a bad reply, the negated
    // time of its arrival.
    using List = std::multimap<ev::Duration, std::string, std::greater<>>;

    ev::Time started_at_;
    List slowest_;
    List bad_;
};

// The results of a run after its warm-up. Members contain the results of the warm-up and, if
// the rate climbs, of each step of the climb. A message counts at its planned time, even if the
// reply arrives in a later step. So a step shows whether the service can sustain its rate.
struct RunResults : Results {
    // The rate climbs evenly, in messages per second.
    struct Climb {
        double from = 0;
        double to = 0;
        ev::Duration length{};
        ev::Duration end{};  // from the start; no message was planned after it

        // Returns the length of a step in whole seconds: one, or more if the climb would
        // otherwise have more than `max_steps` steps.
        ev::Duration step_length() const;
    };
    static constexpr std::int64_t max_steps = 600;

    // Calls `change` with each of the results to which a message planned for this time belongs.
    template <class Change>
    void change_at(ev::Time planned_at, const Change& change) {
        change(planned_at < warm_up_ends_at ? warm_up : *this);
        if (climb && planned_at >= warm_up_ends_at)
            change(step_of(planned_at - warm_up_ends_at));
    }
    bool is_warm_up(const Event& event) const {
        return has_message(event.fate) && event.message.planned_at < warm_up_ends_at;
    }
    void add(const Event& event);
    void add(const RunResults& other);
    // Returns the rate at the end of this step. The last step lasts until the end of the climb.
    double rate_after(std::size_t step) const;

    // Until this is known, all messages belong to the warm-up.
    ev::Time warm_up_ends_at = ev::Time::max();
    Results warm_up = {};
    std::optional<Climb> climb = {};
    std::vector<Results> steps = {};      // of the climb
    std::optional<Samples> samples = {};  // none if they are not collected

private:
    Results& step_of(ev::Duration planned);
};

}  // namespace yodel
