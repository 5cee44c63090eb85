#include "app/stats/results.hpp"

#include "app/stats/figures.hpp"
#include "app/stats/tally.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

constexpr ev::Time start{1h};

Results some_results(int count, ev::Duration round_trip) {
    Results results;
    for (int i = 0; i < count; ++i) {
        results.count_sent(1, start);
        results.count_answered({.round_trip = round_trip}, start + round_trip);
        results.record_lateness(1us);
    }
    for (int i = 0; i < 3; ++i) results.count_try();
    results.count_opened(round_trip, std::nullopt);
    results.count_opened(round_trip, 2 * round_trip, count < 20);
    results.add_tcp({.min_rtt = round_trip / 2, .retransmits = 3, .mss = 1448, .cwnd = 10});
    results.count_failure("connection refused", 7, false);
    return results;
}

}  // namespace

TEST_CASE("adds up results exactly") {
    Results sum = some_results(10, 1ms);
    Results other = some_results(30, 5ms);
    other.count_failure("timed out", 28, true, 2);
    other.late = 1;
    sum.add(other);
    CHECK(sum.sent == 40);
    CHECK(sum.echoed == 40);
    CHECK(sum.late == 1);
    CHECK(sum.round_trips.count() == 40);
    CHECK((sum.round_trips.max() == 5ms));
    CHECK(sum.lateness.count() == 40);
    CHECK(test::connections_of(sum) == test::Connections{6, 4, 2});
    CHECK(sum.failures == std::vector<Results::Failure>{{"connection refused", 7, 2, 2},
                                                        {"timed out", 28, 2, 0}});
    CHECK(sum.connect_times.count() == 4);
    CHECK((sum.connect_times.max() == 5ms));
    CHECK(sum.handshake_times.count() == 2);
    CHECK((sum.handshake_times.max() == 10ms));
    CHECK(sum.handshakes_full == 1);
    CHECK(sum.handshakes_resumed == 1);
    CHECK(sum.tcp == TcpTotals{500us, 6, 1448, 10});
}

TEST_CASE("computes the rate of opened connections of a probe") {
    Results results;
    results.probe = true;
    results.first_sent = start;
    results.last_answered = start + 2s;
    for (int i = 0; i < 6; ++i) results.count_opened(1ms, std::nullopt);
    CHECK(results.rate() == 3);
    CHECK(results.achieved() == 6);
    Results sum;
    sum.add(results);
    CHECK(sum.probe);
    CHECK(sum.rate() == 3);
    Results messages;
    messages.count_sent(1, start);
    sum.add(messages);
    sum.add(results);
    CHECK_FALSE(sum.probe);
}

TEST_CASE("computes the rate of right replies from the first message to the last reply") {
    Results results;
    CHECK((results.elapsed() == 0s));
    CHECK(results.rate() == 0);
    results.count_sent(12, start);
    results.count_answered({}, start);
    CHECK(results.rate() == 0);
    results.count_sent(1, start + 2s);
    results.count_echoed(9, 1ms, start + 500ms);
    results.count_answered({.right = false}, start + 500ms);
    CHECK(results.rate() == 20);
    Results thread;
    thread.count_sent(30, start - 1s);
    thread.count_echoed(30, 1ms, start + 1s);
    results.add(thread);
    CHECK((results.elapsed() == 2s));
    CHECK(results.rate() == 20);
}

TEST_CASE("counts the messages of a warm-up apart, and adds them up") {
    Results results;
    results.count_sent(3, start, true);
    Tally tally(results);
    tally.add(Fate::lost, {.warm_up = true}, start);
    results.count_answered({.round_trip = 1ms, .warm_up = true}, start);
    results.count_answered({.right = false, .warm_up = true}, start);
    tally.add(Fate::late, {.late = true, .warm_up = true}, start);
    results.count_unsent(4, true);
    results.add(Results(results));
    for (const Figure& figure : figures())
        if (figure.count) CHECK(results.*figure.count == 0);
    CHECK(results.round_trips.count() == 0);
    CHECK_FALSE(results.first_sent);
    CHECK(results.warm_up.sent == 6);
    CHECK(results.warm_up.echoed == 4);
    CHECK(results.warm_up.bad == 2);
    CHECK(results.warm_up.lost == 0);
    CHECK(results.warm_up.unsent == 8);
}

TEST_CASE("corrects the number of lost messages by a late reply") {
    Results results;
    results.count_sent(2, start);
    ++results.lost;
    ++results.lost;
    results.count_answered({.late = true}, start);
    results.count_answered({.right = false, .late = true, .round_trip = 3ms}, start);
    CHECK(results.lost == 0);
    CHECK(results.echoed == 1);
    CHECK(results.bad == 1);
    CHECK(results.late == 2);
    CHECK(results.round_trips.count() == 1);
    CHECK(results.in_flight() == 0);
}

