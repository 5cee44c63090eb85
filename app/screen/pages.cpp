#include "app/screen/pages.hpp"

#include "app/protocol/end_text.hpp"
#include "app/screen/status_line.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json_reader.hpp"
#include "app/text/units.hpp"
#include "ui/glyphs.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace yodel {

using ui::Style;

namespace {

// Maximum bytes of a message on a page. If the first difference is beyond them, the page begins
// about `shown_bytes_before` bytes before it.
constexpr std::size_t max_bytes = 16 * 1024;
constexpr std::size_t shown_bytes_before = 128;
// Maximum bytes of a message that is shown as JSON, because the page is composed for each
// drawing.
constexpr std::size_t max_json = 64 * 1024;
constexpr std::size_t no_byte = std::string::npos;

// Returns the number of leading bytes that fit into `width` columns: whole words if possible,
// and at least one cell. The caller skips a blank after them.
std::size_t fitting_size(std::string_view bytes, int width) {
    std::size_t end = ui::next_cell(bytes, 0);
    while (end < bytes.size() &&
           ui::display_width(bytes.substr(0, ui::next_cell(bytes, end))) <= width)
        end = ui::next_cell(bytes, end);
    if (end == bytes.size() || bytes[end] == ' ') return end;
    const std::size_t blank = bytes.rfind(' ', end - 1);
    return blank == bytes.npos ? end : blank + 1;
}

std::string repeated(const std::string& text, std::uint64_t count) {
    std::string all;
    for (std::uint64_t i = 0; i < count; ++i) all += text;
    return all;
}

// Adds a row for each power of two microseconds, from the fastest round trip to the slowest.
void add_histogram(PageRows& page, const Histogram& times) {
    struct Step {
        ev::Duration end;
        std::uint64_t count;
    };
    std::vector<Step> steps;
    ev::Duration end = std::chrono::microseconds(1);
    std::uint64_t below = 0;
    std::uint64_t max = 0;
    while (below < times.count() && end < ev::Duration::max() / 2) {
        const std::uint64_t all = times.count_below(end);
        if (all > 0) steps.push_back({end, all - below});
        max = std::max(max, all - below);
        below = all;
        end *= 2;
    }
    const auto max_width =
        static_cast<std::uint64_t>(std::max(page.width - fact_name_width - 12, 1));
    for (const Step& step : steps) {
        std::string bar;
        const std::uint64_t length = std::max<std::uint64_t>(step.count * max_width / max, 1);
        if (step.count > 0) bar = repeated(ui::glyph::block.text(), length) + " ";
        page.add_fact("< " + milliseconds_text(step.end), bar + std::to_string(step.count));
    }
}

void add_percentile_history(PageRows& page, const PercentileHistory& history) {
    page.add_title("Over time, one column per " + duration_text(PercentileHistory::period));
    const auto [p50, p95] = history.percentiles();
    for (const auto& [name, times] : {std::pair("p50", p50), {"p95", p95}}) {
        const auto highest = std::max_element(times.begin(), times.end());
        page.add_fact(name, sparkline(times) + " highest " + milliseconds_text(*highest));
    }
}

// Returns the row with one byte marked as bad, both in hex and as text.
ui::Row marked_row(const ui::HexRow& row, std::size_t byte) {
    const std::size_t number = row.hex_column(byte);
    const std::size_t letter = row.text_column(byte);
    return {{row.text.substr(0, number)},
            {row.text.substr(number, 2), Style::bad_byte},
            {row.text.substr(number + 2, letter - number - 2)},
            {row.text.substr(letter, 1), Style::bad_byte},
            {row.text.substr(letter + 1)}};
}

// The part of a message that a page shows.
struct Window {
    std::string_view bytes;
    std::size_t marked;  // offset of the byte to mark
    std::size_t begin =
        marked != no_byte && marked >= max_bytes ? (marked - shown_bytes_before) / 16 * 16 : 0;
    std::size_t end = std::min(bytes.size(), begin + max_bytes);
};

void add_hex(PageRows& page, const Window& window) {
    for (const ui::HexRow& row :
         ui::hex_dump(window.bytes, page.width, window.begin, window.end)) {
        const bool here = window.marked >= row.begin && window.marked < row.end;
        page.rows.push_back(here ? marked_row(row, window.marked) : ui::Row{{row.text}});
    }
}

// Adds a row for each line, and for each part of a line that is too long.
void add_text(PageRows& page, const Window& window) {
    ui::Row row;
    int used = 0;
    const auto end_row = [&] {
        page.rows.push_back(std::exchange(row, {}));
        used = 0;
    };
    ui::Cells cells(window.bytes.substr(0, window.end), window.begin);
    while (const auto cell = cells.next()) {
        const bool here = window.marked >= cell->begin && window.marked < cell->end;
        const bool newline = window.bytes[cell->begin] == '\n';
        if (used + cell->width > page.width) end_row();
        used += cell->width;
        if (here || !newline)
            ui::append(row, cell->text,
                       here            ? Style::bad_byte
                       : cell->escaped ? Style::escaped
                                       : Style::normal);
        if (newline) end_row();
    }
    if (!row.empty()) end_row();
}

// Adds the part of a message around the byte to mark, and how much precedes and follows it.
void add_part(PageRows& page, const Window& window, void (*add)(PageRows&, const Window&)) {
    const auto add_rest = [&page](std::size_t size, const char* where) {
        if (size > 0) page.rows.push_back({{bytes_text(size) + " " + where, Style::dim}});
    };
    add_rest(window.begin, "before");
    add(page, window);
    add_rest(window.bytes.size() - window.end, "more");
}

// Adds one side of an exchange as text or indented JSON, and in hex. Marks the byte at offset
// `marked`.
void add_side(PageRows& page, const std::string& name, std::string_view bytes,
              std::size_t marked) {
    std::size_t json_marked = marked;
    const auto json =
        bytes.size() > max_json ? std::nullopt : indented_json(bytes, json_marked);
    page.add_title(name + ", " + bytes_text(bytes.size()) + (json ? ", indented as JSON" : ""));
    add_part(page, json ? Window{*json, json_marked} : Window{bytes, marked}, add_text);
    add_part(page, {bytes, marked}, add_hex);
}

std::string phases_text(const Session& session) {
    const Session::Phases& phases = session.phases();
    std::string text = "look-up " + milliseconds_text(phases.lookup);
    if (session.options().framing->in_datagrams) return text;
    text += ", TCP " + milliseconds_text(phases.tcp);
    if (!phases.handshake) return text;
    return text + ", " + session.options().handshake() + " " +
           milliseconds_text(*phases.handshake);
}

void add_tcp(PageRows& page, const bufio::TcpFacts& tcp, const Histogram& times) {
    page.add_title("TCP");
    if (tcp.min_rtt)
        page.add_fact("network", "minimum round trip " + milliseconds_text(*tcp.min_rtt));
    if (tcp.min_rtt && times.count() > 0)
        page.add_fact("p50", network_share_text(times.percentile(50), *tcp.min_rtt));
    page.add_fact("segments",
                  std::to_string(tcp.mss) + " bytes, cwnd " + std::to_string(tcp.cwnd) +
                      " at once, " + std::to_string(tcp.retransmits) + " retransmitted",
                  tcp.retransmits > 0 ? Style::warn : Style::normal);
}

// Adds the lines of the opening handshake.
void add_websocket(PageRows& page, const websocket::Facts& facts) {
    for (const auto& [title, text] :
         {std::pair("WebSocket request", std::string_view(facts.request)),
          {"WebSocket response", std::string_view(facts.response)}}) {
        if (text.empty()) continue;
        page.add_title(title);
        for (std::size_t at = 0, end = 0; at + 2 < text.size(); at = end + 2) {
            end = text.find("\r\n", at);
            page.add_fact("", text.substr(at, end - at));
        }
    }
}

void add_tls(PageRows& page, const bufio::TlsFacts& tls) {
    if (!tls.version.empty()) {
        page.add_title("TLS");
        page.add_fact("version",
                      tls.version + ", " + tls.cipher + (tls.resumed ? ", resumed" : ""));
        if (!tls.group.empty()) page.add_fact("group", tls.group);
    }
    if (!tls.alpn.empty()) page.add_fact("protocol", tls.alpn);
    if (tls.subject.empty()) return;
    page.add_title("Certificate");
    const bool verified = tls.faults_text.empty();
    page.add_fact("verified", verified ? "yes" : "no: it " + tls.faults_text,
                  verified ? Style::good : Style::bad);
    page.add_fact("subject", tls.subject);
    page.add_fact("issuer", tls.issuer);
    page.add_fact("valid until", certificate_end_text(tls),
                  tls.days_left < 14 ? Style::warn : Style::normal);
    page.add_fact("pin", "--pinnedpubkey " + tls.pin);
    for (const std::string& link : tls.chain) page.add_fact("chain", link);
}

// Adds the times of a message, including the delay until the system accepted it, for example
// because the server read too slowly.
void add_times(PageRows& page, const Exchange& exchange) {
    if (exchange.write_delay > ev::Duration::zero())
        page.add_fact("written",
                      milliseconds_text(exchange.write_delay) +
                          " later; the round trip is measured from then",
                      Style::warn);
    if (exchange.answered_at) page.add_fact("received", clock_text(*exchange.answered_at));
    if (exchange.round_trip)
        page.add_fact("round trip", exchange.network_round_trip
                                        ? network_share_text(*exchange.round_trip,
                                                             *exchange.network_round_trip)
                                        : milliseconds_text(*exchange.round_trip));
}

// Aligns the figures of a column to the right.
std::string aligned(const std::string& figure) { return format("%9s", figure.c_str()); }

void add_round_trips(PageRows& page, const Histogram& times) {
    const auto add = [&](const char* name, ev::Duration time) {
        page.add_fact(name, aligned(milliseconds_text(time)));
    };
    page.add_title("Round trips (percentiles within 1 %)");
    add("min", times.min());
    for (const auto& [name, percent] : {std::pair("p50", 50.0), {"p95", 95.0}, {"p99", 99.0}})
        add(name, times.percentile(percent));
    add("max", times.max());
}

}  // namespace

