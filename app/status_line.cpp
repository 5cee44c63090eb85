#include "app/status_line.hpp"

#include "app/exit_status.hpp"
#include "app/signs.hpp"
#include "app/units.hpp"
#include "ui/text.hpp"

#include <algorithm>

namespace yodel {

using State = Session::State;
using ui::Style;

namespace {

// 00:12, or 1:02:03 after an hour.
std::string uptime_text(ev::Duration duration) {
    const auto all =
        static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(duration).count());
    if (all < 3600) return format("%02d:%02d", all / 60, all % 60);
    return format("%d:%02d:%02d", all / 3600, all / 60 % 60, all % 60);
}

std::string seconds_text(ev::Duration duration) {
    return format("%.1fs", std::chrono::duration<double>(duration).count());
}

// A word or two; the messages tell the rest.
std::string reason_words(const bufio::End& end) {
    switch (end.reason) {
    case bufio::Reason::lookup: return "unknown host";
    case bufio::Reason::connect:
        return end.text.find("refused") == std::string::npos ? "unreachable" : "refused";
    case bufio::Reason::timeout: return "timed out";
    case bufio::Reason::closed_early: return "server closed";
    default: return "connection lost";
    }
}

std::string closed_words(const Session& session) {
    const bufio::TlsFacts* const tls = session.tls();
    const std::string where = " (M-i shows it)";
    switch (session.end().reason) {
    case bufio::Reason::certificate:
        if (tls && tls->days_left < 0)
            return (tls->untrusted ? "CERT UNTRUSTED, EXPIRED " : "CERT EXPIRED ") +
                   tls->not_after + where;
        return "CERT REFUSED" + where;
    case bufio::Reason::own_certificate: return "CLIENT CERT REFUSED" + where;
    case bufio::Reason::pin: return "PIN DIFFERS" + where;
    default: return "closed: " + session.end().text;
    }
}

std::string waiting_words(const Session& session, ev::Time now) {
    return reason_words(session.end()) + "; retry " + std::to_string(session.retry()) + " in " +
           seconds_text(session.retry_time() - now) + " (M-r now)";
}

Style state_style(const Session& session) {
    if (session.state() == State::open)
        return session.input_ended() ? Style::status_warn : Style::status_good;
    return exit_status(session.end()) != 0 ? Style::status_bad : Style::status;
}

void add_tls(std::vector<ui::Span>& parts, const bufio::TlsFacts& tls) {
    std::string version = tls.version;
    std::erase(version, 'v');  // TLS1.3
    parts.push_back({version, Style::status});
    if (!tls.unverified.empty()) return parts.push_back({"UNVERIFIED (-k)", Style::status_bad});
    const long soon = 14;  // days
    parts.push_back({sign_right.text() + std::to_string(tls.days_left) + "d",
                     tls.days_left < soon ? Style::status_warn : Style::status});
}

void add_counts(std::vector<ui::Span>& parts, const Tally& tally, std::size_t in_flight) {
    const auto add = [&](std::uint64_t count, const std::string& sign,
                         Style style = Style::status) {
        parts.push_back({std::to_string(count) + sign, style});
    };
    parts.push_back(
        {sign_bar.text() + " " + std::to_string(tally.sent) + sign_out.text(), Style::status});
    add(tally.echoed, sign_in.text());
    add(in_flight, sign_open.text());
    add(tally.bad, sign_wrong.text(), tally.bad > 0 ? Style::status_bad : Style::status);
    add(tally.lost, "?", tally.lost > 0 ? Style::status_bad : Style::status);
    if (tally.unsolicited > 0) add(tally.unsolicited, sign_unasked.text(), Style::status_warn);
}

void add_times(std::vector<ui::Span>& parts, const Histogram& times,
               const std::deque<ev::Duration>& recent) {
    const auto add = [&](std::string text) {
        parts.push_back({std::move(text), Style::status});
    };
    add(sign_bar.text() + " " + milliseconds_text(recent.back()) + "ms");
    if (ui::utf8_locale()) add(sparkline(recent));
    for (const auto& [name, percent] :
         {std::pair("p50 ", 50.0), {"p95 ", 95.0}, {"p99 ", 99.0}})
        add(name + milliseconds_text(times.percentile(percent)));
}

}  // namespace

std::string state_words(const Session& session, ev::Time now) {
    const ev::Duration elapsed = now - session.since();
    const std::string limit = "/" + duration_text(session.options().connect_timeout);
    switch (session.state()) {
    case State::idle: return "idle";
    case State::dialing: return session.phase() + " " + seconds_text(elapsed) + limit;
    case State::handshaking: return "handshake " + seconds_text(elapsed);
    case State::open:
        return session.input_ended() ? "half-closed (server)" : "up " + uptime_text(elapsed);
    case State::finishing: return "closing " + seconds_text(elapsed);
    case State::waiting: return waiting_words(session, now);
    case State::closed: break;
    }
    return closed_words(session);
}

std::vector<ui::Span> status_parts(const Session& session, const Tally& tally,
                                   const std::deque<ev::Duration>& recent, ev::Time now) {
    const Sign& sign = session.state() == State::open ? sign_up : sign_down;
    std::vector<ui::Span> parts{
        {sign.text() + " " + ui::printable(state_words(session, now)), state_style(session)}};
    const Session::Options& options = session.options();
    const std::string scheme = !options.endpoint.path.empty() ? "unix:"
                               : options.tls                  ? "tls://"
                                                              : "tcp://";
    parts.push_back({ui::printable(scheme + options.endpoint.text()), Style::status});
    const bool refused = session.end().reason == bufio::Reason::pin;  // nothing was let pass
    if (const bufio::TlsFacts* const tls = session.tls();
        tls && !tls->version.empty() && !refused)
        add_tls(parts, *tls);
    parts.push_back({std::string(options.framing->name), Style::status});
    add_counts(parts, tally, session.in_flight());
    if (!recent.empty()) add_times(parts, tally.round_trips, recent);
    return parts;
}

ui::Row fit_status(const std::vector<ui::Span>& parts, int width) {
    ui::Row row;
    for (const ui::Span& part : parts) {
        const int used = ui::columns(row);
        if (!row.empty() && used + 1 + ui::columns(part.text) > width) break;
        if (!row.empty()) ui::pad(row, used + 1, Style::status);
        ui::append(row, part.text, part.style);
    }
    ui::cut(row, width);
    ui::pad(row, width, Style::status);
    return row;
}

std::string sparkline(const std::deque<ev::Duration>& times) {
    static constexpr const char* heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const auto most = std::max(*std::max_element(times.begin(), times.end()), ev::Duration(1));
    std::string text;
    for (const ev::Duration time : times)
        text += heights[std::min<std::int64_t>(time * 8 / most, 7)];
    return text;
}

}  // namespace yodel
