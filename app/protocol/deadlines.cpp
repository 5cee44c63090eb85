#include "app/protocol/deadlines.hpp"

#include <algorithm>

namespace yodel {

namespace {

// While finishing, we close our side after this time without a reply. Some services answer only
// once our side is closed; others drop their remaining replies if it closes earlier.
constexpr ev::Duration quiet_time = std::chrono::milliseconds(500);

// Minimum timeout for a peer that accepts no output.
constexpr ev::Duration min_write_timeout = std::chrono::seconds(1);

// With datagrams, the session waits for late and duplicate replies after the last expected
// reply: for lingering_round_trips times the longest round trip, but at least min_linger, at
// most max_linger, and not longer than -q.
constexpr ev::Duration min_linger = std::chrono::milliseconds(100);
constexpr ev::Duration max_linger = std::chrono::seconds(1);
constexpr int lingering_round_trips = 4;

bool begun(ev::Time time) { return time != ev::Time{}; }

ev::Time sum(ev::Time start, ev::Duration limit) {
    return start + std::min(limit, ev::Time::max() - start);
}

// Returns when the session stops waiting for the peer to close: after -q, or with datagrams at
// the end of the linger time. Each received datagram restarts the linger time, but does not
// extend it beyond -q. Only the longest pause extends -q, so that an owner that pauses again
// and again cannot keep us from ending.
ev::Time end_deadline(const Situation& now, const SessionOptions& options) {
    const ev::Time limit = sum(now.entered, options.close_timeout + now.max_pause);
    if (!options.endpoint.udp) return limit;
    const ev::Time from = std::max({now.all_answered, now.active, now.resumed_at});
    if (options.listens()) return from + options.answer_time;
    const ev::Duration wanted = lingering_round_trips * now.max_round_trip;
    const ev::Duration linger =
        std::min(std::clamp(wanted, min_linger, max_linger), options.close_timeout);
    return std::min(from + linger, std::max(now.all_answered + linger, limit));
}

}  // namespace

Deadline Deadlines::first() const {
    return static_cast<Deadline>(std::min_element(begin(), end()) - begin());
}

void Situation::resume(ev::Time now) {
    const ev::Time from = *paused_at;
    paused_at.reset();
    resumed_at = now;
    max_pause = std::max(max_pause, now - std::max(entered, from));
    for (ev::Time* const start :
         {&active, &pinged, &accepted, &awaited, &greeted, &heard, &peer_ended})
        if (begun(*start)) *start += now - std::max(*start, from);
}

Deadlines deadlines(const Situation& now, const SessionOptions& options) {
    const bool open = now.state == SessionState::open;
    const bool finishing = now.state == SessionState::finishing;
    Deadlines all;
    all[Deadline::attempt] = now.attempt;
    all[Deadline::run] = now.run;
    if (!now.connected) return all;
    if (options.idle_timeout) all[Deadline::idle] = sum(now.active, *options.idle_timeout);
    if (open && options.ping)
        all[Deadline::ping] = now.pong_awaited
                                  ? sum(now.pinged, options.reply_timeout)
                                  : sum(std::max(now.pinged, now.active), *options.ping);
    if (now.unsent)
        all[Deadline::output] =
            sum(now.accepted, std::max(options.reply_timeout, min_write_timeout));
    if (begun(now.awaited)) all[Deadline::reply] = sum(now.awaited, options.reply_timeout);
    if (open && begun(now.greeted))
        all[Deadline::greeting] = sum(now.greeted, options.greeting_time);
    if (finishing && now.in_flight && !now.closing && !options.stays_open)
        all[Deadline::quiet] = sum(now.heard, quiet_time);
    if (finishing && !now.in_flight) all[Deadline::end] = end_deadline(now, options);
    if (begun(now.peer_ended)) {
        const bool answers = options.listens() && !options.websocket;
        all[Deadline::early_close] =
            sum(now.peer_ended, answers ? options.answer_time : ev::Duration::zero());
    }
    if (!now.paused_at) return all;
    for (std::size_t i = static_cast<std::size_t>(Deadline::idle); i < deadline_count; ++i)
        if (all.at(i) > *now.paused_at) all.at(i) = ev::Time::max();
    return all;
}

ev::Duration retry_wait(ev::Duration first, unsigned earlier, std::minstd_rand& random) {
    const ev::Duration longest = std::max<ev::Duration>(first, std::chrono::seconds(30));
    ev::Duration wait = first;
    for (unsigned i = 0; i < earlier && wait > ev::Duration::zero() && wait < longest; ++i)
        wait = std::min(2 * wait, longest);
    using Random = std::uniform_int_distribution<ev::Duration::rep>;
    return ev::Duration(Random(wait.count() / 2, wait.count())(random));
}

}  // namespace yodel