void PageRows::add_title(const std::string& title) {
    if (!rows.empty()) rows.emplace_back();
    rows.push_back({{title, Style::bold}});
}

void PageRows::add_fact(const std::string& name, std::string_view value, Style style) {
    const int value_width = std::max(width - fact_name_width, 1);
    ui::Row row{{name, Style::dim}};
    if (ui::display_width(row) >= fact_name_width) {
        rows.push_back(std::move(row));
        row = {};
    }
    do {
        const std::size_t size = fitting_size(value, value_width);
        ui::pad(row, fact_name_width);
        ui::append_bytes(row, value.substr(0, size), style);
        rows.push_back(std::move(row));
        row = {};
        value.remove_prefix(size);
        if (value.starts_with(' ')) value.remove_prefix(1);
    } while (!value.empty());
}

Rows statistics_page(const Results& results, const PercentileHistory& history, int width) {
    PageRows page(width);
    const auto add_count = [&](const char* name, std::uint64_t count,
                               Style style = Style::normal) {
        page.add_fact(name, aligned(std::to_string(count)), count > 0 ? style : Style::normal);
    };
    page.add_title("Messages");
    add_count("sent", results.sent);
    add_count("echoed", results.echoed);
    add_count("bad", results.bad, Style::bad);
    add_count("lost", results.lost, Style::bad);
    add_count("late", results.late);
    add_count("unsolicited", results.unsolicited);
    if (results.over_datagrams) {
        add_count("duplicate", results.duplicates);
        page.add_fact("order", aligned(std::to_string(results.reordered)) + " reordered");
        page.add_fact("jitter", aligned(milliseconds_text(results.jitter())) + " (RFC 3550)");
    }
    if (results.round_trips.count() == 0) return page.rows;
    add_round_trips(page, results.round_trips);
    if (ui::utf8_locale()) add_percentile_history(page, history);
    page.add_title("Distribution");
    add_histogram(page, results.round_trips);
    return page.rows;
}

