#include "app/screen/status_line.hpp"

#include "app/screen/signs.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace yodel {

using State = Session::State;
using ui::Style;

namespace {

std::string tenths_text(ev::Duration duration) {
    return format("%.1fs", std::chrono::duration<double>(duration).count());
}

// Returns a word or two. A note among the messages contains the whole sentence.
std::string reason_words(const bufio::End& end) {
    switch (end.reason) {
    case bufio::Reason::lookup: return "unknown host";
    case bufio::Reason::refused: return "refused";
    case bufio::Reason::connect: return "unreachable";
    case bufio::Reason::timeout: return "timed out";
    case bufio::Reason::closed_early: return "server closed";
    default: return "connection lost";
    }
}

// Returns words for a failure that the connection page explains, or an empty text for any other
// failure. They include the date of an expired certificate even if it has other faults.
std::string explained_words(const Session& session) {
    const bufio::TlsFacts* const tls = session.tls();
    switch (session.end().reason) {
    case bufio::Reason::certificate:
        if (!tls || !tls->is_expired) return "CERT REFUSED";
        return (tls->fault_count == 1 ? "CERT EXPIRED "
                : tls->is_untrusted   ? "CERT UNTRUSTED, EXPIRED "
                                      : "CERT REFUSED, EXPIRED ") +
               tls->not_after;
    case bufio::Reason::own_certificate:
        return tls && tls->lacks_own_certificate ? "CLIENT CERT REQUIRED"
                                                 : "CLIENT CERT REFUSED";
    case bufio::Reason::pin: return "PIN DIFFERS";
    default: return {};
    }
}

void add_tls(const auto& add, const bufio::TlsFacts& tls) {
    std::string version = tls.version;
    std::erase(version, 'v');  // TLS1.3
    add(Rank::target, version);
    if (!tls.group.empty()) add(Rank::detail, tls.group);
    if (tls.not_after.empty()) return;  // the peer has no certificate
    if (!tls.faults_text.empty())
        return add(Rank::trust, status_word::unverified, Style::status_bad);
    const bool is_expiring = tls.days_left < 14;
    add(is_expiring ? Rank::trust : Rank::detail,
        tls.is_expired ? "CERT EXPIRED " + tls.not_after
                       : glyph::right.text() + std::to_string(tls.days_left) + "d",
        is_expiring ? Style::status_warn : Style::status);
}

void add_counts(const auto& add, const Session& session, const Results& results) {
    const auto count = [&](std::uint64_t number, const std::string& sign,
                           int rank = Rank::count, Style style = Style::status) {
        add(rank, std::to_string(number) + sign, style);
    };
    count(results.sent, glyph::outgoing.text());
    if (session.options().listens()) return count(results.unsolicited, glyph::incoming.text());
    count(results.echoed, glyph::incoming.text());
    count(session.in_flight(), glyph::in_flight.text());
    for (const auto& [number, sign] :
         {std::pair(results.bad, glyph::bad), {results.lost, glyph::lost}})
        count(number, sign.text(), number > 0 ? Rank::failure : Rank::count,
              number > 0 ? Style::status_bad : Style::status);
    for (const auto& [number, sign] :
         {std::pair(results.unsolicited, glyph::unsolicited.text()),
          {results.duplicates, std::string(" ") + status_word::duplicate},
          {results.reordered, std::string(" ") + status_word::reordered}})
        if (number > 0) count(number, sign, Rank::count, Style::status_warn);
}

ui::Row row_of(const std::set<const Part*>& parts, const Separators& separators) {
    ui::Row row;
    int group = 0;
    for (const Part* const part : parts) {
        const bool is_same = part->group == group;
        if (!row.empty())
            ui::append(row, is_same ? separators.parts : separators.groups, separators.style);
        ui::append_escaped(row, part->text, part->style);
        group = part->group;
    }
    return row;
}

}  // namespace

ui::Row fit(const std::vector<Part>& parts, int width, const Separators& separators) {
    std::multimap<int, const Part*> by_rank;  // parts of the same rank keep their order
    for (const Part& part : parts) by_rank.emplace(part.rank, &part);
    std::set<const Part*> chosen;  // sorted by address, which is the order in `parts`
    std::set<int> full_groups;
    for (const auto& [rank, part] : by_rank) {
        if (full_groups.count(part->group) > 0) continue;
        chosen.insert(part);
        if (rank == 0 || ui::display_width(row_of(chosen, separators)) <= width) continue;
        chosen.erase(part);
        full_groups.insert(part->group);
    }
    ui::Row row = row_of(chosen, separators);
    ui::truncate(row, width);
    return row;
}

std::string elapsed_text(ev::Duration duration, int minute_digits) {
    const auto all = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
    const auto hours = static_cast<int>(all / 3600);
    const auto minutes = static_cast<int>(all / 60 % 60);
    const auto seconds = static_cast<int>(all % 60);
    if (hours == 0) return format("%0*d:%02d", minute_digits, minutes, seconds);
    return format("%d:%02d:%02d", hours, minutes, seconds);
}

