// The part of the full-screen client that sends and receives: the session, its transcript and
// its counts. It knows no keys, and draws nothing.
#pragma once

#include "app/protocol/session.hpp"
#include "app/screen/transcript.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/recording.hpp"
#include "app/stats/results.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

// Returns true if messages end with a newline, so that each line of a text is a message. A
// message of SMTP may have several lines, because the server decides when it ends.
bool ends_with_newline(const Framing& framing);

class Conversation : private Session::Owner {
public:
    struct Options {
        Session::Options session;
        bool escapes = false;  // lines contain escapes such as \n and \xNN
        bool hex = false;      // messages are shown in hex from the start
        JournalFile log;       // if empty, F9 starts a transcript named after the time
        bool quiet = false;    // no summary at the end if all is well
        // The recording to show first, if there is one.
        std::shared_ptr<const Recording> recording = nullptr;
        bool connects = true;      // if false, there is only the recording, and no target
        std::string key_log = {};  // the file to which TLS secrets are written, if any
        std::string sandbox = {};  // the sandbox's state in a few words
    };

    Conversation(const Conversation&) = delete;

protected:
    // Throws FileError if the journal's file can't be opened.
    Conversation(ev::Loop& loop, const Options& options);
    ~Conversation() = default;

    // Shows the recording, and connects.
    void begin();
    const Options& options() const { return options_; }
    std::uint64_t recorded_count() const { return recorded_results_.sent; }

    // Sends the line, queues it until there is a connection, or calls line_refused(). Connects
    // again if reconnects_to_send().
    void send(const std::string& line);
    std::size_t sent_together() const { return sent_together_; }  // messages in the last text
    std::size_t queued_lines() const { return queued_lines_.size(); }

    // Calls Session::finish(), which waits for replies, and stops the loop once the session
    // ends. A later disconnect() or reconnect() cancels quitting. If the connection is not
    // open, acts like quit().
    void quit_when_answered();
    // Closes the connection, and stops the loop once the session has reported the end.
    void quit();
    void disconnect();
    // Disconnects and connects again. Right after a successful retry, which the user may not
    // have noticed, only adds a note to the log; the next call then reconnects.
    void reconnect();

    void add_note(std::string_view text, ui::Style style = ui::Style::dim);
    void toggle_file();
    // Writes buffered entries to the journal's file, and stops the journal if that fails.
    void flush_file();
    bool is_writing_file() const { return journal_.has_value(); }

    int report();  // prints the outcome on standard error, and returns the exit status

    Session& session() { return session_; }
    const Session& session() const { return session_; }
    Transcript& transcript() { return transcript_; }
    const Transcript& transcript() const { return transcript_; }
    // Returns the counts of the session or, until a message is sent, of the recording.
    const Results& results() const;
    // Returns the counts of the session a minute ago, to within a second. Returns null while
    // results() returns the counts of the recording.
    const Results* results_a_minute_ago() const;
    const PercentileHistory& percentile_history() const { return percentile_history_; }
    const std::deque<ev::Duration>& recent_round_trips() const { return recent_round_trips_; }

private:
    virtual void conversation_changed() = 0;  // the screen must be drawn again
    // The line can't be sent. A note with the reason follows.
    virtual void line_refused(const std::string& line) = 0;

    void session_changed() override;
    void session_event(const Event& event) override;
    void record(const Event& event, ui::Style note_style = ui::Style::dim);
    void show(const Event& event, Transcript::WallTime at, ui::Style note_style);
    bool is_open() const { return session_.state() == Session::State::open; }
    bool refuse_without_target();
    void report_state();
    void send_now(const std::string& text);
    void refuse(const std::string& line, const std::string& why);
    void start_file();
    bool stop_file();
    void open_file(const std::string& name);
    void record_connection();
    void fail_file(const std::string& trouble, const char* effect = "");

    ev::Loop& loop_;
    const Options options_;
    Transcript transcript_;
    std::optional<Journal> journal_;
    Results file_results_;  // of the events in the journal, if it is a recording
    Results recorded_results_;
    std::deque<std::string> queued_lines_;  // lines to send over the next connection
    std::string file_trouble_;              // why a file is missing or incomplete; else empty
    std::size_t sent_together_ = 0;
    bool is_quitting_ = false;  // the loop stops once the session is closed
    Results results_;
    // Results before an event, with the event's time: at most one for each second of the last
    // minute.
    std::deque<std::pair<ev::Time, Results>> earlier_results_;
    PercentileHistory percentile_history_;
    std::deque<ev::Duration> recent_round_trips_;
    Session::State reported_state_ = Session::State::idle;  // the last state in the log
    bool has_noted_half_close_ = false;  // the log reports a half-close by the server
    // The last reported failure to connect. A failure for the same reason is not reported
    // again.
    bufio::End reported_failure_;
    bool was_retried_ = false;  // a retry, not a key, opened this connection
    Session session_;
};

}  // namespace yodel
