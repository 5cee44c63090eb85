#include "app/screen/pages.hpp"

#include "app/screen/status_line.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "ui/glyphs.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace yodel {

using ui::Style;

namespace {

// The bytes of a message that a page shows. If the difference is further in, the page begins
// this many bytes before it.
constexpr std::size_t most_bytes = 16 * 1024;
constexpr std::size_t bytes_before = 128;
constexpr std::size_t nowhere = std::string::npos;

// Returns the number of bytes at the front that fit into `width` columns: whole words if
// possible, and at least one cell. A blank behind them is for the caller to skip.
std::size_t fitting(std::string_view bytes, int width) {
    std::size_t end = ui::next_cell(bytes, 0);
    while (end < bytes.size() &&
           ui::display_width(bytes.substr(0, ui::next_cell(bytes, end))) <= width)
        end = ui::next_cell(bytes, end);
    if (end == bytes.size() || bytes[end] == ' ') return end;
    const std::size_t blank = bytes.rfind(' ', end - 1);
    return blank == bytes.npos ? end : blank + 1;
}

// A bar of up to `width` columns.
std::string bar(std::uint64_t count, std::uint64_t most, int width) {
    const auto length =
        static_cast<int>(count * static_cast<std::uint64_t>(std::max(width, 1)) / most);
    std::string text;
    for (int i = 0; i < std::max(length, 1); ++i) text += ui::glyph::block.text();
    return text;
}

// A row for each doubling of a microsecond, from the fastest round trip to the slowest.
void add_histogram(Rows& rows, const Histogram& times, int width) {
    struct Step {
        ev::Duration end;
        std::uint64_t count;
    };
    std::vector<Step> steps;
    ev::Duration end = std::chrono::microseconds(1);
    std::uint64_t below = 0;
    while (below < times.count() && end < ev::Duration::max() / 2) {
        const std::uint64_t count = times.count_below(end);
        if (count > 0) steps.push_back({end, count - below});
        below = count;
        end *= 2;
    }
    const auto most =
        std::max_element(steps.begin(), steps.end(),
                         [](const Step& a, const Step& b) { return a.count < b.count; });
    for (const Step& step : steps) {
        const std::string count = std::to_string(step.count);
        const std::string drawn =
            step.count == 0 ? "" : bar(step.count, most->count, width - fact_name_width - 12);
        add_fact(rows, "< " + ms_text(step.end), drawn + (drawn.empty() ? "" : " ") + count,
                 width);
    }
}

void add_percentile_history(Rows& rows, const PercentileHistory& history, int width) {
    add_title(rows,
              "Over time, a column for every " + duration_text(PercentileHistory::period));
    const auto [p50, p95] = history.percentiles();
    for (const auto& [name, times] : {std::pair("p50", p50), {"p95", p95}}) {
        const auto highest = std::max_element(times.begin(), times.end());
        add_fact(rows, name, sparkline(times) + " highest " + ms_text(*highest), width);
    }
}

void add_hex(Rows& rows, std::string_view bytes, std::size_t marked, int width) {
    const bool far_in = marked != nowhere && marked >= most_bytes;
    const std::size_t begin = far_in ? (marked - bytes_before) / 16 * 16 : 0;
    const std::size_t end = std::min(bytes.size(), begin + most_bytes);
    const auto add_rest = [&rows](std::size_t size, const char* where) {
        if (size > 0) rows.push_back({{bytes_text(size) + " " + where, Style::dim}});
    };
    add_rest(begin, "before");
    for (const ui::HexRow& row : ui::hex_dump(bytes, width, begin, end)) {
        const bool here = marked >= row.begin && marked < row.end;
        rows.push_back({{row.text, here ? Style::bad : Style::normal}});
    }
    add_rest(bytes.size() - end, "more");
}

void add_side(Rows& rows, const std::string& name, std::string_view bytes, std::size_t marked,
              int width) {
    add_title(rows, name + ", " + bytes_text(bytes.size()));
    add_hex(rows, bytes, marked, width);
}

std::string phases_text(const Session& session) {
    const Session::Phases& phases = session.phases();
    std::string text = "look-up " + ms_text(phases.lookup);
    if (session.options().framing->datagrams) return text;
    text += ", TCP " + ms_text(phases.tcp);
    return phases.tls ? text + ", TLS " + ms_text(*phases.tls) : text;
}

void add_tcp(Rows& rows, const bufio::TcpFacts& tcp, const Histogram& times, int width) {
    add_title(rows, "TCP");
    if (tcp.min_rtt)
        add_fact(rows, "network", "round trips from " + ms_text(*tcp.min_rtt), width);
    if (tcp.min_rtt && times.count() > 0)
        add_fact(rows, "p50", shares_text(times.percentile(50), *tcp.min_rtt), width);
    add_fact(rows, "segments",
             std::to_string(tcp.mss) + " bytes, " + std::to_string(tcp.cwnd) + " at once, " +
                 std::to_string(tcp.retransmits) + " of ours resent",
             width, tcp.retransmits > 0 ? Style::warn : Style::normal);
}

void add_tls(Rows& rows, const bufio::TlsFacts& tls, int width) {
    if (!tls.version.empty()) {
        add_title(rows, "TLS");
        add_fact(rows, "version",
                 tls.version + ", " + tls.cipher + (tls.resumed ? ", resumed" : ""), width);
        if (!tls.group.empty()) add_fact(rows, "group", tls.group, width);
    }
    if (!tls.alpn.empty()) add_fact(rows, "protocol", tls.alpn, width);
    if (tls.subject.empty()) return;
    add_title(rows, "Certificate");
    const bool verified = tls.unverified.empty();
    add_fact(rows, "verified", verified ? "yes" : "no: it " + tls.unverified, width,
             verified ? Style::good : Style::bad);
    add_fact(rows, "subject", tls.subject, width);
    add_fact(rows, "issuer", tls.issuer, width);
    add_fact(rows, "ends", certificate_end(tls), width,
             tls.days_left < 14 ? Style::warn : Style::normal);
    add_fact(rows, "pin", "--pinnedpubkey " + tls.pin, width);
    for (const std::string& link : tls.chain) add_fact(rows, "chain", link, width);
}

// The times of a message. The written one is not that of sending where the peer took nothing
// for a while.
void add_times(Rows& rows, const Exchange& exchange, int width) {
    if (exchange.waited > ev::Duration::zero())
        add_fact(rows, "written", ms_text(exchange.waited) + " later", width, Style::warn);
    if (exchange.answered) add_fact(rows, "received", clock_text(exchange.answered_at), width);
    if (exchange.round_trip)
        add_fact(rows, "round trip",
                 exchange.network ? shares_text(*exchange.round_trip, *exchange.network)
                                  : ms_text(*exchange.round_trip),
                 width);
    if (exchange.resent)
        add_fact(rows, "resent", "a segment of ours was sent again meanwhile", width,
                 Style::warn);
}

void add_datagrams(Rows& rows, const Results& datagrams, int width) {
    add_fact(rows, "twice", std::to_string(datagrams.twice), width);
    add_fact(rows, "order", std::to_string(datagrams.out_of_order) + " out of order", width);
    add_fact(rows, "jitter", ms_text(datagrams.jitter()) + " (RFC 3550)", width);
}

}  // namespace