std::string state_words(const Session& session, ev::Time now) {
    const ev::Duration elapsed = now - session.state_began_at();
    const std::string limit = "/" + duration_text(session.options().connect_timeout);
    switch (session.state()) {
    case State::dialing:
        if (session.options().listens()) return session.phase();
        return session.phase() + " " + tenths_text(elapsed) + limit;
    case State::handshaking: return "handshake " + tenths_text(elapsed);
    case State::open:
        if (session.is_peer_known())
            return session.is_peer_half_closed() && !session.options().listens()
                       ? "half-closed (server)"
                       : "up " + elapsed_text(elapsed, 2);
        // An open datagram socket does not prove that a server is there; a reply does.
        return session.end() ? reason_words(session.end()) + "; send to try again"
                             : "ready " + elapsed_text(elapsed, 2);
    case State::finishing: return "closing " + tenths_text(elapsed);
    case State::waiting:
        return reason_words(session.end()) + "; retry " +
               std::to_string(session.retry_count()) + " in " +
               tenths_text(session.retry_at() - now) + " (F5 now)";
    case State::idle:  // never shown
    case State::closed: break;
    }
    const std::string words = explained_words(session);
    return words.empty() ? "closed: " + end_text(session) : words + " (M-i shows it)";
}

// Pads round-trip times to four columns, enough below ten seconds, so that the following parts
// stay in place.
std::vector<Part> status_parts(const Session& session, const Results& results,
                               const std::deque<ev::Duration>& recent_round_trips,
                               ev::Time now) {
    const Session::Options& options = session.options();
    const bool is_open = session.state() == State::open;
    std::vector<Part> parts;
    int group = StatusGroup::connection;
    const auto add = [&](int rank, std::string text, Style style = Style::status) {
        parts.push_back({std::move(text), rank, style, group});
    };
    const std::string words = " " + ui::printable(state_words(session, now));
    if (is_open && session.is_peer_known())
        add(Rank::state, glyph::connected.text() + words,
            session.is_peer_half_closed() ? Style::status_warn : Style::status);
    else
        add(Rank::state, glyph::disconnected.text() + words,
            exit_status(session.end()) != 0 ? Style::status_bad : Style::status);
    // Without a connection the target matters more than the counters.
    if (!options.listens() || session.state() != State::dialing)
        add(is_open ? Rank::target : Rank::mode, ui::printable(options.target()));
    const bool is_pin_refused =
        session.end().reason == bufio::Reason::pin;  // TLS facts exist, but no message was sent
    if (const bufio::TlsFacts* const tls = session.tls();
        tls && !tls->version.empty() && !is_pin_refused)
        add_tls(add, *tls);
    add(Rank::detail, std::string(options.framing->name));
    group = StatusGroup::counts;
    add_counts(add, session, results);
    if (recent_round_trips.empty()) return parts;
    group = StatusGroup::times;
    const auto padded = [](ev::Duration time) {
        return format("%4s", milliseconds_number(time).c_str());
    };
    add(Rank::time, padded(recent_round_trips.back()) + "ms");
    if (ui::is_utf8_locale()) add(Rank::round_trips, sparkline(recent_round_trips));
    for (const auto& [name, percent] :
         {std::pair("p50 ", 50.0), {"p95 ", 95.0}, {"p99 ", 99.0}})
        add(Rank::round_trips, name + padded(results.round_trips.percentile(percent)));
    return parts;
}

std::string sparkline(const std::deque<ev::Duration>& times) {
    const auto longest =
        std::max(*std::max_element(times.begin(), times.end()), ev::Duration(1));
    std::string text;
    for (const ev::Duration time : times)
        text += bar_heights[std::min<std::int64_t>(time * 8 / longest, 7)];
    return text;
}

// --- Hints.

std::string_view connection_hints(const Session& session, bool has_sent_before) {
    const Expect expect = session.options().expect;
    switch (session.state()) {
    case State::open:
        if (has_sent_before) return {};
        if (expect == Expect::none) return "F1 help; ^D quits; Enter sends a line";
        if (expect == Expect::any)
            return "F1 help; ^D quits; Enter sends a line; its reply is timed";
        return "F1 help; ^D quits; Enter sends a line; its echo is timed";
    case State::idle:
    case State::dialing:
    case State::handshaking:
        return "F1 help; ^D quits; ^C cancels; lines are sent once connected";
    case State::waiting:
        return "F1 help; ^D quits; F5 retries now; lines are sent once connected";
    case State::finishing: return "F1 help; ^D quits now; F8 disconnects; F5 reconnects";
    case State::closed: break;
    }
    if (!explained_words(session).empty())
        return "F1 help; ^D quits; F3 shows why; F5 reconnects";
    if (reconnects_to_send(session))
        return "F1 help; ^D quits; Enter sends a line, and connects again";
    return "F1 help; ^D quits; F5 reconnects; lines are sent once connected";
}

bool reconnects_to_send(const Session& session) {
    return session.state() == State::closed && !session.options().listens() &&
           session.end().reason != bufio::Reason::aborted;
}

void append_hints(ui::Row& row, std::string_view hints, int width) {
    const int space = std::max(width - ui::display_width(row), 0);
    while (static_cast<int>(hints.size()) > space) {
        const std::size_t end = hints.rfind("; ");
        if (end == hints.npos && row.empty()) break;
        hints = hints.substr(0, end == hints.npos ? 0 : end);
    }
    ui::append(row, hints, Style::dim);
    ui::truncate(row, width);
}

}  // namespace yodel
