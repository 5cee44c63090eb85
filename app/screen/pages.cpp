#include "app/screen/pages.hpp"

#include "app/protocol/resp.hpp"
#include "app/screen/signs.hpp"
#include "app/screen/status_line.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <set>
#include <utility>

namespace yodel {

using ui::Style;

namespace {

// Maximum bytes of a message on a page. If the first difference is beyond them, the bytes
// shown begin about `shown_bytes_before` bytes before the difference.
constexpr std::size_t max_shown_bytes = 16 * 1024;
constexpr std::size_t shown_bytes_before = 128;
// A longer message is not decoded, because the page is composed again for each drawing.
constexpr std::size_t max_decoded_bytes = 64 * 1024;
constexpr std::size_t no_byte = std::string::npos;

bool is_failure(const Event& event) {
    const bool is_bad_and_late = event.fate == Fate::late && !event.reply.is_right;
    return event.fate == Fate::bad || event.fate == Fate::lost || is_bad_and_late;
}

// Adds a row for each power of two microseconds, from the fastest round trip to the slowest.
void add_histogram(PageRows& page, const Histogram& times) {
    using std::chrono::microseconds;
    std::map<int, std::uint64_t> counts;  // by the exponent of the row's upper end
    std::uint64_t max = 0;
    for (const auto& [upper_end, count] : times.buckets()) {
        const auto time = std::chrono::duration_cast<microseconds>(upper_end).count();
        const int row = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(time)));
        counts[row] += count;
        max = std::max(max, counts[row]);
    }
    const int max_width = std::max(page.width - fact_name_width - 12, 1);
    for (int row = counts.begin()->first; row <= counts.rbegin()->first; ++row) {
        const std::uint64_t count = counts[row];
        std::uint64_t length = count * static_cast<std::uint64_t>(max_width) / max;
        if (count > 0) length = std::max<std::uint64_t>(length, 1);
        std::string bar;
        for (; length > 0; --length) bar += glyph::block.text();
        page.add_fact("< " + milliseconds_text(microseconds(std::int64_t{1} << row)),
                      bar + (count > 0 ? " " : "") + std::to_string(count));
    }
}

// Adds at most `max_shown_bytes` bytes, which include the byte to mark, if any. Also adds how
// many bytes precede and follow them.
void add_part(PageRows& page, const ui::Needle& needle, std::string_view bytes,
              std::size_t marked_byte, bool is_hex) {
    const std::size_t begin = marked_byte != no_byte && marked_byte >= max_shown_bytes
                                  ? (marked_byte - shown_bytes_before) / 16 * 16
                                  : 0;
    const std::size_t end = std::min(bytes.size(), begin + max_shown_bytes);
    const auto add_rest = [&page](std::size_t size, const char* where) {
        if (size > 0) page.rows.push_back({{bytes_text(size) + " " + where, Style::dim}});
    };
    ui::Marks marks = needle.marks(bytes.substr(begin, end - begin));
    marks.resize(end - begin);
    if (marked_byte < end) marks[marked_byte - begin] = ui::bad_byte_mark;
    ui::Layout layout(static_cast<std::size_t>(page.width));
    if (is_hex)
        layout.put_hex(bytes.substr(0, end), Style::normal, marks, begin);
    else
        layout.put(bytes.substr(begin, end - begin), Style::normal, marks,
                   ui::Layout::Wrap::lines);
    add_rest(begin, "before");
    if (begin < end)
        page.rows.insert(page.rows.end(), layout.rows().begin(), layout.rows().end());
    add_rest(bytes.size() - end, "more");
}

// Adds a message or a reply as text and in hex. Decodes the text if it is JSON or, with
// `is_resp`, a Redis value.
void add_bytes(PageRows& page, const ui::Needle& needle, bool is_resp, const char* name,
               std::string_view bytes, std::size_t marked_byte) {
    std::size_t marked_text_byte = marked_byte;
    const char* form = ", indented as JSON";
    std::optional<std::string> text;
    if (bytes.size() <= max_decoded_bytes) text = indented_json(bytes, marked_text_byte);
    if (!text && is_resp && bytes.size() <= max_decoded_bytes) {
        text = resp_text(std::string(bytes) + "\r\n");
        marked_text_byte = no_byte;
        form = ", decoded as RESP";
    }
    page.add_title(name + (", " + bytes_text(bytes.size())) + (text ? form : ""));
    if (!text) marked_text_byte = marked_byte;
    add_part(page, needle, text ? *text : bytes, marked_text_byte, false);
    add_part(page, needle, bytes, marked_byte, true);
}