void add_title(Rows& rows, const std::string& title) {
    if (!rows.empty()) rows.emplace_back();
    rows.push_back({{title, Style::bold}});
}

void add_fact(Rows& rows, const std::string& name, std::string_view value, int width,
              Style style) {
    const int value_width = std::max(width - fact_name_width, 1);
    ui::Row row{{name, Style::dim}};
    if (ui::display_width(row) >= fact_name_width) {
        rows.push_back(std::move(row));
        row = {};
    }
    do {
        const std::size_t size = fitting(value, value_width);
        ui::pad(row, fact_name_width);
        ui::append_bytes(row, value.substr(0, size), style);
        rows.push_back(std::move(row));
        row = {};
        value.remove_prefix(size);
        if (value.starts_with(' ')) value.remove_prefix(1);
    } while (!value.empty());
}

Rows statistics_page(const Results& results, const PercentileHistory& history, int width) {
    Rows rows;
    add_title(rows, "Messages");
    add_fact(rows, "sent", std::to_string(results.sent), width);
    add_fact(rows, "echoed", std::to_string(results.echoed), width);
    add_fact(rows, "bad", std::to_string(results.bad), width,
             results.bad > 0 ? Style::bad : Style::normal);
    add_fact(rows, "lost", std::to_string(results.lost), width,
             results.lost > 0 ? Style::bad : Style::normal);
    add_fact(rows, "late", std::to_string(results.late), width);
    add_fact(rows, "unsolicited", std::to_string(results.unsolicited), width);
    if (results.datagrams) add_datagrams(rows, results, width);
    const Histogram& times = results.round_trips;
    if (times.count() == 0) return rows;
    add_title(rows, "Round trips (percentiles within 1 %)");
    add_fact(rows, "min", ms_text(times.min()), width);
    for (const auto& [name, percent] : {std::pair("p50", 50.0), {"p95", 95.0}, {"p99", 99.0}})
        add_fact(rows, name, ms_text(times.percentile(percent)), width);
    add_fact(rows, "max", ms_text(times.max()), width);
    if (ui::utf8_locale()) add_percentile_history(rows, history, width);
    add_title(rows, "Distribution");
    add_histogram(rows, times, width);
    return rows;
}

