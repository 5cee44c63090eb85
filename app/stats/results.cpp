#include "app/stats/results.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace yodel {

namespace {

template <class Member>
void keep_first(Member& to, const Member& from) {
    if (to == Member()) to = from;
}

// --- The figures.

std::uint64_t sent_by(const Results& results) { return results.sent; }
std::uint64_t handshakes_of(const Results& results) {
    return results.handshakes_full + results.handshakes_resumed;
}
constexpr Whole of_messages{sent_by, "nothing was sent"};
constexpr Whole of_datagrams{sent_by, "nothing was sent", false,
                             [](const Results& results) { return results.over_datagrams; },
                             "messages were not datagrams"};
constexpr Whole of_due{[](const Results& results) { return results.sent + results.unsent; },
                       "no message was due"};
constexpr Whole of_attempts{[](const Results& results) { return results.attempts; },
                            "no connection was attempted", true};
constexpr Whole of_handshakes{handshakes_of, "there was no TLS handshake", true,
                              [](const Results& results) { return handshakes_of(results) > 0; },
                              "there was no TLS handshake"};

}  // namespace

constexpr std::array<CountRow, 14> count_rows{{
    {"sent", &Results::sent, &of_messages},
    {"echoed", &Results::echoed, &of_messages},
    {"bad", &Results::bad, &of_messages, true},
    {"lost", &Results::lost, &of_messages, true},
    {"late", &Results::late, &of_messages},
    {"unsent", &Results::unsent, &of_due, true},
    {"unsolicited", &Results::unsolicited, &of_messages, true},
    {"duplicates", &Results::duplicates, &of_messages, true},
    {"reordered", &Results::reordered, &of_datagrams},
    {"attempts", &Results::attempts, &of_attempts},
    {"opened", &Results::opened, &of_attempts},
    {"failed", &Results::failed, &of_attempts},
    {"handshakes_full", &Results::handshakes_full, &of_handshakes},
    {"handshakes_resumed", &Results::handshakes_resumed, &of_handshakes},
}};

constexpr std::array<TimesRow, 4> times_rows{{
    {"round trip", "", &Results::round_trips, "rtt_us", "histogram", false,
     "no reply was timed"},
    {"lateness", "lateness_", &Results::lateness, "lateness_us", "lateness_histogram", false,
     "no message had a planned time"},
    {"connect", "connect_", &Results::connect_times, "connect_us", "connect_histogram", true,
     "no connection was opened"},
    {"handshake", "handshake_", &Results::handshake_times, "handshake_us",
     "handshake_histogram", true, "there was no handshake"},
}};

