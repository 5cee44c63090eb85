#include "app/stats/results.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace yodel {

namespace {

template <class Member>
void keep_first(Member& to, const Member& from) {
    if (to == Member()) to = from;
}

std::chrono::system_clock::time_point system_time(ev::Time time, ev::Duration clock_offset) {
    using std::chrono::system_clock;
    return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(
        time.time_since_epoch() + clock_offset));
}

// --- The figures.

using Total = std::optional<std::uint64_t>;

constexpr Whole of_messages{[](const Results& results) { return Total(results.sent); },
                            "nothing was sent"};
constexpr Whole of_datagrams{[](const Results& results) {
                                 return results.uses_datagrams ? Total(results.sent)
                                                               : std::nullopt;
                             },
                             "nothing was sent", "messages were not datagrams"};
constexpr Whole of_due{
    [](const Results& results) { return Total(results.sent + results.unsent); },
    "no message was due"};
constexpr Whole of_attempts{[](const Results& results) { return Total(results.attempts); },
                            "no connection was attempted", "", true};
constexpr Whole of_handshakes{[](const Results& results) {
                                  const std::uint64_t count =
                                      results.handshakes_full + results.handshakes_resumed;
                                  return count > 0 ? Total(count) : std::nullopt;
                              },
                              "", "there was no TLS handshake", true};

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
    {"round trip", "", &Results::round_trips, "rtt_us", "no reply was timed"},
    {"lateness", "lateness_", &Results::lateness, "lateness_us",
     "no message had a planned time"},
    {"connect", "connect_", &Results::connect_times, "connect_us", "no connection was opened",
     true},
    {"handshake", "handshake_", &Results::handshake_times, "handshake_us",
     "there was no handshake", true},
}};

std::optional<ev::Duration> statistic(const Histogram& times, std::string_view name) {
    if (name == "min") return times.min();
    if (name == "mean") return times.mean();
    if (name == "max") return times.max();
    if (!name.starts_with('p') || name.find_first_not_of("0123456789.", 1) != name.npos)
        return std::nullopt;
    const std::optional<double> percent = parse_decimal(name.substr(1));
    if (!percent || *percent <= 0 || *percent >= 100) return std::nullopt;
    return times.percentile(*percent);
}

std::optional<double> Figure::value(const Results& results) const {
    const auto number = [](auto value) { return std::optional(static_cast<double>(value)); };
    if (count && count->whole->total_of(results)) return number(results.*count->count);
    if (times && (results.*times->times).count() > 0) {
        const std::string own = name.substr(times->prefix.size());
        return number(statistic(results.*times->times, own)->count());
    }
    if (name == "rate" && results.achieved_count() > 0) return results.rate();
    if (name == "jitter" && !results.jitters.empty()) return number(results.jitter().count());
    return std::nullopt;
}

std::optional<Figure> find_figure(std::string_view name) {
    using Kind = Figure::Kind;
    if (name == "lateness") name = "lateness_p99";
    const std::string own(name);
    if (name == "rate")
        return Figure{own, Kind::rate, "no reply was right, or no connection opened"};
    if (name == "jitter") return Figure{own, Kind::time, "no datagrams were timed"};
    for (const CountRow& row : count_rows)
        if (name == row.name)
            return Figure{own, Kind::count, row.whole->unmeasured_reason,
                          row.whole->is_about_connections, &row};
    for (const TimesRow& row : times_rows)
        if (name.starts_with(row.prefix) && statistic({}, name.substr(row.prefix.size())))
            return Figure{own,     Kind::time, row.unmeasured_reason, row.is_about_connections,
                          nullptr, &row};
    return std::nullopt;
}

const TimesRow& main_times(const Results& results) {
    if (!results.is_probe) return times_rows[0];
    return times_rows[results.handshake_times.count() > 0 ? 3 : 2];
}

ev::Duration system_clock_offset() {
    return std::chrono::system_clock::now().time_since_epoch() -
           ev::Clock::now().time_since_epoch();
}

void Jitter::record(ev::Duration transit) {
    const double change = std::abs(static_cast<double>((transit - last_transit).count()));
    if (transits > 0) mean += (change - mean) / 16;
    last_transit = transit;
    ++transits;
}

