#include "app/stats/results.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace std::chrono_literals;
using namespace yodel;
using test::listed;
using test::start;

namespace {

// Returns the echo of a datagram that was written `transit` ago.
Event datagram(std::uint32_t connection, std::optional<ev::Duration> transit,
               bool reordered = false) {
    Event event{.fate = Fate::echoed, .at = start, .connection = connection};
    event.message.sent_at = start - transit.value_or(ev::Duration());
    event.reply = {
        .payload = {}, .round_trip = transit, .is_right = true, .is_reordered = reordered};
    return event;
}

std::string text(const bufio::TcpFacts& facts) {
    std::string list = std::to_string(facts.min_rtt.value_or(0us) / 1us) + " us";
    for (const std::uint64_t each : {facts.retransmits, facts.mss, facts.cwnd})
        list += ", " + std::to_string(each);
    return list;
}

}  // namespace

TEST_CASE("adds up results exactly, and keeps the first sentence and status of each kind") {
    const auto part = [](int count, ev::Duration round_trip) {
        RunResults results;
        test::add_sent(results, static_cast<std::size_t>(count));
        test::add_echo(results, round_trip, start + round_trip,
                       static_cast<std::size_t>(count));
        results.lateness.record(1us, static_cast<std::uint64_t>(count));
        results.attempts = 4;
        results.count_opened(round_trip, std::nullopt);
        results.count_opened(round_trip, 2 * round_trip, count < 20);
        results.count_opened(round_trip, 2 * round_trip, false, false);  // without TLS
        results.add_tcp({.min_rtt = round_trip / 2, .retransmits = 3, .mss = 1448, .cwnd = 10});
        results.count_failure("connection refused", 7, false);
        results.late_start = round_trip;
        results.reached_rate = count;
        return results;
    };
    RunResults sum = part(10, 1ms);
    sum.planned_rate = 100;
    RunResults other = part(30, 5ms);
    other.count_failure("timed out", 28, true, 2);
    other.count_failure("timed out", 35, true);
    other.reply_problem_sentence = "other";
    other.uses_datagrams = other.is_replay = true;
    other.as_recorded = 1;
    other.unrecorded = 2;
    other.missing = 3;
    other.record_end(56, true);
    other.record_end(7, false);
    other.planned_rate = 50;
    sum.add(other);
    RunResults third = part(0, 2ms);
    third.reply_problem_sentence = "third";
    third.opened_failure_status = third.failed_status = 28;
    sum.add(third);
    CHECK(listed(sum) == "40 sent, 40 echoed, 12 attempts, 9 opened, 3 failed, "
                         "1 handshakes_full, 2 handshakes_resumed, "
                         "1 recurred, 2 unrecorded, 3 missing");
    const std::tuple<Histogram Results::*, std::uint64_t, ev::Duration> times[] = {
        {&Results::round_trips, 40, 5ms},
        {&Results::lateness, 40, 1us},
        {&Results::connect_times, 9, 5ms},
        {&Results::handshake_times, 6, 10ms}};
    for (const auto& [histogram, count, max] : times) {
        CHECK((sum.*histogram).count() == count);
        CHECK((sum.*histogram).max() == max);
    }
    CHECK(sum.failures == std::vector<Results::Failure>{{"connection refused", 7, 3, 3},
                                                        {"timed out", 28, 2, 0},
                                                        {"timed out", 35, 1, 0}});
    CHECK(text(*sum.tcp) == "500 us, 9, 1448, 10");
    CHECK(sum.late_start == ev::Duration(5ms));
    CHECK(sum.reply_problem_sentence == "other");
    CHECK(sum.opened_failure_status == 56);
    CHECK(sum.failed_status == 7);
    CHECK(sum.uses_datagrams);
    CHECK(sum.is_replay);
    CHECK(sum.planned_rate == 150);
    CHECK(sum.reached_rate == 40);
}

TEST_CASE("computes the rate of opened connections of a probe") {
    const RunResults results = test::counted("6 opened,probe,answered 2s");
    CHECK(results.rate() == 3);
    Results sum;
    sum.add(results);
    CHECK(sum.is_probe);
    CHECK(sum.rate() == 3);
    sum.add(test::counted("1 sent"));
    sum.add(results);
    CHECK_FALSE(sum.is_probe);
}

TEST_CASE("computes the rate of right replies from the first message to the last reply") {
    Results results;
    CHECK((results.elapsed() == 0s));
    CHECK((results.began_at() == std::chrono::system_clock::time_point()));
    test::add_sent(results, 12);
    CHECK((results.elapsed() == 0s));
    test::add_echo(results, {});
    CHECK(results.rate() == 0);
    test::add_sent(results, 1, start + 2s);
    test::add_echo(results, 1ms, start + 500ms, 9);
    results.add(Event{.fate = Fate::bad, .at = start + 500ms});
    CHECK(results.rate() == 20);
    CHECK(results.round_trips.count() == 9);
    Results thread;
    test::add_sent(thread, 30, start - 1s);
    test::add_echo(thread, std::nullopt, start + 1s, 30);
    CHECK(thread.round_trips.count() == 0);
    results.add(thread);
    CHECK((results.elapsed() == 2s));
    CHECK(results.rate() == 20);
}

