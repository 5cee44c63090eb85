// The full-screen client: the messages, a status line, and the line being typed. It handles the
// keys and draws the screen, in screen_client.cpp. It also connects, sends, receives and writes
// the transcript or recording, in conversation.cpp, which handles no keys and draws nothing.
#pragma once

#include "app/protocol/session.hpp"
#include "app/screen/full_screen.hpp"
#include "app/screen/pages.hpp"
#include "app/screen/status_line.hpp"
#include "app/screen/transcript.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/recording.hpp"
#include "app/stats/results.hpp"
#include "ev/loop.hpp"
#include "ui/frame.hpp"
#include "ui/key.hpp"
#include "ui/line_editor.hpp"
#include "ui/search.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace yodel {

class ScreenClient final : public FullScreen, private Session::Owner {
public:
    struct Options {
        Session::Options session;
        bool has_escapes = false;  // lines may contain escapes such as \n and \xNN
        bool is_hex = false;       // messages are shown in hex from the start
        JournalFile log;           // if empty, F9 starts a transcript named after the time
        bool is_quiet = false;     // no summary at the end, unless it alone shows a failure
        // The recording to show first, if there is one.
        std::shared_ptr<const Recording> recording = nullptr;
        bool has_target = true;    // if false, there is only the recording
        std::string key_log = {};  // the file to which TLS secrets are written, if any
        std::string sandbox = {};  // the sandbox's state in a few words
    };

    // Shows the recording, if any, and connects to the target, if any. Throws as FullScreen
    // does, and FileError if the journal's file can't be opened.
    ScreenClient(ev::Loop& loop, const Options& options);

    // Call it for a signal that ends the program. Closes the connection, and stops the loop
    // once the session has reported the end.
    void quit(int /*signo*/) { quit_now(); }
    // Restores the terminal, closes the journal, prints the outcome on standard error, and
    // returns the exit status. Without a target, prints nothing.
    int report();
    // The keys, in the order of the key page.
    static const std::span<const ui::Binding<ScreenClient>> bindings;

private:
    static const ui::Binding<ScreenClient> binding_table[];

    // A mode handles keys before the pages and `bindings`, and decides when to return to
    // Typing.
    struct Typing {};       // keys act on the page on top, then on the line, then by `bindings`
    struct MessageSearch {  // searches the messages, or the message on the page on top
        ui::LineEditor text = {};
        bool has_match = false;   // if true, n and N find more matches
        bool has_failed = false;  // the last key found no match
    };
    using Mode = std::variant<Typing, ui::HistorySearch, MessageSearch>;

    // A page that covers the messages, in a window that keys scroll. It is composed again for
    // each drawing, so that it follows changes of its content and of the width.
    struct Page {
        Rows (ScreenClient::*compose)(int width);  // all rows of the page on top
        std::optional<Transcript::Entry> message =
            {};                                       // the opened message; none on other pages
        std::vector<Transcript::Entry> notable = {};  // selectable, on the statistics page
        std::optional<std::size_t> selected_index = {};  // in `notable`
        ui::Needle needle = {};                          // its matches are marked
        int top_row = 0;                                 // the first visible row
        int found_row = 0;                               // found last by find_on_page()
    };

    // --- Keys and drawing.

    void press(const ui::Key& key) override;
    void suspending() override { session_.void_round_trips(); }
    // Nobody sees what arrives, so an endless flood need not be read.
    void stalled(bool is_stalled) override { session_.pause(is_stalled); }
    void draw() override;

    // Each may end its mode or close its page. Returns false if the key must also have its
    // usual effect.
    static bool press_in(Typing&, const ui::Key&) { return false; }
    bool press_in(ui::HistorySearch& search, const ui::Key& key);
    bool press_in(MessageSearch& search, const ui::Key& key);
    bool press_in(Page& page, const ui::Key& key);
    bool scroll(Page& page, const ui::Chord& chord) const;
    bool find_on_page(ui::Style style, int step = 0);

    // Actions that are too long for the table of bindings.
    void submit();
    void open_message(const Transcript::Entry& entry);
    void press_escape();
    void browse(bool is_older);
    void interrupt();
    void copy_message();

