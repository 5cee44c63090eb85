#include "app/screen_client.hpp"

#include "app/exit_status.hpp"
#include "app/units.hpp"
#include "ui/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <utility>

namespace yodel {

using namespace std::chrono_literals;
using State = Session::State;
using ui::Style;

namespace {

// The shortest time between two drawings, which a flood of messages meets: about 60 a second.
constexpr ev::Duration frame_time = 16ms;
// For how long a second ^C quits.
constexpr ev::Duration quit_time = 2s;
// Columns in front of what was sent and received: those of 12:04:31.208.
constexpr std::size_t label_width = 12;

// Signs that are drawn where the locale has them, and what stands for them elsewhere.
struct Sign {
    const char* unicode;
    const char* ascii;
    operator std::string() const { return ui::utf8_locale() ? unicode : ascii; }
};
constexpr Sign sign_sent{"›", ">"};
constexpr Sign sign_received{"‹", "<"};
constexpr Sign sign_unasked{"«", "<<"};
constexpr Sign sign_right{"✓", "ok"};
constexpr Sign sign_wrong{"✗", "x"};
constexpr Sign sign_up{"●", "*"};
constexpr Sign sign_down{"○", "-"};
constexpr Sign sign_bar{"│", "|"};
constexpr Sign sign_out{"↑", "^"};
constexpr Sign sign_in{"↓", "v"};
constexpr Sign sign_open{"…", "~"};
constexpr Sign sign_becomes{"→", ">"};

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, arguments...);
    return text;
}

std::string clock_text() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    const std::time_t seconds = static_cast<std::time_t>(count / 1000);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    return format("%02d:%02d:%02d.%03d", parts.tm_hour, parts.tm_min, parts.tm_sec,
                  static_cast<int>(count % 1000));
}

std::string right_aligned(const std::string& text) {
    return std::string(label_width - std::min(label_width, text.size()), ' ') + text;
}

// 00:12, or 1:02:03 after an hour.
std::string uptime_text(ev::Duration duration) {
    const auto all =
        static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(duration).count());
    if (all < 3600) return format("%02d:%02d", all / 60, all % 60);
    return format("%d:%02d:%02d", all / 3600, all / 60 % 60, all % 60);
}

// Rounded to a tenth, so that it tells no more than it is drawn often.
std::string elapsed_text(ev::Duration duration) {
    return format("%.1fs", std::chrono::duration<double>(duration).count());
}

std::string difference_text(std::string_view sent, const Reply& reply) {
    const auto byte = [at = reply.difference](std::string_view bytes) {
        return at < bytes.size() ? format("%02x", static_cast<unsigned char>(bytes[at]))
                                 : "end";
    };
    return " " + std::string(sign_wrong) + " differs at byte " +
           std::to_string(reply.difference) + ": " + byte(sent) + std::string(sign_becomes) +
           byte(reply.payload);
}

}  // namespace

struct ScreenClient::Binding {
    ui::Chord chord;
    void (ScreenClient::*action)();
    const char* keys;  // as the help names them; null: named by the row above
    const char* help;
};

