#include "app/stats/results.hpp"

#include "app/stats/tally.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace std::chrono_literals;
using namespace yodel;
using test::listed;
using test::start;

TEST_CASE("adds up results exactly") {
    const auto part = [](int count, ev::Duration round_trip) {
        Results results;
        for (int i = 0; i < count; ++i) {
            results.count_sent(1, start);
            results.count_answered({.round_trip = round_trip}, start + round_trip);
            results.record_lateness(1us);
        }
        for (int i = 0; i < 4; ++i) results.count_attempt();
        results.count_opened(round_trip, std::nullopt);
        results.count_opened(round_trip, 2 * round_trip, count < 20);
        results.count_opened(round_trip, 2 * round_trip, false, false);  // without TLS
        results.add_tcp({.min_rtt = round_trip / 2, .retransmits = 3, .mss = 1448, .cwnd = 10});
        results.count_failure("connection refused", 7, false);
        results.late_start = round_trip;
        return results;
    };
    Results sum = part(10, 1ms);
    Results other = part(30, 5ms);
    other.count_failure("timed out", 28, true, 2);
    other.count_failure("timed out", 35, true);
    sum.add(other);
    sum.add(part(0, 2ms));
    CHECK(listed(sum) == "40 sent, 40 echoed, 12 attempts, 9 opened, 3 failed, "
                         "1 handshakes_full, 2 handshakes_resumed");
    CHECK(sum.round_trips.count() == 40);
    CHECK((sum.round_trips.max() == 5ms));
    CHECK(sum.lateness.count() == 40);
    CHECK(sum.failures == std::vector<Results::Failure>{{"connection refused", 7, 3, 3},
                                                        {"timed out", 28, 2, 0},
                                                        {"timed out", 35, 1, 0}});
    CHECK(sum.connect_times.count() == 9);
    CHECK((sum.connect_times.max() == 5ms));
    CHECK(sum.handshake_times.count() == 6);
    CHECK((sum.handshake_times.max() == 10ms));
    CHECK(sum.tcp == TcpTotals{500us, 9, 1448, 10});
    CHECK((sum.late_start == ev::Duration(5ms)));
}

TEST_CASE("keeps the first sentence and status of each kind, and adds up planned rates") {
    Results sum;
    sum.add_planned_rate({.planned = 100, .reached = 90});
    Results other;
    other.reply_problem_sentence = "other";
    other.over_datagrams = true;
    other.replay = {.as_recorded = 1, .unrecorded = 2, .missing = 3};
    other.count_end(56, true);
    other.count_end(7, false);
    other.add_planned_rate({.planned = 50, .reached = 50});
    sum.add(other);
    other.reply_problem_sentence = "third";
    other.ended_status = other.failed_status = 28;
    other.over_datagrams = false;
    sum.add(other);
    CHECK(sum.reply_problem_sentence == "other");
    CHECK(sum.ended_status == 56);
    CHECK(sum.failed_status == 7);
    CHECK(sum.over_datagrams);
    CHECK(sum.replay == Results::Replay{2, 4, 6});
    CHECK(sum.planned_rate->planned == 200);
    CHECK(sum.planned_rate->reached == 190);
}

TEST_CASE("computes the rate of opened connections of a probe") {
    Results results = test::counted("6 opened");
    results.probe = true;
    results.last_answered = start + 2s;
    CHECK(results.rate() == 3);
    Results sum;
    sum.add(results);
    CHECK(sum.probe);
    CHECK(sum.rate() == 3);
    sum.add(test::counted("1 sent"));
    sum.add(results);
    CHECK_FALSE(sum.probe);
}

TEST_CASE("computes the rate of right replies from the first message to the last reply") {
    Results results;
    CHECK((results.elapsed() == 0s));
    CHECK((results.began() == std::chrono::system_clock::time_point()));
    results.count_sent(12, start);
    CHECK((results.elapsed() == 0s));
    results.count_answered({}, start);
    CHECK(results.rate() == 0);
    results.count_sent(1, start + 2s);
    results.count_echoed(9, 1ms, start + 500ms);
    results.count_answered({.right = false}, start + 500ms);
    CHECK(results.rate() == 20);
    CHECK(results.round_trips.count() == 9);
    Results thread;
    thread.count_sent(30, start - 1s);
    thread.count_echoed(30, std::nullopt, start + 1s);
    CHECK(thread.round_trips.count() == 0);
    results.add(thread);
    CHECK((results.elapsed() == 2s));
    CHECK(results.rate() == 20);
}