void add_tcp(PageRows& page, const bufio::TcpFacts& tcp, const Histogram& times) {
    page.add_title("TCP");
    if (tcp.min_rtt)
        page.add_fact("network", "minimum round trip " + milliseconds_text(*tcp.min_rtt));
    if (tcp.min_rtt && times.count() > 0)
        page.add_fact("p50", network_share_text(times.percentile(50), *tcp.min_rtt));
    page.add_fact("segments",
                  std::to_string(tcp.mss) + " bytes, at most " + std::to_string(tcp.cwnd) +
                      " in flight (cwnd), " + std::to_string(tcp.retransmits) +
                      " retransmitted",
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
                      tls.version + ", " + tls.cipher + (tls.is_resumed ? ", resumed" : ""));
        if (!tls.group.empty()) page.add_fact("group", tls.group);
    }
    if (!tls.alpn.empty()) page.add_fact("protocol", tls.alpn);
    if (tls.subject.empty()) return;
    page.add_title("Certificate");
    const bool is_verified = tls.faults_text.empty();
    page.add_fact("verified", is_verified ? "yes" : "no: it " + tls.faults_text,
                  is_verified ? Style::good : Style::bad);
    page.add_fact("subject", tls.subject);
    page.add_fact("issuer", tls.issuer);
    page.add_fact("valid until", certificate_end_text(tls),
                  tls.days_left < 14 ? Style::warn : Style::normal);
    page.add_fact("pin", "--pinnedpubkey " + tls.pin);
    for (const std::string& link : tls.chain) page.add_fact("chain", link);
}

// Adds a figure and the figure of the last minute, which may be empty.
void add_figure(PageRows& page, const char* name, const std::string& figure,
                const std::string& recent, Style style = Style::normal) {
    page.add_fact(name,
                  format("%9s", figure.c_str()) +
                      (recent.empty() ? "" : format(" %12s", recent.c_str())),
                  style);
}

void add_counts(PageRows& page, const Statistics& statistics, const Results* before) {
    const Results& results = statistics.results;
    page.add_title("Messages");
    if (before) add_figure(page, "", "total", "last minute", Style::dim);
    const auto add = [&](const char* name, std::uint64_t Results::*count,
                         Style style = Style::normal) {
        const std::uint64_t all = results.*count;
        // A lost message whose reply arrived late is no longer lost.
        const std::uint64_t recent = before ? all - std::min(all, before->*count) : 0;
        add_figure(page, name, std::to_string(all), before ? std::to_string(recent) : "",
                   all > 0 ? style : Style::normal);
    };
    add("sent", &Results::sent);
    if (statistics.listens) return add("received", &Results::unsolicited);
    add(statistics.expects_any ? "answered" : "echoed", &Results::echoed);
    add("bad", &Results::bad, Style::bad);
    add("lost", &Results::lost, Style::bad);
    add("late", &Results::late);
    add("unsolicited", &Results::unsolicited);
    if (!results.uses_datagrams) return;
    add("duplicate", &Results::duplicates);
    page.add_fact("order", format("%9s reordered", std::to_string(results.reordered).c_str()));
    page.add_fact("jitter",
                  format("%9s (RFC 3550)", milliseconds_text(results.jitter()).c_str()));
}

void add_notable(PageRows& page, const std::vector<Transcript::Entry>& notable,
                 std::optional<std::size_t> selected_index) {
    if (notable.empty()) return;
    page.add_title("Slowest, bad and lost messages");
    for (std::size_t i = 0; i < notable.size(); ++i) {
        const Event& event = *notable[i].event;
        std::string name = !is_failure(event) ? "" : has_reply(event.fate) ? "bad" : "lost";
        if (event.reply.round_trip)
            name += (name.empty() ? "" : " ") + milliseconds_text(*event.reply.round_trip);
        const std::string_view payload = event.message.payload;
        page.add_fact(name, excerpt(payload.substr(0, 256), payload.size()),
                      selected_index == i ? Style::selected : Style::normal);
    }
}

}  // namespace

void PageRows::add_title(const std::string& title) {
    if (!rows.empty()) rows.emplace_back();
    rows.push_back({{title, Style::bold}});
}

void PageRows::add_fact(const std::string& name, std::string_view value, Style style) {
    ui::Row row{{name, Style::dim}};
    if (ui::display_width(row) >= fact_name_width) rows.push_back(std::exchange(row, {}));
    ui::pad(row, fact_name_width);
    ui::Layout layout(static_cast<std::size_t>(std::max(width, fact_name_width + 1)));
    layout.put(row, ui::Layout::Wrap::anywhere);
    layout.indent_next_rows();
    layout.put(value, style, {}, ui::Layout::Wrap::words);
    rows.insert(rows.end(), layout.rows().begin(), layout.rows().end());
}

std::vector<Transcript::Entry> notable_entries(const Transcript& transcript) {
    constexpr std::size_t max_slow = 5;
    constexpr std::size_t max_failed = 20;
    std::multimap<ev::Duration, const Transcript::Entry*> slow;  // by the round trip
    std::vector<const Transcript::Entry*> failed;                // the newest first
    std::set<std::pair<ev::Time, std::uint64_t>> late;  // answered after they counted as lost
    const auto& all = transcript.entries();
    for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
        const Event& event = *entry->event;
        const std::pair key(event.message.planned_at, event.message.id);
        if (is_failure(event) && failed.size() < max_failed && !late.contains(key))
            failed.push_back(&*entry);
        if (event.fate == Fate::late) late.insert(key);
        if (event.fate != Fate::echoed || !event.reply.round_trip) continue;
        slow.emplace(*event.reply.round_trip, &*entry);
        if (slow.size() > max_slow) slow.erase(slow.begin());
    }
    std::vector<Transcript::Entry> notable;
    for (auto entry = slow.rbegin(); entry != slow.rend(); ++entry)
        notable.push_back(entry->second->copy());
    for (const Transcript::Entry* entry : failed) notable.push_back(entry->copy());
    return notable;
}

