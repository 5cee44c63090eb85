#include "app/screen/screen_client.hpp"

#include "ui/glyphs.hpp"
#include "ui/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

namespace yodel {

using namespace std::chrono_literals;
using State = Session::State;
using ui::KeyCode;
using ui::Style;

namespace {

// The shortest time between two drawings, which a flood of messages meets: about 60 a second.
constexpr ev::Duration frame_time = 16ms;
// For how long a second ^C quits.
constexpr ev::Duration quit_time = 2s;

bool refused_by_tls(const bufio::End& end) {
    return end.reason == bufio::Reason::certificate || end.reason == bufio::Reason::pin ||
           end.reason == bufio::Reason::own_certificate;
}

const char* first_hint(const Session& session) {
    switch (session.options().expect) {
    case Expect::any:
        return "F1 keys; ^D leaves; type a line, Enter sends it and its reply is timed";
    case Expect::none: return "F1 keys; ^D leaves; type a line, Enter sends it";
    case Expect::echo: break;
    }
    return "F1 keys; ^D leaves; type a line, Enter sends it and its echo is timed";
}

void add_counters(Rows& rows, int width) {
    add_title(rows, "The counters");
    add_fact(rows, ui::glyph::outgoing.text(), "sent", width);
    add_fact(rows, ui::glyph::incoming.text(), "echoed as they should be", width);
    add_fact(rows, ui::glyph::in_flight.text(), "in flight: their replies are awaited", width);
    add_fact(rows, ui::glyph::mismatch.text(), "answered wrong", width);
    add_fact(rows, "?", "lost: without a reply in time", width);
    add_fact(rows, ui::glyph::unsolicited.text(),
             "unsolicited: sent by the server, answering nothing", width);
}

// Ends what is under way, and does nothing else.
bool gives_up(const ui::Key& key) {
    return key.chord == ui::plain(KeyCode::escape) || key.chord == ui::ctrl('g') ||
           key.chord == ui::ctrl('c');
}

}  // namespace

struct ScreenClient::Binding {
    ui::Chord chord;
    void (ScreenClient::*action)();
    const char* keys;  // as the page of keys names them; null: named by the row above
    const char* help;
};

const ScreenClient::Binding ScreenClient::bindings[] = {
    {ui::plain(KeyCode::enter), &ScreenClient::enter, "Enter",
     "send; with a message selected, open it"},
    {ui::plain(KeyCode::up), &ScreenClient::older_line, "Up Dn ^P ^N", "lines sent before"},
    {ui::ctrl('p'), &ScreenClient::older_line, nullptr, nullptr},
    {ui::plain(KeyCode::down), &ScreenClient::newer_line, nullptr, nullptr},
    {ui::ctrl('n'), &ScreenClient::newer_line, nullptr, nullptr},
    {ui::ctrl('r'), &ScreenClient::search_history, "^R", "search them"},
    {ui::plain(KeyCode::page_up), &ScreenClient::page_up, "PgUp PgDn", "scroll"},
    {ui::plain(KeyCode::page_down), &ScreenClient::page_down, nullptr, nullptr},
    {ui::alt('<'), &ScreenClient::to_start, "M-< M->", "to the start, to the end"},
    {ui::alt('>'), &ScreenClient::to_end, nullptr, nullptr},
    {ui::alt(KeyCode::up), &ScreenClient::select_older, "M-Up M-Down",
     "select a message; then Up and Down do so too"},
    {ui::alt(KeyCode::down), &ScreenClient::select_newer, nullptr, nullptr},
    {ui::alt('/'), &ScreenClient::find, "M-/ n N",
     "search the messages; go to older, newer places"},
    {ui::alt('h'), &ScreenClient::toggle_hex, "M-h", "messages in hex, or as text"},
    {ui::alt('t'), &ScreenClient::next_times, "M-t", "times: clock, since the last, off"},
    {ui::alt('s'), &ScreenClient::show_statistics, "M-s", "statistics"},
    {ui::alt('i'), &ScreenClient::show_connection, "M-i", "connection and certificate"},
    {ui::alt('r'), &ScreenClient::reconnect, "M-r", "connect again, now"},
    {ui::alt('c'), &ScreenClient::disconnect, "M-c", "close the connection and stay"},
    {ui::alt('p'), &ScreenClient::toggle_hold, "M-p", "hold the view, or follow again"},
    {ui::alt('o'), &ScreenClient::toggle_file, "M-o", "start or stop writing all to a file"},
    {ui::ctrl('d'), &ScreenClient::end_input, nullptr, nullptr},
    {ui::ctrl('c'), &ScreenClient::interrupt, "^C",
     "clear the line; cancel a connect or a wait"},
    {ui::ctrl('z'), &ScreenClient::suspend, "^Z", "suspend"},
    {ui::ctrl('l'), &ScreenClient::redraw, "^L", "redraw"},
    {ui::plain(KeyCode::escape), &ScreenClient::escape, "Esc",
     "back to the messages and their end; there, Esc and then a key is M- and that key"},
    {ui::plain(KeyCode::f1), &ScreenClient::show_keys, "F1", "these keys"},
};

ScreenClient::ScreenClient(ev::Loop& loop, const Options& options)
    : loop_(loop),
      key_log_(options.key_log),
      resized_(loop, SIGWINCH,
               [this] {
                   terminal_.resize();
                   changed_ = true;
               }),
      continued_(loop, SIGCONT,
                 [this] {
                     session().void_round_trips();
                     entering_ = true;
                 }),
      stopped_(loop, SIGTSTP, [this] { suspend(); }),
      terminal_(options.color),
      quit_asked_(loop, [this] { changed_ = true; }),
      keyboard_(loop, STDIN_FILENO, ev::readable, [this](ev::Events) { read_keys(); }),
      escape_(loop,
              [this] {
                  terminal_.expire_key();
                  read_keys();
              }),
      display_(loop, terminal_.output(), ev::none, [this](ev::Events) { await_display(); }),
      frame_(loop, [] {}),
      clock_(loop, [this] { changed_ = true; }),
      conversation_(loop, options.conversation, *this) {
    transcript().show_hex(options.hex);
    session().connect();
}

void ScreenClient::leave(int) { session().disconnect(); }

void ScreenClient::quit() {
    session().disconnect();
    loop_.stop();
}

void ScreenClient::turn_ended() {
    if (entering_) enter_terminal();
    if (entering_ || !changed_ || frame_.pending() || !terminal_.flush()) return;
    conversation_.flush_file();
    draw();
    changed_ = false;
    frame_.start(frame_time);
    await_display();
    schedule_clock();
}

// At the end of a turn, so that a signal that came with SIGCONT can end the program first.
void ScreenClient::enter_terminal() {
    entering_ = !terminal_.take_over();
    if (!entering_) read_keys();  // those that were read before it was left
}

int ScreenClient::report() {
    terminal_.restore();
    return conversation_.report();
}

// --- Keys.

void ScreenClient::read_keys() {
    while (const auto key = terminal_.read_key()) press(*key);
    if (terminal_.key_incomplete()) escape_.start(terminal_.escape_delay());
    changed_ = true;
    if (!terminal_.gone()) return;
    keyboard_.want(ev::none);
    std::raise(SIGHUP);  // whose way out it is
}

void ScreenClient::press(const ui::Key& key) {
    if (key.cut)
        conversation_.add_note("the paste was too long: its end is missing", Style::warn);
    const bool interrupts = key.chord == ui::ctrl('c') && !editor_.takes_all();
    if (interrupts && quit_asked_.pending()) return quit();
    quit_asked_.cancel();
    if (interrupts) quit_asked_.start(quit_time);
    const bool in_mode = search_ || find_ || finding_ || page_;
    if (in_mode && key.chord == ui::ctrl('l')) return redraw();
    if (press_in_search(key) || press_in_find(key) || press_in_page(key)) return;
    if (press_after_escape(key)) return;
    press_bound(key);
}

// False: the key means nothing here.
bool ScreenClient::press_bound(const ui::Key& key) {
    if (editor_.press(key)) return true;
    const auto* const it =
        std::find_if(std::begin(bindings), std::end(bindings),
                     [&](const Binding& binding) { return binding.chord == key.chord; });
    if (it == std::end(bindings)) return false;
    (this->*it->action)();
    return true;
}

// After Esc a key is what it is with Alt. False: it means nothing so, and is as it is without.
bool ScreenClient::press_after_escape(const ui::Key& key) {
    if (!std::exchange(escaped_, false)) return false;
    if (key.chord == ui::plain(KeyCode::escape)) return true;
    ui::Key with_alt = key;
    with_alt.chord.alt = true;
    return press_bound(with_alt);
}

bool ScreenClient::press_in_search(const ui::Key& key) {
    if (!search_) return false;
    if (search_->press(key)) return true;
    const bool given_up = gives_up(key);
    if (!given_up && !search_->match().empty()) editor_.set(std::string(search_->match()));
    search_.reset();
    return given_up;
}

// First what to find is typed, until it is found; then n and N go on, until another key.
bool ScreenClient::press_in_find(const ui::Key& key) {
    if (find_ && key.chord == ui::plain(KeyCode::enter)) {
        finding_ = transcript().search(find_->text());
        find_failed_ = !finding_ && !find_->empty();
        if (!find_failed_) find_.reset();
        return true;
    }
    find_failed_ = false;
    if (!find_) return press_among_found(key);
    const bool given_up = gives_up(key);
    if (given_up || !find_->press(key)) find_.reset();
    return given_up || find_;
}

bool ScreenClient::press_among_found(const ui::Key& key) {
    const bool older = key.chord == ui::plain(U'n');
    finding_ = finding_ && (older || key.chord == ui::plain(U'N'));
    if (finding_)
        find_failed_ = older ? !transcript().search_older() : !transcript().search_newer();
    return finding_;
}

// The keys for scrolling scroll the page; all others but Enter and Escape close it first.
bool ScreenClient::press_in_page(const ui::Key& key) {
    if (!page_) return false;
    if (page_->press(key, main_height())) return true;
    page_.reset();
    return key.chord == ui::plain(KeyCode::enter) || gives_up(key);
}

void ScreenClient::enter() {
    if (!selecting()) return send_line();
    if (const auto exchange = conversation_.log().selected())
        page_.emplace([exchange](int width) { return message_page(*exchange, width); });
}

void ScreenClient::escape() {
    escaped_ = transcript().following() && !transcript().selected();
    transcript().select_none();
    transcript().search("");
    transcript().scroll_to_end();
}

void ScreenClient::older_line() {
    if (selecting()) return select_older();
    if (auto line = history_.older(editor_.text())) editor_.set(std::move(*line));
}

void ScreenClient::newer_line() {
    if (selecting()) return select_newer();
    if (auto line = history_.newer()) editor_.set(std::move(*line));
}

void ScreenClient::search_history() { search_.emplace(history_); }

void ScreenClient::find() { find_.emplace(); }

void ScreenClient::next_times() {
    MessageLog& log = conversation_.log();
    switch (log.timestamp_style()) {
    case TimestampStyle::clock: return log.set_timestamp_style(TimestampStyle::delta);
    case TimestampStyle::delta: return log.set_timestamp_style(TimestampStyle::off);
    case TimestampStyle::off: return log.set_timestamp_style(TimestampStyle::clock);
    }
}

void ScreenClient::show_statistics() {
    page_.emplace([this](int width) {
        return statistics_page(conversation_.tally(), conversation_.course(), width);
    });
}

void ScreenClient::show_connection() {
    page_.emplace([this](int width) { return connection_page(session(), key_log_, width); });
}

void ScreenClient::show_keys() {
    page_.emplace([this](int width) { return key_page(width); });
}

void ScreenClient::toggle_hold() {
    if (transcript().following()) {
        transcript().hold();
    } else {
        transcript().scroll_to_end();
    }
}

void ScreenClient::end_input() {
    if (session().state() == State::open) return conversation_.quit_when_answered();
    quit();
}

void ScreenClient::interrupt() {
    const State state = session().state();
    const bool typed = !editor_.empty();
    const bool under_way =
        state != State::open && state != State::closed && state != State::idle;
    if (typed) history_.stop_browsing();
    if (typed) editor_.clear();
    if (!typed && under_way) session().disconnect();
}

void ScreenClient::suspend() {
    session().void_round_trips();
    terminal_.suspend();
}

void ScreenClient::send_line() {
    const std::string line = editor_.text();
    history_.add(line);
    editor_.clear();
    transcript().select_none();
    transcript().scroll_to_end();
    conversation_.send(line);
}

// What is being typed meanwhile stays; the line is among those sent before.
void ScreenClient::line_refused(const std::string& line) {
    if (editor_.empty()) editor_.set(line);
}

Rows ScreenClient::key_page(int width) {
    Rows rows;
    add_title(rows, "To leave");
    add_fact(rows, "^D", "on an empty line: no more to send; leaves when all is answered",
             width);
    add_fact(rows, "^C ^C", "at once", width);
    add_title(rows, "Keys (M-x is Alt-x, or Esc and then x)");
    for (const Binding& binding : bindings)
        if (binding.help) add_fact(rows, binding.keys, binding.help, width);
    const bool splits = pieces(*session().options().framing, "a\nb").size() > 1;
    add_title(rows, "In the line");
    add_fact(rows, "M-Enter",
             splits ? "a newline: with this framing, a new message"
                    : "a newline in the message",
             width);
    for (const ui::LineEditor::KeyHelp& row : ui::LineEditor::key_help())
        add_fact(rows, row.keys, row.help, width);
    add_counters(rows, width);
    return rows;
}

// --- The screen.

// Rows go to the input line first, then to the status, then to the messages.
void ScreenClient::draw() {
    const ui::Size size = terminal_.size();
    ui::Frame frame;
    const int height = main_height();
    if (height > 0 && page_) frame.rows = page_->rows(size.columns, height);
    if (height > 0 && !page_) frame.rows = transcript().rows(size.columns, height);
    while (static_cast<int>(frame.rows.size()) < height) frame.rows.emplace_back();
    if (size.rows > 1) frame.rows.push_back(fit_status(status(), size.columns));
    frame.cursor_row = size.rows - 1;
    frame.cursor_shown = true;
    frame.rows.push_back(input_row(size.columns, frame));
    terminal_.draw(frame);
}

void ScreenClient::await_display() {
    display_.want(terminal_.flush() ? ev::none : ev::writable);
}

std::vector<StatusPart> ScreenClient::status() const {
    std::vector<StatusPart> parts = status_parts(conversation_.session(), conversation_.tally(),
                                                 conversation_.recent(), loop_.now());
    const ui::Transcript& transcript = conversation_.log().transcript();
    const auto put = [&](Worth worth, std::string text, Style style) {
        parts.insert(parts.begin() + 1,
                     {worth, StatusGroup::connection, {std::move(text), style}});
    };
    if (conversation_.queued_lines() > 0)
        put(Worth::mode, std::to_string(conversation_.queued_lines()) + " kept",
            Style::status_warn);
    if (conversation_.log().file_open()) put(Worth::detail, "FILE", Style::status);
    if (!key_log_.empty()) put(Worth::trust, "KEYLOG", Style::status_warn);
    if (!transcript.following()) {
        const std::size_t below = transcript.below();
        put(Worth::mode, below == 0 ? "HELD" : "HELD, " + std::to_string(below) + " below",
            Style::status_warn);
    }
    return parts;
}

// What to do, where that is not plain; null where it is.
const char* ScreenClient::hint() const {
    const MessageLog& log = conversation_.log();
    if (page_) return "Esc goes back; Up Down PgUp PgDn scroll";
    if (finding_ && find_failed_) return "no further place; n older, N newer; Esc goes back";
    if (finding_) return "n older, N newer; Esc goes back to the end";
    if (log.selected()) return "Enter opens it; Up Down select; Esc goes back";
    if (log.transcript().selected()) return "Up Down select; Esc goes back";
    return state_hint();
}

const char* ScreenClient::state_hint() const {
    const Session& session = conversation_.session();
    switch (session.state()) {
    case State::open: return history_.lines().empty() ? first_hint(session) : nullptr;
    case State::idle:
    case State::dialing:
    case State::handshaking:
        return "F1 keys; ^D leaves; ^C gives up; lines are kept until connected";
    case State::waiting:
        return "F1 keys; ^D leaves; M-r connects now; lines are kept until connected";
    case State::finishing:
        return "F1 keys; ^D leaves now; M-c closes and stays; M-r connects again";
    case State::closed: break;
    }
    return refused_by_tls(session.end())
               ? "F1 keys; ^D leaves; M-i shows the certificate; M-r connects again"
               : "F1 keys; ^D leaves; M-r connects again; lines are kept until connected";
}

// The line that the keys go to, with what they are for where that is not the message.
ui::Row ScreenClient::input_row(int width, ui::Frame& frame) {
    ui::Row row;
    if (search_) {
        const std::size_t cell_bytes = 20;  // at most, of a column: a base and its marks
        ui::append(row, search_->failed() ? "not sent before: " : "search: ", Style::dim);
        ui::append_bytes(row, search_->query());
        frame.cursor_column = ui::display_width(row);
        ui::append(row, " - ", Style::dim);
        ui::append_bytes(
            row, search_->match().substr(0, cell_bytes * static_cast<std::size_t>(width)));
        ui::truncate(row, width);
        return row;
    }
    if (const char* const text = words()) {
        ui::append(row, text, Style::dim);
        ui::truncate(row, width);
        return row;
    }
    if (find_) ui::append(row, find_failed_ ? "not found: " : "find: ", Style::dim);
    if (escaped_) ui::append(row, "Esc- ", Style::dim);
    ui::LineEditor::View view =
        (find_ ? *find_ : editor_).view(std::max(width - ui::display_width(row), 1));
    frame.cursor_column = ui::display_width(row) + view.cursor;
    row.insert(row.end(), view.row.begin(), view.row.end());
    return row;
}

// What stands in the place of the line; null where the line does.
const char* ScreenClient::words() const {
    if (quit_asked_.pending()) return "^C again to quit";
    if (find_ || !editor_.empty()) return nullptr;
    return escaped_ ? "Esc- now a key as with Alt (F1 shows them); Esc leaves it" : hint();
}

// What shows the time is drawn again as often as it changes.
void ScreenClient::schedule_clock() {
    const State state = session().state();
    if (state == State::closed || state == State::idle) return clock_.cancel();
    const ev::Duration unit = state == State::open ? ev::Duration(1s) : ev::Duration(100ms);
    const ev::Duration elapsed = loop_.now() - session().since();
    clock_.start_at(session().since() + (elapsed / unit + 1) * unit);
}

}  // namespace yodel