TEST_CASE("counts each fate") {
    struct Row {
        Fate fate;
        Answer answer;
        const char* counts;
    };
    const Row rows[] = {
        {Fate::sent, {}, "9 lost"},
        {Fate::unsent, {}, "9 lost, 1 unsent"},
        {Fate::unsent, {.warm_up = true}, "9 lost, 1 warm-up unsent"},
        {Fate::lost, {}, "10 lost"},
        {Fate::lost, {.warm_up = true}, "9 lost, 1 warm-up lost"},
        {Fate::unanswered_as_recorded, {}, "1 echoed, 9 lost"},
        {Fate::echoed, {}, "1 echoed, 9 lost"},
        {Fate::echoed, {.round_trip = 1ms, .warm_up = true}, "9 lost, 1 warm-up echoed"},
        {Fate::bad, {.right = false}, "1 bad, 9 lost"},
        {Fate::bad, {.right = false, .warm_up = true}, "9 lost, 1 warm-up bad"},
        {Fate::late, {.late = true}, "1 echoed, 8 lost, 1 late"},
        {Fate::late, {.right = false, .late = true}, "1 bad, 8 lost, 1 late"},
        {Fate::duplicate, {}, "9 lost, 1 duplicates"},
        {Fate::unsolicited, {}, "9 lost, 1 unsolicited"},
        {Fate::unsolicited_as_recorded, {}, "9 lost, 1 unsolicited, 1 recurred"},
        {Fate::unrecorded, {}, "9 lost, 1 unsolicited, 1 unrecorded"},
        {Fate::missing, {}, "9 lost, 1 missing"},
    };
    for (const Row& row : rows) {
        INFO(word_of(row.fate));
        Results results = test::counted("9 lost");
        results.replay = Results::Replay{};
        Tally(results).add(row.fate, row.answer, start);
        CHECK(listed(results) == row.counts);
        CHECK(results.round_trips.count() == 0);
    }
}

TEST_CASE("counts the messages of a warm-up apart, and corrects its losses") {
    Results results;
    results.count_sent(3, start, true);
    results.count_unsent(4, true);
    CHECK_FALSE(results.first_sent);
    Tally tally(results);
    tally.add(Fate::lost, {.warm_up = true}, start);
    tally.add(Fate::late, {.late = true, .warm_up = true}, start);
    results.add(Results(results));
    CHECK(listed(results) == "6 warm-up sent, 2 warm-up echoed, 8 warm-up unsent");
    CHECK((results.last_answered == ev::Time{}));
}

TEST_CASE("counts a silence as recorded until a late reply comes") {
    Results results = test::counted("1 sent");
    Tally(results).add(Fate::unanswered_as_recorded, {}, {});
    CHECK(results.in_flight() == 0);
    results.count_late_as_lost();
    results.count_answered({.right = false, .late = true, .round_trip = 3ms}, start);
    CHECK(listed(results) == "1 sent, 1 bad, 1 late");
    CHECK(results.round_trips.count() == 1);
    CHECK(results.in_flight() == 0);
}

TEST_CASE("bounds the number of sentences of failures, and counts all failures") {
    Results results;
    for (std::size_t i = 0; i < 10 * Results::max_failures; ++i)
        results.count_failure("failure " + std::to_string(i), 7, true);
    CHECK(results.failures.size() == Results::max_failures);
    CHECK(results.failures.front().text == "failure 0");
    CHECK(results.failures.back().text == "other failures");
    CHECK(results.failures.back().count == 9 * Results::max_failures + 1);
    CHECK(results.failed == 0);
}

TEST_CASE("smooths the difference of consecutive transits as the jitter") {
    struct Row {
        std::optional<ev::Duration> transit;
        ev::Duration jitter;
    };
    Results results;
    results.over_datagrams = true;
    Tally connection(results);
    for (const auto& [transit, jitter] : std::initializer_list<Row>{{10ms, 0ns},
                                                                    {26ms, 1ms},
                                                                    {26ms, 937500ns},
                                                                    {std::nullopt, 937500ns},
                                                                    {10ms, 1878906ns}}) {
        connection.add(Fate::echoed, {.reordered = !transit, .transit = transit}, start);
        CHECK((results.jitter() == jitter));
    }
    connection.add(Fate::echoed, {.warm_up = true, .reordered = true, .transit = 1s}, start);
    CHECK((results.jitter() == 1878906ns));
    CHECK(results.reordered == 1);
}

TEST_CASE("weights the jitter of several connections by their replies, in parts or not") {
    Results whole;
    Results part;
    Results other;
    Jitter jitters[4];
    for (int i = 0; i < 30; ++i) {
        const ev::Duration transit = i % 2 == 0 ? 1ms : 2ms;
        whole.count_datagram(jitters[0], false, transit);
        other.count_datagram(jitters[1], false, transit);
        if (i % 3 != 0) continue;
        whole.count_datagram(jitters[2], true, 3ms);
        part.count_datagram(jitters[3], true, 3ms);
    }
    CHECK(std::abs(static_cast<double>(whole.jitter().count()) - jitters[0].mean * 0.75) < 1);
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