Rows statistics_page(const Statistics& statistics, int width) {
    const Results& results = statistics.results;
    const Histogram& times = results.round_trips;
    // The column of the last minute is omitted if it does not fit.
    const Results* const before = width < 36 ? nullptr : statistics.minute_ago;
    PageRows page{width};
    add_counts(page, statistics, before);
    if (times.count() > 0) {
        const Histogram recent = before ? times.since(before->round_trips) : Histogram();
        page.add_title("Round trips (percentiles within 1 %)");
        for (const char* const name : {"min", "p50", "p95", "p99", "max"})
            add_figure(page, name, milliseconds_text(*statistic(times, name)),
                       recent.count() > 0 ? milliseconds_text(*statistic(recent, name)) : "");
    }
    add_notable(page, statistics.notable, statistics.selected_index);
    if (times.count() == 0) return page.rows;
    if (ui::is_utf8_locale()) {
        page.add_title("Over time, one column per " + duration_text(PercentileHistory::period));
        for (const auto& [name, percent] : {std::pair("p50", 50.0), {"p95", 95.0}}) {
            const std::deque<ev::Duration> periods = statistics.history.percentiles(percent);
            const ev::Duration highest = *std::max_element(periods.begin(), periods.end());
            page.add_fact(name, sparkline(periods) + " highest " + milliseconds_text(highest));
        }
    }
    page.add_title("Distribution");
    add_histogram(page, times);
    return page.rows;
}

void add_connection(PageRows& page, const Session& session, const Results& results,
                    const std::string& key_log, const std::string& sandbox) {
    page.add_title("Connection");
    const Session::Options& options = session.options();
    page.add_fact("target", options.target());
    if (session.address().family() != AF_UNSPEC) {
        page.add_fact("address", session.address().text());
        const Session::Phases& phases = session.phases();
        std::string took = "look-up " + milliseconds_text(phases.lookup);
        if (!options.framing->uses_datagrams) took += ", TCP " + milliseconds_text(phases.tcp);
        if (phases.handshake)
            took += ", " + options.handshake() + " " + milliseconds_text(*phases.handshake);
        if (!options.listens()) page.add_fact("took", took);
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
}

// Also shows the delay, if there was one, until the system accepted the whole message, for
// example because the server read too slowly. The round trip does not include this delay.
Rows message_page(const Transcript::Entry& entry, bool is_resp, const ui::Needle& needle,
                  int width) {
    using std::chrono::system_clock;
    const Event& event = *entry.event;
    const Message& message = event.message;
    const Reply& reply = event.reply;
    const bool is_sent = has_message(event.fate);
    const bool is_answered = has_reply(event.fate);
    PageRows page{width};
    const std::size_t marked_byte = reply.difference.value_or(no_byte);
    const auto add = [&](const char* name, std::string_view bytes) {
        add_bytes(page, needle, is_resp, name, bytes, marked_byte);
    };
    page.add_title(is_sent          ? "Message " + std::to_string(message.id)
                   : reply.is_right ? "Received"
                                    : "Unsolicited");
    if (is_sent)
        page.add_fact("sent",
                      clock_text(entry.at - std::chrono::duration_cast<system_clock::duration>(
                                                event.at - message.planned_at)));
    const ev::Duration delay = message.sent_at - message.planned_at;
    if (is_answered && delay > ev::Duration::zero())
        page.add_fact("written",
                      milliseconds_text(delay) +
                          " later; the round trip of a typed message begins then",
                      Style::warn);
    if (is_answered) page.add_fact("received", clock_text(entry.at));
    if (is_answered && reply.round_trip)
        page.add_fact(is_sent ? "round trip" : "since sent",
                      entry.min_rtt ? network_share_text(*reply.round_trip, *entry.min_rtt)
                                    : milliseconds_text(*reply.round_trip));
    if (!is_answered) page.add_fact("reply", "none yet", Style::bad);
    if (event.fate == Fate::late)
        page.add_fact("reply", "late, after the reply timeout", Style::warn);
    if (is_answered && is_sent && !reply.is_right)
        page.add_fact("reply", differs_text(reply.difference), Style::bad);
    if (is_sent) add("Sent", message.payload);
    if (is_sent && reply.is_right && reply.payload == message.payload)
        page.add_title("Received: identical");
    else if (is_answered)
        add("Received", reply.payload);
    return page.rows;
}

}  // namespace yodel
