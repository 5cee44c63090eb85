#include "app/stats/results.hpp"

#include "app/stats/figures.hpp"

#include <algorithm>
#include <cmath>

namespace yodel {

namespace {

// How add() combines two members, by their type.
void combine(std::uint64_t& to, std::uint64_t from) { to += from; }
void combine(double& to, double from) { to += from; }
void combine(bool& to, bool from) { to = to || from; }
void combine(ev::Time& to, ev::Time from) { to = std::max(to, from); }
void combine(std::optional<ev::Duration>& to, std::optional<ev::Duration> from) {
    to = std::max(to, from);
}
void combine(std::optional<ev::Time>& to, std::optional<ev::Time> from) {
    if (from) to = std::min(to.value_or(*from), *from);
}
// Keeps the first failure.
void combine(int& to, int from) {
    if (to == 0) to = from;
}
void combine(std::string& to, const std::string& from) {
    if (to.empty()) to = from;
}
template <class Part>
void combine(Part& to, const Part& from) {
    to.add(from);
}
template <class Part>
void combine(std::optional<Part>& to, const std::optional<Part>& from) {
    if (to && from)
        to->add(*from);
    else if (from)
        to = from;
}

}  // namespace

void PlannedRate::add(const PlannedRate& other) {
    planned += other.planned;
    reached += other.reached;
}

void Results::Replay::add(const Replay& other) {
    as_recorded += other.as_recorded;
    unrecorded += other.unrecorded;
    missing += other.missing;
}

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
    combine(was_open ? ended_status : failed_status, status);
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
    fields([&](const char*, auto member, const auto&...) {
        combine(this->*member, other.*member);
    });
    probe = probe && sent == 0;
    for (const Failure& failure : other.failures) {
        Failure& own = failure_of(failure.text, failure.status);
        own.count += failure.count;
        own.failed += failure.failed;
    }
}

// --- A warm-up and a climb.

void RunResults::add(const Event& event) {
    const bool of_message = has_message(event.fate);
    if (!of_message && event.at < measured_from) return Results::add(event);
    at(of_message ? event.message.planned : event.at, [&](Results& to) { to.add(event); });
}

void RunResults::add(const RunResults& other) {
    Results::add(other);
    warm_up.add(other.warm_up);
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