// --- Messages.

void Results::add(const Event& event) {
    switch (event.fate) {
    case Fate::sent:
        sent += event.count;
        if (!first_sent_at) first_sent_at = event.at;
        return;
    case Fate::unsent: unsent += event.count; return;
    case Fate::lost: ++lost; return;
    case Fate::unanswered_as_recorded: ++echoed; return;
    case Fate::missing: ++missing; return;
    case Fate::duplicate: ++duplicates; return;
    case Fate::unsolicited_as_recorded: ++as_recorded; break;
    case Fate::unrecorded: ++unrecorded; break;
    case Fate::stale: ++stale; break;
    case Fate::unsolicited: break;
    case Fate::read:
    case Fate::note: return;
    default: return add_answer(event);
    }
    ++unsolicited;
}

void Results::add_answer(const Event& event) {
    if (event.message.is_late) {
        // In a replay, a message without a recorded reply has counted as echoed.
        --(is_replay && !event.message.expected ? echoed : lost);
        ++late;
    }
    (event.reply.is_right ? echoed : bad) += event.count;
    if (event.reply.round_trip) round_trips.record(*event.reply.round_trip, event.count);
    last_answered_at = event.at;
    if (!uses_datagrams) return;
    if (event.reply.is_reordered) ++reordered;
    if (!event.reply.round_trip) return;
    if (jitters.size() <= event.connection) jitters.resize(event.connection + 1);
    jitters[event.connection].record(event.at - event.message.sent_at);
}

// --- Connections.

