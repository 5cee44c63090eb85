#include "app/stats/results.hpp"

#include "app/stats/figures.hpp"

#include <algorithm>
#include <cmath>

namespace yodel {

namespace {

void keep_first_failure(int& status, int other) {
    if (status == 0) status = other;
}

}  // namespace

void TcpTotals::add(const TcpTotals& other) {
    if (other.min_rtt) min_rtt = std::min(min_rtt.value_or(*other.min_rtt), *other.min_rtt);
    retransmits += other.retransmits;
    mss = std::min(mss, other.mss);
    cwnd = std::min(cwnd, other.cwnd);
}

ev::Duration system_clock_offset() {
    return std::chrono::system_clock::now().time_since_epoch() -
           ev::Clock::now().time_since_epoch();
}

void Jitter::record(ev::Duration transit) {
    const double change = std::abs(static_cast<double>((transit - last).count()));
    if (transits > 0) mean += (change - mean) / 16;
    last = transit;
    ++transits;
}

// --- Messages.

void Results::add(const Event& event) {
    Counts& to = counts(event.warm_up);
    switch (event.fate) {
    case Fate::sent:
        to.sent += event.count;
        if (!event.warm_up && !first_sent) first_sent = event.at;
        return;
    case Fate::unsent: to.unsent += event.count; return;
    case Fate::lost: ++to.lost; return;
    case Fate::unanswered_as_recorded: ++to.echoed; return;
    case Fate::missing: ++replay->missing; return;
    case Fate::duplicate: ++duplicates; return;
    case Fate::unsolicited_as_recorded: ++replay->as_recorded; break;
    case Fate::unrecorded: ++replay->unrecorded; break;
    case Fate::stale: ++stale; break;
    case Fate::unsolicited: break;
    case Fate::read:
    case Fate::note: return;
    default: return add_answer(event);
    }
    ++unsolicited;
}

void Results::add_answer(const Event& event) {
    Counts& to = counts(event.warm_up);
    if (event.message.late) {
        // In a replay, a message without a recorded reply has counted as echoed.
        --(replay && !event.message.expected ? to.echoed : to.lost);
        if (!event.warm_up) ++late;
    }
    (event.reply.right ? to.echoed : to.bad) += event.count;
    if (event.warm_up) return;
    if (event.reply.round_trip) round_trips.record(*event.reply.round_trip, event.count);
    last_answered = event.at;
    if (over_datagrams) add_order(event);
}

void Results::add_order(const Event& event) {
    if (event.reply.reordered) ++reordered;
    if (!event.reply.round_trip) return;
    if (jitters.size() <= event.connection) jitters.resize(event.connection + 1);
    Jitter& connection = jitters[event.connection];
    const auto weighted = [&] {
        return connection.mean * static_cast<double>(connection.transits);
    };
    jitter_sum -= weighted();
    connection.record(event.at - event.message.sent);
    jitter_sum += weighted();
    ++jitter_count;
}

void Results::add_planned_rate(const PlannedRate& more) {
    if (!planned_rate) planned_rate.emplace();
    planned_rate->planned += more.planned;
    planned_rate->reached += more.reached;
}

// --- Connections.

void Results::count_opened(ev::Duration connect_time,
                           std::optional<ev::Duration> handshake_time, bool resumed, bool tls) {
    ++opened;
    connect_times.record(connect_time);
    if (!handshake_time) return;
    handshake_times.record(*handshake_time);
    std::uint64_t& count = resumed ? handshakes_resumed : handshakes_full;
    if (tls) ++count;
}

void Results::count_failure(std::string_view text, int status, bool was_open,
                            std::uint64_t times) {
    Failure& failure = failure_of(text, status);
    failure.count += times;
    if (was_open) return;
    failure.failed += times;
    failed += times;
}

Results::Failure& Results::failure_of(std::string_view text, int status) {
    for (Failure& failure : failures)
        if (failure.text == text && failure.status == status) return failure;
    if (failures.size() < max_failures)
        return failures.emplace_back(Failure{std::string(text), status, 0});
    failures.back().text = "other failures";
    return failures.back();
}

void Results::count_end(int status, bool was_open) {
    keep_first_failure(was_open ? ended_status : failed_status, status);
}

void Results::add_tcp(const TcpTotals& facts) {
    if (tcp) {
        tcp->add(facts);
    } else {
        tcp = facts;
    }
}

// --- Values derived from the counts.

std::chrono::system_clock::time_point Results::began() const {
    using std::chrono::system_clock;
    if (!first_sent) return {};
    return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(
        first_sent->time_since_epoch() + utc_offset));
}

ev::Duration Results::elapsed() const {
    if (!first_sent) return {};
    return std::max(last_answered - *first_sent, ev::Duration::zero());
}

double Results::rate() const {
    const double seconds = std::chrono::duration<double>(elapsed()).count();
    return seconds > 0 ? static_cast<double>(achieved_count()) / seconds : 0;
}

ev::Duration Results::jitter() const {
    if (jitter_count == 0) return {};
    return ev::Duration(std::llrint(jitter_sum / static_cast<double>(jitter_count)));
}

bool Results::reached_planned_rate() const {
    if (!planned_rate) return true;
    const auto [planned, reached] = *planned_rate;
    if (unsent > 0) return false;
    if (reached >= planned) return true;
    if (reached <= 0) return false;
    constexpr double tolerated_part = 0.05;
    const double seconds = static_cast<double>(sent) / planned;
    const double late_by = static_cast<double>(sent) / reached - seconds;
    return late_by <= std::max(tolerated_part * seconds,
                               std::chrono::duration<double>(tolerated_lateness).count());
}

void Results::add(const Results& other) {
    for (const Figure& figure : figures())
        if (figure.count) this->*figure.count += other.*figure.count;
    for (const TimesRow& row : times_rows) (this->*row.times).add(other.*row.times);
    for (const auto& [name, count] : warm_up_counts) warm_up.*count += other.warm_up.*count;
    probe = (probe || other.probe) && sent == 0;
    stale += other.stale;
    jitter_count += other.jitter_count;
    if (other.planned_rate) add_planned_rate(*other.planned_rate);
    over_datagrams = over_datagrams || other.over_datagrams;
    jitter_sum += other.jitter_sum;
    if (other.replay) {
        if (!replay) replay = Replay{};
        replay->as_recorded += other.replay->as_recorded;
        replay->unrecorded += other.replay->unrecorded;
        replay->missing += other.replay->missing;
    }
    if (other.tcp) add_tcp(*other.tcp);
    for (const Failure& failure : other.failures) {
        Failure& own = failure_of(failure.text, failure.status);
        own.count += failure.count;
        own.failed += failure.failed;
    }
    for (std::string Results::*sentence :
         {&Results::reply_problem_sentence, &Results::lost_sentence, &Results::unsent_sentence,
          &Results::unverified_remark})
        if ((this->*sentence).empty()) this->*sentence = other.*sentence;
    if (other.first_sent)
        first_sent = std::min(first_sent.value_or(*other.first_sent), *other.first_sent);
    last_answered = std::max(last_answered, other.last_answered);
    late_start = std::max(late_start, other.late_start);
    keep_first_failure(ended_status, other.ended_status);
    keep_first_failure(failed_status, other.failed_status);
}

}  // namespace yodel