const ScreenClient::Binding ScreenClient::bindings[] = {
    {ui::plain(ui::KeyCode::enter), &ScreenClient::send_line, "Enter",
     "send (M-Enter: a newline in the message)"},
    {ui::plain(ui::KeyCode::up), &ScreenClient::older_line, "Up Down ^P ^N",
     "lines sent before"},
    {ui::ctrl('p'), &ScreenClient::older_line, nullptr, nullptr},
    {ui::plain(ui::KeyCode::down), &ScreenClient::newer_line, nullptr, nullptr},
    {ui::ctrl('n'), &ScreenClient::newer_line, nullptr, nullptr},
    {ui::plain(ui::KeyCode::page_up), &ScreenClient::page_up, "PgUp PgDn", "scroll"},
    {ui::plain(ui::KeyCode::page_down), &ScreenClient::page_down, nullptr, nullptr},
    {ui::alt('<'), &ScreenClient::to_start, "M-< M->", "to the start, to the end"},
    {ui::alt('>'), &ScreenClient::to_end, nullptr, nullptr},
    {ui::alt('r'), &ScreenClient::reconnect, "M-r", "connect again"},
    {ui::alt('d'), &ScreenClient::disconnect, nullptr, nullptr},
    {ui::ctrl('d'), &ScreenClient::end_input, "^D",
     "on an empty line: no more to send; leaves when all is answered"},
    {ui::ctrl('c'), &ScreenClient::interrupt, "^C",
     "clears the line; cancels connecting; pressed twice, quits"},
    {ui::ctrl('z'), &ScreenClient::suspend, "^Z", "suspend"},
    {ui::ctrl('l'), &ScreenClient::redraw, "^L", "redraw"},
    {ui::plain(ui::KeyCode::f1), &ScreenClient::show_keys, "F1", "these keys"},
};

ScreenClient::ScreenClient(ev::Loop& loop, Session::Options options)
    : loop_(loop),
      quit_asked_(loop, [this] { changed_ = true; }),
      keyboard_(loop, STDIN_FILENO, ev::readable, [this](ev::Events) { read_keys(); }),
      resized_(loop, SIGWINCH,
               [this] {
                   terminal_.resize();
                   changed_ = true;
               }),
      continued_(loop, SIGCONT,
                 [this] {
                     terminal_.enter();
                     changed_ = true;
                 }),
      frame_(loop, [] {}),
      clock_(loop, [this] { changed_ = true; }),
      session_(loop, std::move(options), *this) {
    note("Type a line and press Enter: it is sent, and its echo is timed. F1 shows the keys.");
    session_.connect();
}

void ScreenClient::leave() { session_.disconnect(); }

void ScreenClient::turn_ended() {
    if (!changed_ || frame_.pending()) return;
    draw();
    changed_ = false;
    frame_.start(frame_time);
    schedule_clock();
}

int ScreenClient::report() {
    terminal_.leave();
    const int status = exit_status(session_.end());
    if (status != 0) complain("yodel", explain(session_.end(), session_.tls()));
    if (status != 0) return status;
    if (tally_.bad == 0 && tally_.lost == 0) return all_well;
    complain("yodel", tally_.summary());
    return reply_wrong_or_lost;
}

// --- What the session tells.

void ScreenClient::session_changed() {
    changed_ = true;
    tell_state();
    if (session_.state() == State::closed && told_state_ == State::finishing) loop_.stop();
    told_state_ = session_.state();
}

void ScreenClient::tell_state() {
    const State state = session_.state();
    if (state == State::open && session_.input_ended() && !told_half_closed_) {
        told_half_closed_ = true;
        note("the server has closed its side; what is sent now gets no reply", Style::warn);
    }
    if (state == told_state_) return;
    if (state == State::dialing) told_half_closed_ = false;
    if (state == State::open) note("connected to " + session_.address().text(), Style::good);
    if (state != State::closed) return;
    const bool failed = exit_status(session_.end()) != 0;
    note(explain(session_.end(), session_.tls()) + "; M-r connects again",
         failed ? Style::bad : Style::dim);
}

void ScreenClient::session_answered(const Message& message, const Reply& reply) {
    if (message.late) --tally_.lost;
    ++(reply.right ? tally_.echoed : tally_.bad);
    if (reply.round_trip) tally_.round_trips.record(*reply.round_trip);
    if (reply.round_trip) last_round_trip_ = reply.round_trip;
    const std::string time =
        reply.round_trip ? milliseconds_text(*reply.round_trip) + "ms" : "untimed";
    const ui::Span verdict =
        reply.right ? ui::Span{" " + std::string(sign_right), Style::good}
                    : ui::Span{difference_text(message.payload, reply), Style::bad};
    record({right_aligned(time) + " " + std::string(sign_received), Style::dim}, reply.payload,
           {verdict});
}