    // True while a message is selected and no line is being typed. Enter, Up and Down then
    // apply to the message.
    bool is_selecting() { return editor_.empty() && transcript_.selected(); }
    Rows key_rows(int width);
    Rows statistics_rows(int width);
    Rows connection_rows(int width);
    Rows message_rows(int width);

    bool has_key_bar() const { return terminal().size().rows >= 12; }
    // Returns the number of rows above the status line, the input line and the key bar.
    int main_height() const {
        return std::max(terminal().size().rows - (has_key_bar() ? 3 : 2), 0);
    }
    ui::Row status_row(int width) const;
    std::string hint_text() const;
    std::string progress_hint() const;
    ui::Row input_row(int width, ui::Frame& frame);
    ui::Row search_row(const ui::HistorySearch& search, int width, ui::Frame& frame) const;

    // --- The conversation.

    void session_changed() override;
    void session_event(const Event& event) override;
    void add_event(const Event& event, ui::Style note_style = ui::Style::dim);
    void show(const Event& event, Transcript::WallTime at, ui::Style note_style);
    void show_recording();
    void report_state();
    void add_note(std::string_view text, ui::Style style = ui::Style::dim);

    bool is_open() const { return session_.state() == Session::State::open; }
    // Returns true if messages end with a newline, so that each line of a text is a message. A
    // message of SMTP may have several lines, because the server decides when it ends.
    bool sends_each_line() const;
    // Sends the messages of the text, or queues them until there is a connection. Connects
    // again if reconnects_to_send(). If a message cannot be sent, sends none, and puts the text
    // back into the line.
    void send(const std::string& text);
    // Appends the messages of the text. Returns why one of them cannot be sent, or an empty
    // string if all can.
    std::string split(const std::string& text, std::vector<std::string>& messages) const;
    void send_now(const std::vector<std::string>& messages);
    bool refuse_without_target();

    // Calls Session::finish(), which waits for replies, and stops the loop once the session
    // ends. A later disconnect() or reconnect() cancels quitting. If the connection is not
    // open, acts like quit_now().
    void quit_when_answered();
    void quit_now();
    void disconnect();
    // Disconnects and connects again. Right after a successful retry, which the user may not
    // have noticed, only adds a note; the next call then reconnects.
    void reconnect();

    void toggle_file();
    void start_file();
    bool stop_file();
    void open_file(const std::string& name);
    void record_connection();
    void report_file_error(const std::string& trouble, const char* effect = "");

    // Returns true if the counts shown are those of the recording, because no message was sent.
    bool counts_recording() const { return options_.recording && !results_.has_messages(); }
    const Results& shown_results() const;
    // Returns the counts of the session a minute ago, to within a second. Returns null while
    // the counts of the recording are shown.
    const Results* results_a_minute_ago() const;

    ev::Loop& loop_;
    const Options options_;
    ui::LineEditor editor_;
    ui::History history_;
    Mode mode_;
    bool is_after_esc_ = false;  // Esc was pressed: the next key counts as pressed with Alt
    std::vector<Page> pages_;    // over the messages, the last one on top
    std::string notice_;         // replaces the input line until the next key
    ev::Timer quit_timer_;       // runs while another ^C quits
    ev::Timer clock_timer_;      // fires when a time in the status line changes

    Transcript transcript_;
    std::optional<Journal> journal_;  // set while a file is written
    Results file_results_;      // counts of the events in the journal, if it is a recording
    std::string file_trouble_;  // why a file is missing or incomplete; else empty
    Results results_;
    Results recorded_results_;
    // Results before an event, with the event's time: at most one for each second of the last
    // minute.
    std::deque<std::pair<ev::Time, Results>> earlier_results_;
    PercentileHistory percentile_history_;
    std::deque<ev::Duration> recent_round_trips_;
    std::vector<std::string> queued_messages_;  // to send over the next connection
    std::size_t messages_sent_together_ = 0;    // by the last send_now()
    bool is_quitting_ = false;                  // the loop stops once the session is closed
    Session::State reported_state_ = Session::State::idle;  // at the last session_changed()
    ev::Time session_changed_at_{};                         // of the last session_changed()
    bool has_noted_half_close_ = false;  // the server's half-close of this connection is noted
    // The last failure that a retry followed. The same failure is not reported again.
    bufio::End reported_failure_;
    bool was_retried_ = false;  // this connection followed a reported failure; F5 resets it
    Session session_;
};

}  // namespace yodel