const TimesRow& main_times(const Results& results) {
    if (!results.probe) return times_rows[0];
    return times_rows[results.handshake_times.count() > 0 ? 3 : 2];
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
    switch (event.fate) {
    case Fate::sent:
        sent += event.count;
        if (!first_sent) first_sent = event.at;
        return;
    case Fate::unsent: unsent += event.count; return;
    case Fate::lost: ++lost; return;
    case Fate::unanswered_as_recorded: ++echoed; return;
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
    if (event.message.late) {
        // In a replay, a message without a recorded reply has counted as echoed.
        --(replay && !event.message.expected ? echoed : lost);
        ++late;
    }
    (event.reply.right ? echoed : bad) += event.count;
    if (event.reply.round_trip) round_trips.record(*event.reply.round_trip, event.count);
    last_answered = event.at;
    if (!over_datagrams) return;
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
    keep_first(was_open ? ended_status : failed_status, status);
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

void Results::add_tcp(const bufio::TcpFacts& facts) {
    if (!tcp) return void(tcp = facts);
    if (facts.min_rtt)
        tcp->min_rtt = std::min(tcp->min_rtt.value_or(*facts.min_rtt), *facts.min_rtt);
    tcp->retransmits += facts.retransmits;
    tcp->mss = std::min(tcp->mss, facts.mss);
    tcp->cwnd = std::min(tcp->cwnd, facts.cwnd);
}

void Results::add(const Results& other) {
    for (const CountRow& row : count_rows) this->*row.count += other.*row.count;
    for (const TimesRow& row : times_rows) (this->*row.times).add(other.*row.times);
    stale += other.stale;
    jitter_sum += other.jitter_sum;
    jitter_count += other.jitter_count;
    probe = (probe || other.probe) && sent == 0;
    over_datagrams = over_datagrams || other.over_datagrams;
    late_start = std::max(late_start, other.late_start);
    last_answered = std::max(last_answered, other.last_answered);
    if (other.first_sent)
        first_sent = std::min(first_sent.value_or(*other.first_sent), *other.first_sent);
    keep_first(reply_problem_sentence, other.reply_problem_sentence);
    keep_first(lost_sentence, other.lost_sentence);
    keep_first(unsent_sentence, other.unsent_sentence);
    keep_first(unverified_remark, other.unverified_remark);
    keep_first(ended_status, other.ended_status);
    keep_first(failed_status, other.failed_status);
    if (other.tcp) add_tcp(*other.tcp);
    if (other.replay) {
        if (!replay) replay = Replay();
        replay->as_recorded += other.replay->as_recorded;
        replay->unrecorded += other.replay->unrecorded;
        replay->missing += other.replay->missing;
    }
    if (other.planned_rate) {
        if (!planned_rate) planned_rate.emplace();
        planned_rate->planned += other.planned_rate->planned;
        planned_rate->reached += other.planned_rate->reached;
    }
    for (const Failure& failure : other.failures) {
        Failure& own = failure_of(failure.text, failure.status);
        own.count += failure.count;
        own.failed += failure.failed;
    }
}

// --- Some of the messages.

Histogram RecentTimes::take(const Results& results) {
    const Histogram& all = results.*main_times(results).times;
    Histogram recent = all.since(seen_);
    seen_ = all;
    return recent;
}

void Samples::add(const Event& event) {
    const Reply& reply = event.reply;
    if (!has_message(event.fate) || !has_reply(event.fate)) return;
    if (reply.right && !reply.round_trip) return;
    const ev::Duration rank = reply.right ? *reply.round_trip : start_ - event.at;
    List& list = reply.right ? slowest_ : bad_;
    if (list.size() == max_count && rank <= list.rbegin()->first) return;
    list.emplace(rank,
                 yodel::json(event, start_, {.max_payload = max_payload, .connection = true}));
    if (list.size() > max_count) list.erase(std::prev(list.end()));
}

void Samples::add(const Samples& other) {
    slowest_.insert(other.slowest_.begin(), other.slowest_.end());
    bad_.insert(other.bad_.begin(), other.bad_.end());
    for (List* const list : {&slowest_, &bad_})
        while (list->size() > max_count) list->erase(std::prev(list->end()));
}

JsonObject Samples::json() const {
    using std::chrono::system_clock;
    const system_clock::time_point started(std::chrono::duration_cast<system_clock::duration>(
        start_.time_since_epoch() + system_clock_offset()));
    const auto array = [](const List& list) {
        JsonArray objects;
        for (const auto& [rank, object] : list) objects.object(object);
        return objects;
    };
    JsonObject samples;
    samples.text("started", timestamp_text(started));
    return samples.array("slowest", array(slowest_)).array("bad", array(bad_));
}

// --- A warm-up and a climb.

void RunResults::add(const Event& event) {
    if (samples && !is_warm_up(event)) samples->add(event);
    const bool of_message = has_message(event.fate);
    if (!of_message && event.at < measured_from) return Results::add(event);
    at(of_message ? event.message.planned : event.at, [&](Results& to) { to.add(event); });
}

void RunResults::add(const RunResults& other) {
    Results::add(other);
    warm_up.add(other.warm_up);
    if (other.samples) {
        if (!samples)
            samples = other.samples;
        else
            samples->add(*other.samples);
    }
    if (other.climb) {
        if (!climb) climb = other.climb;
        climb->ended = std::max(climb->ended, other.climb->ended);
    }
    steps.resize(std::max(steps.size(), other.steps.size()));
    for (std::size_t i = 0; i < other.steps.size(); ++i) steps[i].add(other.steps[i]);
}

void RunResults::end_climb(ev::Duration time) {
    if (climb) climb->ended = std::min(time, climb->length);
}

ev::Duration RunResults::Climb::step() const {
    return std::chrono::ceil<std::chrono::seconds>(length / max_steps);
}

// If the last step is shorter than half a step, it belongs to the step before.
Results& RunResults::step_of(ev::Duration planned) {
    const ev::Duration step = climb->step();
    const auto count = std::max<std::int64_t>((climb->length + step / 2) / step, 1);
    const auto index =
        static_cast<std::size_t>(std::min<ev::Duration::rep>(planned / step, count - 1));
    if (index >= steps.size()) steps.resize(index + 1);
    return steps[index];
}

double RunResults::rate_after(std::size_t step) const {
    const ev::Duration end = climb->step() * static_cast<std::int64_t>(step + 1);
    const bool last = step + 1 == steps.size();
    const ev::Duration time = last ? climb->ended : std::min(end, climb->ended);
    return climb->from +
           (climb->to - climb->from) * (std::chrono::duration<double>(time) / climb->length);
}

}  // namespace yodel