void ScreenClient::session_lost(const Message& message) {
    ++tally_.lost;
    const std::string why =
        session_.state() == State::closed || session_.input_ended()
            ? "no reply any more"
            : "no reply after " + duration_text(session_.options().reply_timeout);
    record({right_aligned("?") + " " + why + ":", Style::bad}, message.payload);
}

void ScreenClient::session_unasked(std::string_view payload) {
    ++tally_.unasked;
    record({right_aligned("") + " " + std::string(sign_unasked), Style::warn}, payload);
}

// --- Keys.

void ScreenClient::read_keys() {
    while (const auto key = terminal_.read_key()) press(*key);
    changed_ = true;
    if (!terminal_.gone()) return;
    keyboard_.want(ev::none);
    std::raise(SIGHUP);  // whose way out it is
}

void ScreenClient::press(const ui::Key& key) {
    if (key.chord != ui::ctrl('c')) quit_asked_.cancel();
    if (editor_.press(key)) return;
    const auto* const it =
        std::find_if(std::begin(bindings), std::end(bindings),
                     [&](const Binding& binding) { return binding.chord == key.chord; });
    if (it != std::end(bindings)) (this->*it->action)();
}

void ScreenClient::send_line() {
    const std::string line = editor_.text();
    if (session_.state() != State::open)
        return note("not connected: nothing was sent (M-r connects again)", Style::warn);
    if (session_.send(line) == 0)
        return note("nothing was sent: " + std::string(line.empty()
                                                           ? "the line is empty"
                                                           : "it is too long for this framing"),
                    Style::warn);
    ++tally_.sent;
    history_.add(line);
    editor_.clear();
    transcript_.scroll_to_end();
    record({clock_text() + " " + std::string(sign_sent), Style::dim}, line);
    session_.flush();
}

void ScreenClient::older_line() {
    if (auto line = history_.older(editor_.text())) editor_.set(std::move(*line));
}

void ScreenClient::newer_line() {
    if (auto line = history_.newer()) editor_.set(std::move(*line));
}

void ScreenClient::interrupt() {
    const State state = session_.state();
    if (!editor_.empty()) return editor_.clear();
    if (state == State::dialing || state == State::handshaking || state == State::finishing)
        return session_.disconnect();
    if (quit_asked_.pending()) return loop_.stop();
    quit_asked_.start(quit_time);
}

void ScreenClient::end_input() {
    if (session_.state() == State::open) return session_.finish();
    loop_.stop();
}

void ScreenClient::suspend() {
    session_.void_round_trips();
    terminal_.suspend();
}

void ScreenClient::reconnect() {
    session_.disconnect();
    session_.connect();
}

void ScreenClient::disconnect() { session_.disconnect(); }

void ScreenClient::show_keys() {
    for (const Binding& binding : bindings)
        if (binding.help)
            note(binding.keys + std::string(14 - std::string(binding.keys).size(), ' ') +
                 binding.help);
    note("and in the line, the keys of readline");
}

// --- The screen.

void ScreenClient::note(std::string text, Style style) {
    transcript_.append({{{clock_text() + " - ", Style::dim}}, std::move(text), {}, style});
    changed_ = true;
}

void ScreenClient::record(ui::Span label, std::string_view body, ui::Row suffix) {
    label.text += " ";
    transcript_.append(
        {{std::move(label)}, std::string(body), std::move(suffix), Style::normal});
    changed_ = true;
}

// Rows go to the input line first, then to the status, then to the messages.
void ScreenClient::draw() {
    const ui::Size size = terminal_.size();
    ui::Frame frame;
    if (size.rows > 2) frame.rows = transcript_.rows(size.columns, size.rows - 2);
    while (static_cast<int>(frame.rows.size()) < size.rows - 2) frame.rows.emplace_back();
    if (size.rows > 1) frame.rows.push_back(status(size.columns));
    ui::LineEditor::View line = editor_.view(size.columns);
    frame.cursor_row = size.rows - 1;
    frame.cursor_column = line.cursor;
    frame.cursor_shown = true;
    frame.rows.push_back(std::move(line.row));
    terminal_.draw(frame);
}