Rows recording_page(const Recording& recording, std::uint64_t count, int width) {
    PageRows page(width);
    page.add_title("Recording");
    page.add_fact("file", recording.name);
    page.add_fact("messages", std::to_string(count));
    page.add_fact("began", date_text(recording.started));
    const std::string& trouble = recording.trouble.text;
    if (!trouble.empty()) page.add_fact("damage", trouble, Style::bad);
    return page.rows;
}

Rows connection_page(const Session& session, const Results& results, const std::string& key_log,
                     const std::string& sandbox, int width) {
    PageRows page(width);
    page.add_title("Connection");
    const Session::Options& options = session.options();
    page.add_fact("target", options.target());
    if (session.address().family() != AF_UNSPEC) {
        page.add_fact("address", session.address().text());
        if (!options.listens()) page.add_fact("took", phases_text(session));
    }
    page.add_fact("framing", options.framing->name);
    page.add_fact("expect", word_of(options.expect));
    page.add_fact("timeouts", "connect " + duration_text(options.connect_timeout) + ", reply " +
                                  duration_text(options.reply_timeout));
    if (session.end())
        page.add_fact("ended", end_text(session),
                      exit_status(session.end()) == 0 ? Style::normal : Style::bad);
    if (!key_log.empty())
        page.add_fact("secrets", "written to " + key_log + " (SSLKEYLOGFILE)", Style::warn);
    if (!sandbox.empty()) page.add_fact("sandbox", sandbox);
    if (const auto facts = session.tcp()) add_tcp(page, *facts, results.round_trips);
    if (const bufio::TlsFacts* const tls = session.tls()) add_tls(page, *tls);
    if (const websocket::Facts* const facts = session.websocket()) add_websocket(page, *facts);
    return page.rows;
}

Rows message_page(const Exchange& exchange, int width) {
    PageRows page(width);
    const bool bad = exchange.answered_at && exchange.id != 0 && !exchange.right;
    const std::size_t marked = exchange.difference.value_or(no_byte);
    page.add_title(exchange.id == 0 ? "Unsolicited" : "Message " + std::to_string(exchange.id));
    if (exchange.sent_at) page.add_fact("sent", clock_text(*exchange.sent_at));
    add_times(page, exchange);
    if (!exchange.answered_at) page.add_fact("reply", "none yet", Style::bad);
    if (exchange.late) page.add_fact("reply", "late, after the reply timeout", Style::warn);
    if (bad) page.add_fact("reply", differs_text(exchange.difference), Style::bad);
    if (exchange.id != 0) add_side(page, "Sent", exchange.payload, marked);
    if (exchange.answered_at && exchange.right && exchange.reply == exchange.payload)
        page.add_title("Received: identical");
    else if (exchange.answered_at)
        add_side(page, "Received", exchange.reply, marked);
    return page.rows;
}

}  // namespace yodel