TEST_CASE("counts a silence as recorded until a late reply comes") {
    Results results;
    results.replay = Results::Replay{};
    results.count_sent(1, start);
    Tally tally(results);
    tally.add(Fate::silent, {}, {});
    CHECK(results.echoed == 1);
    results.count_late_as_lost();
    results.count_answered({.right = false, .late = true}, start);
    CHECK(results.echoed == 0);
    CHECK(results.lost == 0);
    CHECK(results.bad == 1);
    tally.add(Fate::recurred, {}, {});
    tally.add(Fate::unrecorded, {}, {});
    tally.add(Fate::missing, {}, {});
    CHECK(results.unsolicited == 2);
    Results sum;
    sum.add(results);
    sum.add(results);
    CHECK(sum.replay == Results::Replay{2, 2, 2});
}

TEST_CASE("bounds the number of sentences of failures, and counts all failures") {
    Results results;
    for (std::size_t i = 0; i < 10 * Results::max_failures; ++i)
        results.count_failure("failure " + std::to_string(i), 7, true);
    CHECK(results.failures.size() == Results::max_failures);
    CHECK(results.failures.front().text == "failure 0");
    CHECK(results.failures.back().text == "other failures");
    std::uint64_t count = 0;
    for (const Results::Failure& failure : results.failures) count += failure.count;
    CHECK(count == 10 * Results::max_failures);
    CHECK(results.failed == 0);
}

TEST_CASE("smooths the difference of consecutive transits as the jitter") {
    Results results;
    Jitter jitter;
    CHECK((results.jitter() == 0ns));
    results.count_datagram(jitter, false, 10ms);
    CHECK((results.jitter() == 0ns));  // a single transit has no difference
    results.count_datagram(jitter, false, 26ms);
    CHECK((results.jitter() == 1ms));
    results.count_datagram(jitter, false, 26ms);
    CHECK((results.jitter() == 937500ns));
    results.count_datagram(jitter, true, std::nullopt);  // without a known time
    CHECK((results.jitter() == 937500ns));
    results.count_datagram(jitter, false, 10ms);
    CHECK((results.jitter() == 1878906ns));
    CHECK(results.reordered == 1);
}

TEST_CASE("weights the jitter of several connections by their replies, in parts or not") {
    Results whole;
    Results part;
    Results other;
    Jitter steady;
    Jitter unsteady;
    Jitter unsteady_too;
    for (int i = 0; i < 30; ++i) {
        const ev::Duration transit = i % 2 == 0 ? 1ms : 2ms;
        whole.count_datagram(unsteady, false, transit);
        other.count_datagram(unsteady_too, false, transit);
        if (i % 3 == 0) whole.count_datagram(steady, true, 3ms);
    }
    const double mean = unsteady.mean;
    CHECK(std::abs(static_cast<double>(whole.jitter().count()) - mean * 0.75) < 1);
    Jitter steady_too;
    for (int i = 0; i < 10; ++i) part.count_datagram(steady_too, true, 3ms);
    part.add(other);
    CHECK(part.jitter() == whole.jitter());
    CHECK(part.reordered == 10);
}

TEST_CASE("adds up facts of connections to the smallest of each, and to all retransmits") {
    TcpTotals sum{.min_rtt = {}, .retransmits = 1, .mss = 1448, .cwnd = 12};
    sum.add({.min_rtt = 30us, .retransmits = 2, .mss = 536, .cwnd = 14});
    CHECK(sum == TcpTotals{30us, 3, 536, 12});
    sum.add({.min_rtt = 20us, .retransmits = 0, .mss = 1448, .cwnd = 10});
    CHECK(sum == TcpTotals{20us, 3, 536, 10});
    sum.add({.min_rtt = {}, .retransmits = 0, .mss = 1448, .cwnd = 10});
    sum.add({.min_rtt = 40us, .retransmits = 0, .mss = 1448, .cwnd = 10});
    CHECK(sum == TcpTotals{20us, 3, 536, 10});
}

TEST_CASE("keeps the sentences of the first results, and adds up planned rates") {
    Results sum;
    sum.add_planned_rate({.planned = 100, .reached = 90});
    Results other;
    other.bad_sentence = "other";
    other.add_planned_rate({.planned = 50, .reached = 50});
    sum.add(other);
    CHECK(sum.bad_sentence == "other");
    other.bad_sentence = "third";
    sum.add(other);
    CHECK(sum.bad_sentence == "other");
    CHECK(sum.planned_rate->planned == 200);
    CHECK(sum.planned_rate->reached == 190);
}