// What tells the time is drawn anew as often as it changes.
void ScreenClient::schedule_clock() {
    const State state = session_.state();
    if (state == State::closed || state == State::idle) return clock_.cancel();
    const ev::Duration unit = state == State::open ? ev::Duration(1s) : ev::Duration(100ms);
    const ev::Duration elapsed = loop_.now() - session_.since();
    clock_.start_at(session_.since() + (elapsed / unit + 1) * unit);
}

std::string ScreenClient::state_words() const {
    const ev::Duration elapsed = loop_.now() - session_.since();
    const std::string limit = "/" + duration_text(session_.options().connect_timeout);
    switch (session_.state()) {
    case State::idle: return "idle";
    case State::dialing: return session_.phase() + " " + elapsed_text(elapsed) + limit;
    case State::handshaking: return "handshake " + elapsed_text(elapsed);
    case State::open:
        return session_.input_ended() ? "half-closed (server)" : "up " + uptime_text(elapsed);
    case State::finishing: return "closing " + elapsed_text(elapsed);
    case State::waiting:
        return session_.end().text + "; retry " + std::to_string(session_.retry()) + " in " +
               elapsed_text(session_.retry_time() - loop_.now()) + " (M-r now)";
    case State::closed: break;
    }
    return "closed: " + session_.end().text;
}

// Its parts are dropped from the right as the width shrinks, never the state.
ui::Row ScreenClient::status(int width) const {
    ui::Row row;
    for (const ui::Span& part : status_parts()) {
        const int gap = row.empty() ? 0 : 1;
        if (!row.empty() && ui::columns(row) + gap + ui::columns(part.text) > width) break;
        ui::pad(row, ui::columns(row) + gap, Style::status);
        ui::append(row, part.text, part.style);
    }
    ui::cut(row, width);
    ui::pad(row, width, Style::status);
    return row;
}

std::vector<ui::Span> ScreenClient::status_parts() const {
    const bool up = session_.state() == State::open;
    const bool failed = exit_status(session_.end()) != 0;
    const std::string words = quit_asked_.pending() ? "^C again to quit" : state_words();
    std::vector<ui::Span> parts{
        {std::string(up ? sign_up : sign_down) + " " + ui::printable(words),
         up       ? Style::status_good
         : failed ? Style::status_bad
                  : Style::status}};
    const auto add = [&](std::string text, Style style = Style::status) {
        parts.push_back({std::move(text), style});
    };
    add(ui::printable((session_.options().tls ? "tls://" : "tcp://") +
                      session_.options().endpoint.text()));
    if (const bufio::TlsFacts* const facts = session_.tls(); facts && !facts->version.empty()) {
        add(facts->version);
        if (!facts->unverified.empty()) add("UNVERIFIED (-k)", Style::status_bad);
        if (facts->unverified.empty())
            add(std::string(sign_right) + std::to_string(facts->days_left) + "d");
    }
    add(std::string(session_.options().framing->name));
    add(sign_bar);
    add(std::to_string(tally_.sent) + std::string(sign_out));
    add(std::to_string(tally_.echoed) + std::string(sign_in));
    add(std::to_string(session_.awaited()) + std::string(sign_open));
    add(std::to_string(tally_.bad) + std::string(sign_wrong),
        tally_.bad > 0 ? Style::status_bad : Style::status);
    add(std::to_string(tally_.lost) + "?", tally_.lost > 0 ? Style::status_bad : Style::status);
    if (!last_round_trip_) return parts;
    add(sign_bar);
    add(milliseconds_text(*last_round_trip_) + "ms");
    for (const auto& [name, percent] :
         {std::pair("p50 ", 50.0), {"p95 ", 95.0}, {"p99 ", 99.0}})
        add(name + milliseconds_text(tally_.round_trips.percentile(percent)));
    return parts;
}

}  // namespace yodel