Rows connection_page(const Session& session, const Results& results, const std::string& key_log,
                     const std::string& sandbox, int width) {
    Rows rows;
    add_title(rows, "Connection");
    const Session::Options& options = session.options();
    add_fact(rows, "target", options.endpoint.text(), width);
    if (session.address().family() != AF_UNSPEC) {
        add_fact(rows, "address", session.address().text(), width);
        add_fact(rows, "took", phases_text(session), width);
    }
    add_fact(rows, "framing", options.framing->name, width);
    add_fact(rows, "timeouts",
             "connect " + duration_text(options.connect_timeout) + ", reply " +
                 duration_text(options.reply_timeout),
             width);
    if (session.end())
        add_fact(rows, "ended", explain(session.end(), session.tls()), width,
                 exit_status(session.end()) == 0 ? Style::normal : Style::bad);
    if (!key_log.empty())
        add_fact(rows, "secrets", "written to " + key_log + " (SSLKEYLOGFILE)", width,
                 Style::warn);
    if (!sandbox.empty()) add_fact(rows, "sandbox", sandbox, width);
    if (const auto facts = session.tcp()) add_tcp(rows, *facts, results.round_trips, width);
    if (const bufio::TlsFacts* const tls = session.tls()) add_tls(rows, *tls, width);
    return rows;
}

Rows message_page(const Exchange& exchange, int width) {
    Rows rows;
    const bool wrong = exchange.answered && exchange.id != 0 && !exchange.right;
    const std::size_t marked = wrong ? exchange.difference : nowhere;
    add_title(rows,
              exchange.id == 0 ? "Unsolicited" : "Message " + std::to_string(exchange.id));
    const bool known = exchange.sent_at.time_since_epoch().count() != 0;
    if (known) add_fact(rows, "sent", clock_text(exchange.sent_at), width);
    add_times(rows, exchange, width);
    if (!exchange.answered) add_fact(rows, "reply", "none so far", width, Style::bad);
    if (wrong)
        add_fact(rows, "reply", "differs at byte " + std::to_string(exchange.difference), width,
                 Style::bad);
    if (exchange.id != 0) add_side(rows, "Sent", exchange.payload, marked, width);
    if (exchange.answered && exchange.right && exchange.reply == exchange.payload) {
        add_title(rows, "Received: the same");
    } else if (exchange.answered) {
        add_side(rows, "Received", exchange.reply, marked, width);
    }
    return rows;
}

}  // namespace yodel
