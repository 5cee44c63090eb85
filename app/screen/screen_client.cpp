#include "app/screen/screen_client.hpp"

#include "app/screen/signs.hpp"
#include "ui/glyphs.hpp"
#include "ui/modes.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <chrono>
#include <span>

namespace yodel {

using namespace std::chrono_literals;
using State = Session::State;
using ui::KeyCode;
using ui::Style;

namespace {

// Minimum time between two drawings: at most about 60 a second.
constexpr ev::Duration frame_time = 16ms;
// A second ^C within this time quits.
constexpr ev::Duration quit_time = 2s;

// Adds the signs, except signs without a form in the locale's encoding.
void add_signs(PageRows& page, std::span<const SignGroup> groups) {
    for (const SignGroup& group : groups) {
        page.add_title(group.title);
        for (const auto& [sign, meaning] : group.signs)
            if (!sign.text().empty()) page.add_fact(sign.text(), meaning);
    }
}

// True for the keys that end a mode and do nothing else.
bool is_cancel(const ui::Key& key) {
    return key.chord == ui::plain(KeyCode::escape) || key.chord == ui::ctrl('g') ||
           key.chord == ui::ctrl('c');
}

}  // namespace

using Client = ScreenClient;

// The page of keys lists ^D under "Quit".
const ui::Binding<Client> Client::bindings[] = {
    {ui::ctrl('d'), [](Client& c) { c.conversation_.quit_when_answered(); }},
    {ui::plain(KeyCode::enter), [](Client& c) { c.submit(); }, "Enter",
     "send the line; if it is empty, open the selected message"},
    {ui::plain(KeyCode::up), [](Client& c) { c.older_line(); }, "Up Dn ^P ^N",
     "go through the history of sent lines"},
    {ui::ctrl('p'), [](Client& c) { c.older_line(); }},
    {ui::plain(KeyCode::down), [](Client& c) { c.newer_line(); }},
    {ui::ctrl('n'), [](Client& c) { c.newer_line(); }},
    {ui::ctrl('r'), [](Client& c) { c.mode_.emplace<ui::HistorySearch>(c.history_); }, "^R",
     "search the history"},
    {ui::plain(KeyCode::page_up), [](Client& c) { c.transcript().scroll_pages(-1); },
     "PgUp PgDn", "scroll"},
    {ui::plain(KeyCode::page_down), [](Client& c) { c.transcript().scroll_pages(1); }},
    {ui::alt('<'), [](Client& c) { c.transcript().scroll_to_start(); }, "M-< M->",
     "go to the first, to the last message"},
    {ui::alt('>'), [](Client& c) { c.transcript().scroll_to_end(); }},
    {ui::alt(KeyCode::up), [](Client& c) { c.transcript().select_older(); }, "M-Up M-Down",
     "select a message; then also Up and Down"},
    {ui::alt(KeyCode::down), [](Client& c) { c.transcript().select_newer(); }},
    {ui::alt('/'), [](Client& c) { c.mode_.emplace<Find>(); }, "M-/ n N",
     "search the messages; older, newer match"},
    {ui::alt('h'), [](Client& c) { c.transcript().show_hex(!c.transcript().hex()); }, "M-h",
     "show messages in hex, or as text"},
    {ui::alt('t'), [](Client& c) { c.conversation_.log().next_timestamp_style(); }, "M-t",
     "timestamps: clock, since the last message, or none"},
    {ui::alt('s'),
     [](Client& c) {
         c.open_page([&c](int width) {
             return statistics_page(c.conversation_.results(),
                                    c.conversation_.percentile_history(), width);
         });
     },
     "M-s", "statistics"},
    {ui::alt('i'),
     [](Client& c) {
         c.open_page([&c](int width) {
             return connection_page(c.session(), c.conversation_.results(), c.key_log_,
                                    c.sandbox_, width);
         });
     },
     "M-i", "connection and certificate"},
    {ui::alt('r'), [](Client& c) { c.conversation_.reconnect(); }, "M-r", "reconnect now"},
    {ui::alt('c'), [](Client& c) { c.conversation_.disconnect(); }, "M-c",
     "close the connection without quitting"},
    {ui::alt('p'), [](Client& c) { c.transcript().toggle_freeze(); }, "M-p",
     "hold the view, or follow new messages again"},
    {ui::alt('o'), [](Client& c) { c.conversation_.toggle_file(); }, "M-o",
     "start or stop a transcript file"},
    {ui::alt('w'), [](Client& c) { c.copy_selected(); }, "M-w",
     "copy the selected message to the terminal's clipboard"},
    {ui::ctrl('c'), [](Client& c) { c.interrupt(); }, "^C",
     "clear the line; if it is empty, cancel connecting or waiting"},
    {ui::ctrl('z'), [](Client& c) { c.suspend(); }, "^Z", "suspend"},
    {ui::ctrl('l'), [](Client& c) { c.terminal().redraw(); }, "^L", "redraw"},
    {ui::plain(KeyCode::escape), [](Client& c) { c.back_to_end(); }, "Esc",
     "return to the end of the messages; there, Esc then a key is M- and that key"},
    {ui::plain(KeyCode::f1),
     [](Client& c) { c.open_page([&c](int width) { return c.key_page(width); }); }, "F1",
     "this page"},
};

ScreenClient::ScreenClient(ev::Loop& loop, const Options& options)
    : FullScreen(loop, frame_time),
      loop_(loop),
      key_log_(options.key_log),
      sandbox_(options.sandbox),
      quit_asked_(loop, [this] { mark_changed(); }),
      clock_(loop, [this] { mark_changed(); }),
      conversation_(loop, options.conversation, *this) {
    transcript().show_hex(options.hex);
    session().connect();
}

void ScreenClient::quit(int) { conversation_.quit(); }

void ScreenClient::continued() {
    session().void_round_trips();
    FullScreen::continued();
}

int ScreenClient::report() {
    terminal().restore();
    return conversation_.report();
}

// --- Keys.

void ScreenClient::press(const ui::Key& key) {
    notice_.clear();
    if (key.cut) conversation_.add_note("the paste was truncated: too long", Style::warn);
    ui::Chord chord = key.chord;
    chord.alt = false;  // an Esc shortly before the key sets it
    const bool interrupts = chord == ui::ctrl('c') && !editor_.next_is_literal();
    if (interrupts && quit_asked_.pending()) return conversation_.quit();
    quit_asked_.cancel();
    if (interrupts) quit_asked_.start(quit_time);
    const bool typing =
        std::holds_alternative<Typing>(mode_) || std::holds_alternative<Escaped>(mode_);
    if (!typing && key.chord == ui::ctrl('l')) return terminal().redraw();
    const bool done = std::visit([&](auto& mode) { return press_in(mode, key); }, mode_);
    if (!done && !press_bound(key)) notice_ = "this key does nothing; F1 lists the keys";
}

// Returns false if the key has no binding.
bool ScreenClient::press_bound(const ui::Key& key) {
    return editor_.press(key) || ui::perform(bindings, key.chord, *this);
}

bool ScreenClient::press_in(Typing&, const ui::Key&) { return false; }

// A key without a binding for Alt has its usual effect.
bool ScreenClient::press_in(Escaped&, const ui::Key& key) {
    mode_.emplace<Typing>();
    if (key.chord == ui::plain(KeyCode::escape)) return true;
    ui::Key with_alt = key;
    with_alt.chord.alt = true;
    return press_bound(with_alt);
}

bool ScreenClient::press_in(ui::HistorySearch& search, const ui::Key& key) {
    if (search.press(key)) return true;
    const bool cancelled = is_cancel(key);
    if (!cancelled && !search.match().empty()) editor_.set(std::string(search.match()));
    mode_.emplace<Typing>();
    return cancelled;
}

bool ScreenClient::press_in(Find& find, const ui::Key& key) {
    find.failed = false;
    if (key.chord == ui::plain(KeyCode::enter)) {
        const bool nothing = find.text.empty();  // an empty search removes the marks
        const bool found = transcript().search(find.text.text());
        find.failed = !found && !nothing;
        if (nothing) mode_.emplace<Typing>();
        if (found) mode_.emplace<FindNext>();
        return true;
    }
    const bool cancelled = is_cancel(key);
    if (!cancelled && find.text.press(key)) return true;
    mode_.emplace<Typing>();
    return cancelled;
}

bool ScreenClient::press_in(FindNext& next, const ui::Key& key) {
    if (key.chord == ui::plain(U'n')) {
        next.failed = !transcript().search_older();
    } else if (key.chord == ui::plain(U'N')) {
        next.failed = !transcript().search_newer();
    } else {
        mode_.emplace<Typing>();
        return false;
    }
    return true;
}

// A key that does not scroll the page closes it and then has its usual effect, except Enter
// and the cancelling keys.
bool ScreenClient::press_in(ui::Page& page, const ui::Key& key) {
    if (page.press(key, main_height())) return true;
    mode_.emplace<Typing>();
    return key.chord == ui::plain(KeyCode::enter) || is_cancel(key);
}

void ScreenClient::submit() {
    if (selecting()) {
        if (const auto exchange = conversation_.log().selected())
            open_page([exchange](int width) { return message_page(*exchange, width); });
        return;
    }
    const std::string line = editor_.text();
    history_.add(line);
    editor_.clear();
    transcript().select_none();
    transcript().scroll_to_end();
    conversation_.send(line);
}

void ScreenClient::back_to_end() {
    if (transcript().following() && !transcript().selected()) mode_.emplace<Escaped>();
    transcript().select_none();
    transcript().search("");
    transcript().scroll_to_end();
}

void ScreenClient::older_line() {
    if (selecting()) return transcript().select_older();
    if (auto line = history_.older(editor_.text())) editor_.set(std::move(*line));
}

void ScreenClient::newer_line() {
    if (selecting()) return transcript().select_newer();
    if (auto line = history_.newer()) editor_.set(std::move(*line));
}

void ScreenClient::interrupt() {
    if (!editor_.empty()) {
        history_.stop_browsing();
        return editor_.clear();
    }
    const State state = session().state();
    if (state != State::open && state != State::closed && state != State::idle)
        session().disconnect();
}

void ScreenClient::copy_selected() {
    const auto text = conversation_.log().selected_text(ui::longest_copy + 1);
    if (!text) {
        notice_ = "M-Up selects; M-w then copies the message";
        return;
    }
    const std::string trouble = terminal().copy(*text);
    notice_ = trouble.empty() ? "copied, if the terminal allows it (OSC 52)"
                              : "not copied; " + trouble;
}

// Does not replace a line being typed, because the refused line is in the history.
void ScreenClient::line_refused(const std::string& line) {
    if (editor_.empty()) editor_.set(line);
}

std::vector<ui::KeyHelp> ScreenClient::key_help() { return ui::help_for(bindings); }

// A terminal of 80x24 shows the first two groups of signs without scrolling.
Rows ScreenClient::key_page(int width) {
    constexpr std::size_t first_groups = 2;
    PageRows page(width);
    page.add_fact("Quit", "^D on an empty line: once all replies are in; ^C twice: at once");
    add_signs(page, sign_groups().first(first_groups));
    page.add_title("Keys (M-x: Alt-x, or Esc then x)");
    for (const auto& row : key_help()) page.add_fact(row.keys, row.help);
    const bool splits = count_pieces(*session().options().framing, "a\nb") > 1;
    page.add_title("Line editing");
    page.add_fact("M-Enter", splits ? "a newline: with this framing, a new message"
                                    : "a newline in the message");
    for (const auto& row : ui::LineEditor::key_help()) page.add_fact(row.keys, row.help);
    add_signs(page, sign_groups().subspan(first_groups));
    return page.rows;
}

// --- The screen.

// The input line gets its row first, then the status, then the messages.
void ScreenClient::draw() {
    conversation_.flush_file();
    const ui::Size size = terminal().size();
    ui::Frame frame;
    const int height = main_height();
    auto* const page = std::get_if<ui::Page>(&mode_);
    if (height > 0 && page) frame.rows = page->rows(size.columns, height);
    if (height > 0 && !page) frame.rows = transcript().rows(size.columns, height);
    while (static_cast<int>(frame.rows.size()) < height) frame.rows.emplace_back();
    if (size.rows > 1) frame.rows.push_back(fit_status(status(), size.columns));
    frame.cursor_row = size.rows - 1;
    frame.cursor_shown = true;
    frame.rows.push_back(input_row(size.columns, frame));
    terminal().draw(frame);
    schedule_clock();
}

std::vector<Part> ScreenClient::status() const {
    std::vector<Part> parts = status_parts(conversation_.session(), conversation_.results(),
                                           conversation_.recent(), loop_.now());
    const ui::Transcript& transcript = conversation_.log().transcript();
    const auto put = [&](int priority, std::string text, Style style) {
        parts.insert(parts.begin() + 1, {std::move(text), priority, style});
    };
    if (const std::size_t count = conversation_.queued_lines(); count > 0)
        put(Priority::mode, std::to_string(count) + " " + status_word::queued,
            Style::status_warn);
    if (conversation_.file_open()) put(Priority::target, status_word::file, Style::status);
    if (!key_log_.empty()) put(Priority::trust, status_word::key_log, Style::status_warn);
    if (!transcript.following()) {
        const std::size_t below = transcript.below();
        const std::string more = below == 0 ? "" : ", " + std::to_string(below) + " below";
        put(Priority::mode, status_word::held + more, Style::status_warn);
    }
    return parts;
}

// Returns the input row, with a label if it is a search rather than a message.
ui::Row ScreenClient::input_row(int width, ui::Frame& frame) {
    if (const auto* const search = std::get_if<ui::HistorySearch>(&mode_))
        return search_row(*search, width, frame);
    ui::Row row;
    if (const std::string_view text = hint_text(); !text.empty()) {
        append_hints(row, text, width);
        return row;
    }
    auto* const find = std::get_if<Find>(&mode_);
    if (find) ui::append(row, find->failed ? "not found: " : "find: ", Style::dim);
    if (std::holds_alternative<Escaped>(mode_)) ui::append(row, "Esc- ", Style::dim);
    ui::LineEditor& editor = find ? find->text : editor_;
    const ui::LineEditor::View view = editor.view(std::max(width - ui::display_width(row), 1));
    frame.cursor_column = ui::display_width(row) + view.cursor;
    row.insert(row.end(), view.row.begin(), view.row.end());
    if (find && editor.empty()) append_hints(row, "Enter searches; Esc goes back", width);
    return row;
}

ui::Row ScreenClient::search_row(const ui::HistorySearch& search, int width,
                                 ui::Frame& frame) const {
    // Truncates a long match first. A column needs at most 20 bytes, for a base character and
    // its marks.
    const std::size_t max_bytes = 20 * static_cast<std::size_t>(width);
    ui::Row row;
    ui::append(row, search.failed() ? "not in the history: " : "search: ", Style::dim);
    ui::append_bytes(row, search.query());
    frame.cursor_column = ui::display_width(row);
    if (search.query().empty())
        append_hints(row, "search the history; ^R again: older; Esc goes back", width);
    else
        ui::append(row, " - ", Style::dim);
    ui::append_bytes(row, search.match().substr(0, max_bytes));
    ui::truncate(row, width);
    return row;
}

// Returns the text shown instead of the input line; empty: none.
std::string_view ScreenClient::hint_text() const {
    if (quit_asked_.pending()) return "^C again to quit";
    if (!notice_.empty()) return notice_;
    if (std::holds_alternative<ui::Page>(mode_))
        return "Esc goes back; Up Down PgUp PgDn scroll";
    if (const auto* const next = std::get_if<FindNext>(&mode_))
        return next->failed ? "no more matches; n older, N newer; Esc goes back"
                            : "n older, N newer; Esc goes back to the end";
    if (std::holds_alternative<Find>(mode_) || !editor_.empty()) return {};
    if (std::holds_alternative<Escaped>(mode_))
        return "Esc- press a key; as with Alt; F1 lists the keys; Esc cancels";
    const MessageLog& log = conversation_.log();
    if (log.selected()) return "Enter opens it; Esc goes back; Up Down select; M-w copies it";
    if (log.transcript().selected()) return "Esc goes back; Up Down select; M-w copies it";
    return connection_hints(conversation_.session(), !history_.lines().empty());
}

// Draws the screen again when the time in the status line changes: seconds while the
// connection is open, otherwise tenths of a second.
void ScreenClient::schedule_clock() {
    const State state = session().state();
    if (state == State::closed || state == State::idle) return clock_.cancel();
    const ev::Duration unit = state == State::open ? ev::Duration(1s) : ev::Duration(100ms);
    const ev::Duration elapsed = loop_.now() - session().since();
    clock_.start_at(session().since() + (elapsed / unit + 1) * unit);
}

}  // namespace yodel