void Results::count_opened(ev::Duration connect_time,
                           std::optional<ev::Duration> handshake_time, bool is_resumed,
                           bool has_tls) {
    ++opened;
    connect_times.record(connect_time);
    if (!handshake_time) return;
    handshake_times.record(*handshake_time);
    std::uint64_t& count = is_resumed ? handshakes_resumed : handshakes_full;
    if (has_tls) ++count;
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

void Results::record_end(int status, bool was_open) {
    keep_first(was_open ? opened_failure_status : failed_status, status);
}

// --- Values derived from the counts.

std::chrono::system_clock::time_point Results::began_at() const {
    if (!first_sent_at) return {};
    return system_time(*first_sent_at, clock_offset);
}

ev::Duration Results::elapsed() const {
    if (!first_sent_at) return {};
    return std::max(last_answered_at - *first_sent_at, ev::Duration::zero());
}

double Results::rate() const {
    const double seconds = std::chrono::duration<double>(elapsed()).count();
    return seconds > 0 ? static_cast<double>(achieved_count()) / seconds : 0;
}

ev::Duration Results::jitter() const {
    double sum = 0;
    double count = 0;
    for (const Jitter& each : jitters) {
        sum += each.mean * static_cast<double>(each.transits);
        count += static_cast<double>(each.transits);
    }
    return ev::Duration(count > 0 ? std::llrint(sum / count) : 0);
}

bool Results::reached_planned_rate() const {
    if (!planned_rate) return true;
    if (reached_rate >= *planned_rate) return true;
    if (reached_rate <= 0) return false;
    constexpr double tolerated_part = 0.05;
    const auto due = static_cast<double>(sent + unsent);
    const double seconds = due / *planned_rate;
    const double late_by = due / reached_rate - seconds;
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
    for (const auto count : {&Results::open, &Results::stale, &Results::as_recorded,
                             &Results::unrecorded, &Results::missing})
        this->*count += other.*count;
    is_replay = is_replay || other.is_replay;
    // A connection has the same number in all results, and belongs to one lane.
    jitters.resize(std::max(jitters.size(), other.jitters.size()));
    for (std::size_t i = 0; i < other.jitters.size(); ++i)
        if (other.jitters[i].transits > 0) jitters[i] = other.jitters[i];
    is_probe = (is_probe || other.is_probe) && sent == 0;
    uses_datagrams = uses_datagrams || other.uses_datagrams;
    late_start = std::max(late_start, other.late_start);
    last_answered_at = std::max(last_answered_at, other.last_answered_at);
    if (other.first_sent_at)
        first_sent_at =
            std::min(first_sent_at.value_or(*other.first_sent_at), *other.first_sent_at);
    keep_first(reply_problem_sentence, other.reply_problem_sentence);
    keep_first(lost_sentence, other.lost_sentence);
    keep_first(unsent_sentence, other.unsent_sentence);
    keep_first(unverified_remark, other.unverified_remark);
    keep_first(opened_failure_status, other.opened_failure_status);
    keep_first(failed_status, other.failed_status);
    if (other.tcp) add_tcp(*other.tcp);
    if (other.planned_rate) planned_rate = planned_rate.value_or(0) + *other.planned_rate;
    reached_rate += other.reached_rate;
    for (const Failure& failure : other.failures) {
        Failure& own = failure_of(failure.text, failure.status);
        own.count += failure.count;
        own.failed += failure.failed;
    }
}

// --- Some of the messages.

Histogram recent_times(const Results& results, Histogram& seen) {
    const Histogram& all = results.*main_times(results).times;
    return all.since(std::exchange(seen, all));
}

void Samples::add(const Event& event) {
    const Reply& reply = event.reply;
    if (!has_message(event.fate) || !has_reply(event.fate)) return;
    if (reply.is_right && !reply.round_trip) return;
    const ev::Duration rank = reply.is_right ? *reply.round_trip : started_at_ - event.at;
    List& list = reply.is_right ? slowest_ : bad_;
    if (list.size() == max_count && rank <= list.rbegin()->first) return;
    const EventForm form{.max_payload = max_payload, .has_connection = true};
    list.emplace(rank, yodel::json(event, started_at_, form).str());
    if (list.size() > max_count) list.erase(std::prev(list.end()));
}

void Samples::add(const Samples& other) {
    slowest_.insert(other.slowest_.begin(), other.slowest_.end());
    bad_.insert(other.bad_.begin(), other.bad_.end());
    for (List* const list : {&slowest_, &bad_})
        while (list->size() > max_count) list->erase(std::prev(list->end()));
}

JsonObject Samples::json() const {
    const auto array = [](const List& list) {
        std::vector<std::string> objects;
        for (const auto& [rank, object] : list) objects.push_back(object);
        return objects;
    };
    JsonObject samples;
    samples.text("started", timestamp_text(system_time(started_at_, system_clock_offset())));
    return samples.array("slowest", array(slowest_)).array("bad", array(bad_));
}

// --- A warm-up and a climb.

void RunResults::add(const Event& event) {
    if (samples && !is_warm_up(event)) samples->add(event);
    const bool is_of_message = has_message(event.fate);
    if (!is_of_message && event.at < warm_up_ends_at) return Results::add(event);
    change_at(is_of_message ? event.message.planned_at : event.at,
              [&](Results& to) { to.add(event); });
}

void RunResults::add(const RunResults& other) {
    Results::add(other);
    warm_up.add(other.warm_up);
    if (samples && other.samples)
        samples->add(*other.samples);
    else if (other.samples)
        samples = other.samples;
    if (other.climb) {
        if (!climb) climb = other.climb;
        climb->end = std::max(climb->end, other.climb->end);
    }
    steps.resize(std::max(steps.size(), other.steps.size()));
    for (std::size_t i = 0; i < other.steps.size(); ++i) steps[i].add(other.steps[i]);
}

ev::Duration RunResults::Climb::step_length() const {
    return std::chrono::ceil<std::chrono::seconds>(length / max_steps);
}

// If the last step is shorter than half a step, it belongs to the step before.
Results& RunResults::step_of(ev::Duration planned) {
    const ev::Duration step = climb->step_length();
    const auto count = std::max<std::int64_t>((climb->length + step / 2) / step, 1);
    const auto index =
        static_cast<std::size_t>(std::min<ev::Duration::rep>(planned / step, count - 1));
    if (index >= steps.size()) steps.resize(index + 1);
    return steps[index];
}

double RunResults::rate_after(std::size_t step) const {
    const ev::Duration end = climb->step_length() * static_cast<std::int64_t>(step + 1);
    const bool is_last = step + 1 == steps.size();
    const ev::Duration time = is_last ? climb->end : std::min(end, climb->end);
    return climb->from +
           (climb->to - climb->from) * (std::chrono::duration<double>(time) / climb->length);
}

}  // namespace yodel
