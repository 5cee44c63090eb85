#include "app/screen/screen_client.hpp"

#include "app/screen/signs.hpp"
#include "app/text/units.hpp"
#include "ui/key_parser.hpp"
#include "ui/text.hpp"
#include "ui/tty.hpp"

#include <algorithm>
#include <chrono>

namespace yodel {

using namespace std::chrono_literals;
using State = Session::State;
using ui::KeyCode;
using ui::Style;

namespace {

// Minimum time between two drawings: at most about 60 a second.
constexpr ev::Duration frame_time = 16ms;
// Time after which the hint tells that a message is incomplete.
constexpr ev::Duration partial_time = 1s;
// Another ^C within this time quits.
constexpr ev::Duration quit_time = 2s;

// True for the keys that leave a mode or a page.
bool is_cancel(const ui::Key& key) {
    return key.chord == ui::plain(KeyCode::escape) || key.chord == ui::ctrl('g') ||
           key.chord == ui::ctrl('c');
}

}  // namespace

using Client = ScreenClient;

// The key bar has the order of the table, except that ^D is its last entry.
const ui::Binding<Client> Client::binding_table[] = {
    {ui::keys(ui::ctrl('d')), [](Client& c) { c.quit_when_answered(); }, "Quit",
     "^D on an empty line, after all replies; ^C twice, immediately", "^D Quit"},
    {ui::keys(ui::plain(KeyCode::enter)), [](Client& c) { c.submit(); }, "Enter",
     "send the line; if it is empty, open the selected message (e: edit it)"},
    {ui::keys(ui::plain(KeyCode::up), ui::ctrl('p')), [](Client& c) { c.browse(true); },
     "Up Dn ^P ^N", "go through the history of sent lines"},
    {ui::keys(ui::plain(KeyCode::down), ui::ctrl('n')), [](Client& c) { c.browse(false); }},
    {ui::keys(ui::ctrl('r'), ui::alt('p')),
     [](Client& c) { c.mode_.emplace<ui::HistorySearch>(c.history_); }, "^R M-p",
     "search the history"},
    {ui::keys(ui::plain(KeyCode::page_up)), [](Client& c) { c.transcript_.scroll(-1); },
     "PgUp PgDn", "scroll"},
    {ui::keys(ui::plain(KeyCode::page_down)),
     [](Client& c) { c.transcript_.scroll(1); }},
    {ui::keys(ui::alt('<')), [](Client& c) { c.transcript_.scroll_to_start(); }, "M-< M->",
     "go to the first or to the last message"},
    {ui::keys(ui::alt('>')), [](Client& c) { c.transcript_.scroll_to_end(); }},
    {ui::keys(ui::alt(KeyCode::up)), [](Client& c) { c.transcript_.select_older(); },
     "M-Up M-Down", "select a message; Up and Down then select others"},
    {ui::keys(ui::alt(KeyCode::down)), [](Client& c) { c.transcript_.select_newer(); }},
    {ui::keys(ui::plain(KeyCode::f1), ui::alt('?')),
     [](Client& c) { c.pages_.push_back({&Client::key_rows}); }, "F1 M-?",
     "this page", "F1 Keys"},
    {ui::keys(ui::plain(KeyCode::f2), ui::alt('s')), 
     [](Client& c) {
         c.pages_.push_back({.compose = &Client::statistics_rows,
                             .notable = notable_entries(c.transcript_)});
     },
     "F2 M-s", "statistics; Up and Down select a slow, bad or lost message", "F2 Stats"},
    {ui::keys(ui::plain(KeyCode::f3), ui::alt('i')),
     [](Client& c) { c.pages_.push_back({&Client::connection_rows}); },
     "F3 M-i", "connection and certificate", "F3 Link"},
    {ui::keys(ui::plain(KeyCode::f4), ui::alt('h')),
     [](Client& c) { c.transcript_.show_hex(!c.transcript_.is_hex()); }, "F4 M-h",
     "show messages in hex, or as text", "F4 Hex"},
    {ui::keys(ui::plain(KeyCode::f5)), [](Client& c) { c.reconnect(); }, "F5",
     "reconnect now", "F5 Reconnect"},
    {ui::keys(ui::plain(KeyCode::f6)), [](Client& c) { c.transcript_.cycle_timestamps(); },
     "F6", "timestamps: the clock, the time since the entry above, or none"},
    {ui::keys(ui::plain(KeyCode::f7)), [](Client& c) { c.transcript_.toggle_freeze(); }, "F7",
     "hold the view, or follow new messages again"},
    {ui::keys(ui::plain(KeyCode::f8)), [](Client& c) { c.disconnect(); }, "F8",
     "close the connection without quitting"},
    {ui::keys(ui::plain(KeyCode::f9), ui::alt('o')),
     [](Client& c) { c.toggle_file(); }, "F9 M-o",
     "start or stop a transcript or a recording", "F9 Record"},
    {ui::keys(ui::alt('/')), [](Client& c) { c.mode_.emplace<MessageSearch>(); }, "M-/ n N",
     "search the messages, or an opened message; next, previous match", "M-/ Find"},
    {ui::keys(ui::alt('w')), [](Client& c) { c.copy_message(); }, "M-w",
     "copy the selected or opened message to the terminal's clipboard"},
    {ui::keys(ui::ctrl('c')), [](Client& c) { c.interrupt(); }, "^C",
     "clear the line; if it is empty, cancel connecting or waiting"},
    {ui::keys(ui::ctrl('z')), [](Client& c) { c.suspend(); }, "^Z", "suspend"},
    {ui::keys(ui::ctrl('l')), [](Client& c) { c.terminal().redraw(); }, "^L", "redraw"},
    {ui::keys(ui::plain(KeyCode::escape)), [](Client& c) { c.press_escape(); }, "Esc",
     "return to the latest message; there, Esc followed by a key acts as M-key"},
};

ScreenClient::ScreenClient(ev::Loop& loop, const Options& options)
    : FullScreen(loop, frame_time),
      loop_(loop),
      options_(options),
      quit_timer_(loop, [this] { mark_changed(); }),
      clock_timer_(loop, [this] { mark_changed(); }),
      transcript_(options.session.expect != Expect::any || options.session.pattern,
                  options.session.framing->name == "resp", {}),
      session_(loop, std::make_shared<const Session::Options>(options.session), *this) {
    transcript_.show_hex(options.is_hex);
    results_.uses_datagrams = options.session.framing->uses_datagrams;
    recorded_results_.uses_datagrams = results_.uses_datagrams;
    if (!options_.log.empty()) open_file(options_.log.path);
    if (options_.recording) show_recording();
    if (options_.has_target) session_.connect();
    clock_timer_.start(ev::Duration::zero());  // draws even if nothing connects
}

// --- Keys.

void ScreenClient::press(const ui::Key& key) {
    notice_.clear();
    if (key.is_truncated) add_note("the paste was truncated to its first 16 MiB", Style::warn);
    const bool is_literal = editor_.next_is_literal();
    const bool is_interrupt = ui::without_alt(key.chord) == ui::ctrl('c') && !is_literal;
    if (is_interrupt && quit_timer_.pending()) return quit_now();
    quit_timer_.cancel();
    if (is_interrupt) quit_timer_.start(quit_time);
    if (key.chord == ui::ctrl('l') && !is_literal) return terminal().redraw();  // in each mode
    const auto act = [this](const ui::Key& with) {
        return editor_.press(with) || ui::perform(bindings, with.chord, *this);
    };
    if (std::exchange(is_after_esc_, false)) {
        // A key without a binding for Alt has its usual effect.
        if (key.chord == ui::plain(KeyCode::escape) || act(ui::add_alt(key))) return;
    } else if (std::visit([&](auto& mode) { return press_in(mode, key); }, mode_) ||
               (!pages_.empty() && press_in(pages_.back(), key))) {
        return;
    }
    if (!act(key)) notice_ = "this key does nothing; F1 lists the keys";
}

bool ScreenClient::press_in(ui::HistorySearch& search, const ui::Key& key) {
    if (search.press(key)) return true;
    const bool is_cancelled = is_cancel(key);
    if (!is_cancelled && !search.match().empty()) editor_.set(std::string(search.match()));
    mode_.emplace<Typing>();
    return is_cancelled;
}

bool ScreenClient::press_in(MessageSearch& search, const ui::Key& key) {
    const bool is_on_page = !pages_.empty();
    const bool is_cancelled = is_cancel(key);
    const int step = key.chord == ui::plain(U'n') ? 1 : key.chord == ui::plain(U'N') ? -1 : 0;
    search.has_failed = false;
    if (search.has_match && step != 0) {  // in the transcript, the next match is older
        search.has_failed =
            is_on_page ? !find_on_page(Style::match, step) : !transcript_.search_next(-step);
        return true;
    }
    if (!search.has_match && key.chord == ui::plain(KeyCode::enter)) {
        const std::string& text = search.text.text();
        if (is_on_page) pages_.back().needle = ui::Needle(text);
        search.has_match = is_on_page ? find_on_page(Style::match) : transcript_.search(text);
        search.has_failed = !search.has_match;
        if (text.empty()) mode_.emplace<Typing>();  // an empty search removes the marks
        return true;
    }
    if (!search.has_match && !is_cancelled && search.text.press(key)) return true;
    const bool is_done = is_cancelled && (is_on_page || !search.has_match);
    if (search.has_match && is_done) pages_.back().needle = {};
    mode_.emplace<Typing>();
    return is_done;
}

// A key without a meaning on the page closes all pages and then has its usual effect. M-/ and
// M-w act on an opened message and keep its page.
bool ScreenClient::press_in(Page& page, const ui::Key& key) {
    const ui::Chord chord = ui::without_alt(key.chord);
    const bool is_up = chord == ui::plain(KeyCode::up);
    if (!page.notable.empty() && (is_up || chord == ui::plain(KeyCode::down))) {
        const std::size_t at = page.selected_index.value_or(0);
        page.selected_index = is_up || !page.selected_index
                                  ? at - std::min<std::size_t>(at, 1)
                                  : std::min(at + 1, page.notable.size() - 1);
        find_on_page(Style::selected);
        return true;
    }
    if (page.selected_index && chord == ui::plain(KeyCode::enter)) {
        open_message(page.notable[*page.selected_index]);
        return true;
    }
    if (scroll(page, key.chord)) return true;
    if (page.message && (key.chord == ui::alt('/') || key.chord == ui::alt('w'))) return false;
    if (page.message && key.chord == ui::plain(U'e')) {
        const Event& event = *page.message->event;
        const std::string bytes(has_message(event.fate) ? event.message.payload
                                                        : event.reply.payload);
        std::string line = options_.has_escapes ? escaped(bytes) : bytes;
        pages_.clear();
        if (line.size() > ui::KeyParser::max_paste)
            notice_ = "the message is too long for the line: " + bytes_text(line.size()) +
                      "; the limit is " + std::to_string(ui::KeyParser::max_paste);
        else
            editor_.set(std::move(line));
        return true;
    }
    const bool is_back = key.chord == ui::plain(KeyCode::enter) || is_cancel(key);
    pages_.erase(is_back ? pages_.end() - 1 : pages_.begin(), pages_.end());
    return is_back;
}

// Scrolls by a row, by a window less one row, or to an end. Returns false if the key does none
// of these.
bool ScreenClient::scroll(Page& page, const ui::Chord& chord) const {
    constexpr int far = 1 << 29;  // rows
    const int window = std::max(main_height() - 1, 1);
    for (const auto& [bound, rows] : {std::pair(ui::plain(KeyCode::down), 1),
                                      {ui::plain(KeyCode::up), -1},
                                      {ui::plain(KeyCode::page_down), window},
                                      {ui::plain(KeyCode::page_up), -window},
                                      {ui::alt('<'), -far},
                                      {ui::alt('>'), far}}) {
        if (chord != bound) continue;
        page.top_row = std::clamp(page.top_row + rows, 0, far);
        return true;
    }
    return false;
}

// Finds the first row of the page on top with a part in this style, or the next such row below
// (`step` 1) or above (-1) the row found last. Scrolls to the row if it is not visible. Returns
// false if there is no such row.
bool ScreenClient::find_on_page(Style style, int step) {
    Page& page = pages_.back();
    const Rows rows = (this->*page.compose)(terminal().size().columns);
    const int height = main_height();
    int at = step == 0 ? 0 : page.found_row + step;
    for (; at >= 0 && at < static_cast<int>(rows.size()); at += step < 0 ? -1 : 1) {
        const ui::Row& row = rows[static_cast<std::size_t>(at)];
        if (std::none_of(row.begin(), row.end(),
                         [style](const ui::Span& span) { return span.style == style; }))
            continue;
        page.found_row = at;
        if (at < page.top_row || at >= page.top_row + height)
            page.top_row = std::max(at - height / 2, 0);
        return true;
    }
    return false;
}

// The page keeps its message, and shows the reply once it has arrived.
void ScreenClient::open_message(const Transcript::Entry& entry) {
    if (entry.event->fate == Fate::note) return;
    pages_.push_back({.compose = &Client::message_rows, .message = entry.copy()});
}

void ScreenClient::submit() {
    if (is_selecting()) return open_message(*transcript_.selected());
    const std::string line = editor_.text();
    history_.add(line);
    editor_.clear();
    transcript_.select_none();
    transcript_.scroll_to_end();
    send(line);
}

void ScreenClient::press_escape() {
    is_after_esc_ = transcript_.is_following() && !transcript_.selected();
    transcript_.select_none();
    transcript_.search("");
    transcript_.scroll_to_end();
}

void ScreenClient::browse(bool is_older) {
    if (is_selecting())
        return is_older ? transcript_.select_older() : transcript_.select_newer();
    auto line = is_older ? history_.older(editor_.text()) : history_.newer();
    if (line) editor_.set(std::move(*line));
}

void ScreenClient::interrupt() {
    if (!editor_.empty()) {
        history_.stop_browsing();
        return editor_.clear();
    }
    const State state = session_.state();
    if (state != State::open && state != State::closed && state != State::idle)
        session_.disconnect();
}

// Copies the opened message, or else the selected one.
void ScreenClient::copy_message() {
    const Transcript::Entry* const entry =
        pages_.empty() ? transcript_.selected() : &*pages_.back().message;
    if (!entry) {
        notice_ = "M-Up selects; M-w then copies the message";
        return;
    }
    const std::string text = transcript_.text_of(*entry->event, ui::max_clipboard_text + 1);
    const std::string trouble = terminal().copy_to_clipboard(text);
    notice_ = trouble.empty() ? "copied, if the terminal allows it (OSC 52)"
                              : "not copied; " + trouble;
}

const std::span<const ui::Binding<Client>> Client::bindings{binding_table};

Rows ScreenClient::key_rows(int width) {
    PageRows page{width};
    page.add_title("Keys (M-x: Alt-x, or Esc then x)");
    const auto add_keys = [&page](const auto& keys) {
        for (const auto& each : keys)
            if (each.help) page.add_fact(each.key_names, each.help);
    };
    add_keys(bindings);
    page.add_title("Line editing");
    page.add_fact("M-Enter", sends_each_line()
                                 ? "a newline, which begins a new message with this framing"
                                 : "a newline in the message");
    add_keys(ui::LineEditor::bindings);
    for (const SignGroup& group : sign_groups) {
        page.add_title(group.title);
        for (const auto& [sign, meaning] : group.signs)  // some have no form in ASCII
            if (!sign.text().empty()) page.add_fact(sign.text(), meaning);
    }
    return page.rows;
}

Rows ScreenClient::statistics_rows(int width) {
    const Page& page = pages_.back();
    const Session::Options& options = session_.options();
    return statistics_page({shown_results(), results_a_minute_ago(), percentile_history_,
                            page.notable, page.selected_index, options.expect == Expect::any,
                            options.listens()},
                           width);
}

Rows ScreenClient::message_rows(int width) {
    Page& page = pages_.back();
    if (!has_reply(page.message->event->fate))
        if (const auto* const answer = transcript_.answer_to(page.message->event->message))
            page.message = answer->copy();
    const bool is_resp = session_.options().framing->name == "resp";
    return message_page(*page.message, is_resp, page.needle, width);
}

// --- The screen.

// On a low screen, the input line takes precedence over the status line, and both over the
// messages.
void ScreenClient::draw() {
    if (journal_ && !journal_->flush()) stop_file();
    const ui::Size size = terminal().size();
    const int height = main_height();
    ui::Frame frame;
    if (pages_.empty()) {
        frame.rows = transcript_.rows(size.columns, height);
    } else {
        Page& page = pages_.back();
        frame.rows = (this->*page.compose)(size.columns);
        page.top_row =
            std::clamp(static_cast<int>(frame.rows.size()) - height, 0, page.top_row);
        frame.rows.erase(frame.rows.begin(), frame.rows.begin() + page.top_row);
    }
    frame.rows.resize(static_cast<std::size_t>(height));
    if (size.rows > 1) frame.rows.push_back(status_row(size.columns));
    frame.cursor_row = static_cast<int>(frame.rows.size());
    frame.is_cursor_shown = true;
    frame.rows.push_back(input_row(size.columns, frame));
    if (has_key_bar()) {
        std::vector<Part> parts;
        for (const auto& binding : bindings)
            if (binding.bar_text) parts.push_back({binding.bar_text, 0, Style::dim});
        std::rotate(parts.begin(), parts.begin() + 1, parts.end());
        for (int rank = 0; Part & part : parts) part.rank = rank++;
        frame.rows.push_back(fit(parts, size.columns, {"  "}));
    }
    terminal().draw(frame);
    // Draws again when a time in the status line changes. It is in seconds while the connection
    // is open, and otherwise in tenths of a second.
    const State state = session_.state();
    if (state == State::closed || state == State::idle) return clock_timer_.cancel();
    const ev::Duration unit = state == State::open ? ev::Duration(1s) : ev::Duration(100ms);
    const ev::Duration elapsed = loop_.now() - session_.state_began_at();
    clock_timer_.start_at(session_.state_began_at() + (elapsed / unit + 1) * unit);
}

ui::Row ScreenClient::status_row(int width) const {
    std::vector<Part> parts =
        status_parts(session_, shown_results(), recent_round_trips_, loop_.now());
    const auto put = [&](int rank, std::string text, Style style) {
        parts.insert(parts.begin() + 1, {std::move(text), rank, style});
    };
    if (const auto& recording = options_.recording) {
        const std::string file =
            ui::printable(recording->name.substr(recording->name.rfind('/') + 1));
        const std::uint64_t count = recorded_results_.sent;
        const std::string text =
            (recording->has_samples
                 ? count_text(count, "sample") + " of " + file +
                       ": the slowest and the bad replies"
                 : "recording " + file + ", " + count_text(count, "message")) +
            local_time_text(", %Y-%m-%d %H:%M", recording->started);
        if (session_.state() != State::idle) {
            put(Rank::detail, text, Style::status);
        } else {
            parts.erase(parts.begin() + 1);  // the target
            parts.front().text = text;
        }
    }
    if (const std::size_t count = queued_messages_.size(); count > 0)
        put(Rank::mode, std::to_string(count) + " " + status_word::queued, Style::status_warn);
    if (journal_) put(Rank::target, status_word::file, Style::status);
    if (!options_.key_log.empty()) put(Rank::trust, status_word::key_log, Style::status_warn);
    if (!transcript_.is_following()) {
        const std::size_t below = transcript_.entries_below();
        const std::string more = below == 0 ? "" : ", " + std::to_string(below) + " below";
        put(Rank::mode, status_word::held + more, Style::status_warn);
    }
    const std::string separator = " " + glyph::separator.text() + " ";
    ui::Row row = fit(parts, width, {" ", separator, Style::status});
    ui::pad(row, width, Style::status);
    return row;
}

// Returns the row of the line being typed or, with a label, of a search. Returns a hint instead
// if there is one. Places the cursor.
ui::Row ScreenClient::input_row(int width, ui::Frame& frame) {
    if (const auto* const search = std::get_if<ui::HistorySearch>(&mode_))
        return search_row(*search, width, frame);
    ui::Row row;
    if (const std::string text = hint_text(); !text.empty()) {
        append_hints(row, text, width);
        return row;
    }
    auto* const search = std::get_if<MessageSearch>(&mode_);
    if (search) ui::append(row, search->has_failed ? "not found: " : "find: ", Style::dim);
    if (is_after_esc_) ui::append(row, "Esc- ", Style::dim);
    ui::LineEditor& editor = search ? search->text : editor_;
    // Announces how many messages a text of several lines becomes.
    std::string lines_hint;
    const auto newlines = std::count(editor.text().begin(), editor.text().end(), '\n');
    if (!search && newlines > 0 && sends_each_line()) {
        const std::string count = std::to_string(newlines + 1);
        lines_hint = "  " + count + " lines";
        if (width >= 60) lines_hint += ": Enter sends " + count + " messages";
    }
    const int space = width - ui::display_width(row) - ui::display_width(lines_hint);
    const ui::LineEditor::View view = editor.view(std::max(space, 1));
    frame.cursor_column = ui::display_width(row) + view.cursor;
    row.insert(row.end(), view.row.begin(), view.row.end());
    if (!lines_hint.empty()) ui::pad(row, width - ui::display_width(lines_hint));
    ui::append(row, lines_hint, Style::dim);
    if (search && editor.empty()) append_hints(row, "Enter searches; Esc goes back", width);
    return row;
}

ui::Row ScreenClient::search_row(const ui::HistorySearch& search, int width,
                                 ui::Frame& frame) const {
    // A long match is truncated before it becomes a row. A column contains at most 20 bytes, of
    // a base character and its combining marks.
    const std::size_t max_bytes = 20 * static_cast<std::size_t>(width);
    ui::Row row;
    ui::append(row, search.has_failed() ? "not in the history: " : "search: ", Style::dim);
    ui::append_escaped(row, search.query());
    frame.cursor_column = ui::display_width(row);
    if (search.query().empty())
        append_hints(row, "search the history; ^R again finds an older line; Esc goes back",
                     width);
    else
        ui::append(row, " - ", Style::dim);
    ui::append_escaped(row, search.match().substr(0, max_bytes));
    ui::truncate(row, width);
    return row;
}

// Returns the text shown instead of the input line, if there is any.
std::string ScreenClient::hint_text() const {
    if (quit_timer_.pending()) return "^C again to quit";
    if (!notice_.empty()) return notice_;
    if (const auto* const search = std::get_if<MessageSearch>(&mode_)) {
        if (!search->has_match) return {};
        const std::string outcome = search->has_failed ? "no more matches; " : "";
        if (!pages_.empty()) return outcome + "n next, N previous; Esc goes back";
        return outcome + "n older, N newer; Esc goes back" +
               (search->has_failed ? "" : " to the end");
    }
    if (!pages_.empty()) {
        const Page& page = pages_.back();
        if (page.message)
            return "Esc goes back; e edits it; M-/ searches; M-w copies; Up Down PgUp PgDn "
                   "scroll";
        if (page.selected_index) return "Enter opens it; Esc goes back; Up Down select";
        return page.notable.empty()
                   ? "Esc goes back; Up Down PgUp PgDn scroll"
                   : "Esc goes back; Up Down select a message; PgUp PgDn scroll";
    }
    if (!editor_.empty()) return {};
    if (is_after_esc_)
        return "Esc- press a key; it then acts as with Alt; F1 lists the keys; Esc cancels";
    if (const Transcript::Entry* const entry = transcript_.selected())
        return std::string(entry->event->fate == Fate::note ? "" : "Enter opens it; ") +
               "Esc goes back; Up Down select; M-w copies it";
    if (!options_.has_target)
        return "F1 help; ^D quits; M-Up selects; PgUp scrolls; M-/ searches";
    if (const std::string hint = progress_hint(); !hint.empty()) return hint;
    return std::string(connection_hints(session_, !history_.lines().empty()));
}

// Returns how many lines of a text are answered, how much of a message has arrived if its rest
// is missing for a while, or how to type the text that follows DATA in SMTP.
std::string ScreenClient::progress_hint() const {
    const std::size_t count = messages_sent_together_;
    const std::size_t left = std::min(session_.in_flight(), count);
    if (count > 1 && left > 0)
        return std::to_string(count - left) + " of " + std::to_string(count) + " answered";
    const std::string_view partial = session_.partial_message();
    if (!partial.empty() && loop_.now() - session_changed_at_ >= partial_time)
        return "a message is incomplete " + session_.options().framing->fragment_text(partial);
    const auto& entries = transcript_.entries();
    if (!session_.options().framing->takes_turns || entries.empty()) return {};
    const Event& last = *entries.back().event;
    return last.fate != Fate::note && last.reply.payload.starts_with("354")
               ? "M-Enter begins a new line; a line with only a dot ends the text"
               : "";
}

Rows ScreenClient::connection_rows(int width) {
    PageRows page{width};
    if (const auto& recording = options_.recording) {
        page.add_title("Recording");
        page.add_fact("file", recording->name);
        page.add_fact(recording->has_samples ? "samples" : "messages",
                      std::to_string(recorded_results_.sent));
        page.add_fact("began", date_text(recording->started));
        const std::string& trouble = recording->trouble.text;
        if (!trouble.empty()) page.add_fact("damage", trouble, Style::bad);
    }
    if (options_.has_target)
        add_connection(page, session_, shown_results(), options_.key_log, options_.sandbox);
    return page.rows;
}

}  // namespace yodel
