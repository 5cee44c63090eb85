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
    event.message.sent = start - transit.value_or(ev::Duration());
    event.reply = {.payload = {}, .round_trip = transit, .right = true, .reordered = reordered};
    return event;
}

std::string text(const bufio::TcpFacts& facts) {
    std::string list = std::to_string(facts.min_rtt.value_or(0us) / 1us) + " us";
    for (const std::uint64_t each : {facts.retransmits, facts.mss, facts.cwnd})
        list += ", " + std::to_string(each);
    return list;
}

}  // namespace

TEST_CASE("adds up results exactly") {
    const auto part = [](int count, ev::Duration round_trip) {
        RunResults results;
        for (int i = 0; i < count; ++i) {
            test::add_sent(results, 1);
            test::add_echo(results, round_trip, start + round_trip);
            results.lateness.record(1us);
        }
        results.attempts = 4;
        results.count_opened(round_trip, std::nullopt);
        results.count_opened(round_trip, 2 * round_trip, count < 20);
        results.count_opened(round_trip, 2 * round_trip, false, false);  // without TLS
        results.add_tcp({.min_rtt = round_trip / 2, .retransmits = 3, .mss = 1448, .cwnd = 10});
        results.count_failure("connection refused", 7, false);
        results.late_start = round_trip;
        return results;
    };
    RunResults sum = part(10, 1ms);
    RunResults other = part(30, 5ms);
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
    CHECK(text(*sum.tcp) == "500 us, 9, 1448, 10");
    CHECK((sum.late_start == ev::Duration(5ms)));
}

TEST_CASE("keeps the first sentence and status of each kind, and adds up planned rates") {
    Results sum;
    sum.planned_rate = 100;
    sum.reached_rate = 90;
    Results other;
    other.reply_problem_sentence = "other";
    other.over_datagrams = true;
    other.is_replay = true;
    other.as_recorded = 1;
    other.unrecorded = 2;
    other.missing = 3;
    other.count_end(56, true);
    other.count_end(7, false);
    other.planned_rate = other.reached_rate = 50;
    sum.add(other);
    other.reply_problem_sentence = "third";
    other.ended_status = other.failed_status = 28;
    other.over_datagrams = false;
    sum.add(other);
    CHECK(sum.reply_problem_sentence == "other");
    CHECK(sum.ended_status == 56);
    CHECK(sum.failed_status == 7);
    CHECK(sum.over_datagrams);
    CHECK(sum.is_replay);
    CHECK(listed(sum) == "2 recurred, 4 unrecorded, 6 missing");
    CHECK(sum.planned_rate == 200);
    CHECK(sum.reached_rate == 190);
}

TEST_CASE("computes the rate of opened connections of a probe") {
    RunResults results = test::counted("6 opened");
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
    struct Row {
        Fate fate;
        const char* counts;
        bool right = true;
    };
    const Row rows[] = {
        {Fate::sent, "1 sent, 9 lost"},
        {Fate::unsent, "9 lost, 1 unsent"},
        {Fate::lost, "10 lost"},
        {Fate::unanswered_as_recorded, "1 echoed, 9 lost"},
        {Fate::echoed, "1 echoed, 9 lost"},
        {Fate::bad, "1 bad, 9 lost", false},
        {Fate::late, "1 echoed, 8 lost, 1 late"},
        {Fate::late, "1 bad, 8 lost, 1 late", false},
        {Fate::duplicate, "9 lost, 1 duplicates"},
        {Fate::unsolicited, "9 lost, 1 unsolicited"},
        {Fate::unsolicited_as_recorded, "9 lost, 1 unsolicited, 1 recurred"},
        {Fate::unrecorded, "9 lost, 1 unsolicited, 1 unrecorded"},
        {Fate::missing, "9 lost, 1 missing"},
        {Fate::stale, "9 lost, 1 unsolicited"},
        {Fate::read, "9 lost"},
        {Fate::note, "9 lost"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.counts);
        RunResults results = test::counted("9 lost");
        results.measured_from = start;
        results.is_replay = true;
        Event event{.fate = row.fate, .at = start};
        event.message.planned = start;
        event.message.late = row.fate == Fate::late;
        event.message.expected = "a";
        event.reply.right = row.right;
        results.add(event);
        CHECK(listed(results) == row.counts);
        CHECK(results.round_trips.count() == 0);
        CHECK(results.stale == (row.fate == Fate::stale ? 1 : 0));
    }
}

TEST_CASE("counts a silence as recorded until a late reply arrives") {
    RunResults results = test::counted("1 sent");
    results.is_replay = true;
    results.measured_from = ev::Time{};
    results.add(Event{.fate = Fate::unanswered_as_recorded});
    CHECK(results.in_flight() == 0);
    Event event{.fate = Fate::late, .at = start};
    event.message.late = true;
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
    struct Row {
        std::optional<ev::Duration> transit;
        ev::Duration jitter;
    };
    Results results;
    results.over_datagrams = true;
    for (const auto& [transit, jitter] : std::initializer_list<Row>{{10ms, 0ns},
                                                                    {26ms, 1ms},
                                                                    {26ms, 937500ns},
                                                                    {std::nullopt, 937500ns},
                                                                    {10ms, 1878906ns}}) {
        results.add(datagram(1, transit, !transit));
        CHECK((results.jitter() == jitter));
    }
    CHECK(results.reordered == 1);
}

TEST_CASE("weights the jitter of several connections by their replies, in parts or not") {
    Results whole;
    Results part;
    Results other;
    whole.over_datagrams = part.over_datagrams = other.over_datagrams = true;
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
    part.add(other);
    CHECK(part.jitter() == whole.jitter());
    CHECK(part.reordered == 10);
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
