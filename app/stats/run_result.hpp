// All that one run counted, over one connection or many: a value.
//
// A run on several threads has one for each, which nothing shares; they are added up when the
// threads have ended. Results of runs on several machines are added up in the same way.
// Counting a message allocates nothing; a new kind of failure does.
#pragma once

#include "app/stats/histogram.hpp"
#include "app/stats/planned_rate.hpp"
#include "app/stats/tally.hpp"
#include "app/stats/tcp_totals.hpp"
#include "ev/loop.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// The percentiles that are reported, and compared between runs.
struct Percentile {
    const char* name;
    double percent;
};
inline constexpr std::array<Percentile, 6> percentiles{
    {{"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"p99.9", 99.9}, {"p99.99", 99.99}}};

struct RunResult {
    Tally tally;
    // How long after its planned time the client itself wrote each message; empty for messages
    // without a planned time.
    Histogram lateness;
    std::optional<PlannedRate> planned_rate;  // none for such messages, too

    struct Connections {
        std::uint64_t asked = 0;  // attempts, each once
        std::uint64_t opened = 0;
        std::uint64_t failed = 0;  // never opened

        bool operator==(const Connections&) const = default;
    } connections;

    // How long the connections that opened took: to connect, and for the handshake of TLS.
    Histogram connect_times;
    Histogram handshake_times;
    // Of the connections that were open and have ended; none where the system does not tell.
    std::optional<TcpTotals> tcp;

    // A failure of connections by its sentence. The text may hold bytes that a peer chose.
    struct Failure {
        std::string text;
        int status;  // the exit status that it leads to
        std::uint64_t count;

        bool operator==(const Failure&) const = default;
    };
    // In the order in which they first came. At most `most_failures` sentences are kept apart.
    std::vector<Failure> failures;
    static constexpr std::size_t most_failures = 100;

    // From the first message to the last reply. Zero until set_elapsed() is called.
    ev::Duration elapsed{};
    double rate = 0;  // right replies a second
    // How many times the round trips vary more than independent ones would, for each of
    // `percentiles` and for the mean; see app/stats/batches.hpp.
    std::array<double, percentiles.size()> variance_factors{1, 1, 1, 1, 1, 1};
    double variance_factor_of_mean = 1;
    int status = 0;  // the exit status

    void count_opened(ev::Duration connect_time, std::optional<ev::Duration> handshake_time);
    void add_tcp(const TcpTotals& facts);
    void add_planned_rate(const PlannedRate& more);
    void count_failure(std::string_view text, int failure_status, std::uint64_t times = 1);
    // Derives the rate and the variance factors. To be called once, when all is counted and the
    // results of all threads are added up.
    void set_elapsed(ev::Duration time);
    // Adds a result that was measured at the same time: counts, histograms and rates are added
    // up exactly; the elapsed time is the longer one; a status that names a failure wins over
    // 1, and 1 over 0.
    void add(const RunResult& other);

private:
    void add_variance_factors(const RunResult& other);
};

}  // namespace yodel