TEST_CASE("counts each fate") {
    const std::tuple<Fate, bool, const char*> rows[] = {
        {Fate::sent, true, "1 sent, 9 lost"},
        {Fate::unsent, true, "9 lost, 1 unsent"},
        {Fate::lost, true, "10 lost"},
        {Fate::unanswered_as_recorded, true, "1 echoed, 9 lost"},
        {Fate::echoed, true, "1 echoed, 9 lost"},
        {Fate::bad, false, "1 bad, 9 lost"},
        {Fate::late, true, "1 echoed, 8 lost, 1 late"},
        {Fate::late, false, "1 bad, 8 lost, 1 late"},
        {Fate::duplicate, true, "9 lost, 1 duplicates"},
        {Fate::unsolicited, true, "9 lost, 1 unsolicited"},
        {Fate::unsolicited_as_recorded, true, "9 lost, 1 unsolicited, 1 recurred"},
        {Fate::unrecorded, true, "9 lost, 1 unsolicited, 1 unrecorded"},
        {Fate::missing, true, "9 lost, 1 missing"},
        {Fate::stale, true, "9 lost, 1 unsolicited"},
        {Fate::read, true, "9 lost"},
        {Fate::note, true, "9 lost"},
    };
    for (const auto& [fate, right, counts] : rows) {
        CAPTURE(counts);
        RunResults results = test::counted("9 lost,replay");
        results.warm_up_ends_at = start;
        Event event{.fate = fate, .at = start};
        event.message.planned_at = start;
        event.message.is_late = fate == Fate::late;
        event.message.expected = "a";
        event.reply.is_right = right;
        results.add(event);
        CHECK(listed(results) == counts);
        CHECK(results.round_trips.count() == 0);
        CHECK(results.stale == (fate == Fate::stale ? 1 : 0));
    }
}

TEST_CASE("counts a silence as recorded until a late reply arrives") {
    RunResults results = test::counted("1 sent");
    results.is_replay = true;
    results.warm_up_ends_at = ev::Time{};
    results.add(Event{.fate = Fate::unanswered_as_recorded});
    CHECK(results.in_flight() == 0);
    Event event{.fate = Fate::late, .at = start};
    event.message.is_late = true;
    event.reply.round_trip = 3ms;
    results.add(event);
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
    const std::pair<std::optional<ev::Duration>, ev::Duration> rows[] = {
        {10ms, 0ns},
        {26ms, 1ms},
        {26ms, 937500ns},
        {std::nullopt, 937500ns},
        {10ms, 1878906ns}};
    Results results;
    results.uses_datagrams = true;
    for (const auto& [transit, jitter] : rows) {
        results.add(datagram(1, transit, !transit));
        CHECK((results.jitter() == jitter));
    }
    CHECK(results.reordered == 1);
}

TEST_CASE("weights the jitter of several connections by their replies, in parts or not") {
    Results whole;
    Results part;
    Results other;
    whole.uses_datagrams = part.uses_datagrams = other.uses_datagrams = true;
    for (int i = 0; i < 30; ++i) {
        const ev::Duration transit = i % 2 == 0 ? 1ms : 2ms;
        whole.add(datagram(1, transit));
        other.add(datagram(1, transit));
        if (i % 3 != 0) continue;
        whole.add(datagram(2, 3ms, true));
        part.add(datagram(2, 3ms, true));
    }
    CHECK(std::abs(static_cast<double>(whole.jitter().count()) -
                   static_cast<double>(other.jitter().count()) * 0.75) < 1);
    Results both;
    both.add(other);
    both.add(part);  // without transits of connection 1
    CHECK(both.jitter() == whole.jitter());
    CHECK(both.reordered == 10);
}

TEST_CASE("adds up facts of connections to the smallest of each, and to all retransmits") {
    Results sum;
    const auto after = [&sum](const bufio::TcpFacts& facts) {
        sum.add_tcp(facts);
        return text(*sum.tcp);
    };
    CHECK(after({{}, 1, 1448, 12}) == "0 us, 1, 1448, 12");
    CHECK(after({30us, 2, 536, 14}) == "30 us, 3, 536, 12");
    CHECK(after({20us, 0, 1448, 10}) == "20 us, 3, 536, 10");
    CHECK(after({{}, 0, 1448, 10}) == "20 us, 3, 536, 10");
    CHECK(after({40us, 0, 1448, 10}) == "20 us, 3, 536, 10");
}
