// The conversation with the service: the session, its log and its counts. It knows no keys and
// draws nothing.
#pragma once

#include "app/protocol/session.hpp"
#include "app/screen/message_log.hpp"
#include "app/screen/screen_recording.hpp"
#include "app/stats/history.hpp"
#include "app/stats/results.hpp"
#include "ev/loop.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class Conversation final : private Session::User {
public:
    struct Options {
        Session::Options session;
        bool escapes = false;              // lines contain \n, \xNN and the like
        std::size_t scrollback = 100'000;  // entries of the log
        // The transcript's file; empty: named by the time when it starts. A recording that is
        // started again gets a name with a number, because it begins its file.
        std::string log;
        bool quiet = false;  // no summary at the end if all is well
    };

    // The user must not destroy the conversation from these callbacks.
    class User {
    public:
        virtual void conversation_changed() = 0;  // the screen must be drawn again
        // The line can't be sent; the log contains the reason.
        virtual void line_refused(const std::string& line) = 0;

    protected:
        ~User() = default;
    };

    // Throws std::system_error if the transcript's file can't be opened. The loop and the user
    // must outlive the conversation.
    Conversation(ev::Loop& loop, const Options& options, User& user);

    // Sends the line, or queues it until there is a connection.
    void send(const std::string& line);
    std::size_t queued_lines() const { return queued_lines_.size(); }

    // Closes our side, and stops the loop once all is answered. disconnect() and reconnect()
    // revoke that. Without a connection it is the same as quit().
    void quit_when_answered();
    // Closes the connection, and stops the loop once the session has reported that.
    void quit();
    void disconnect();
    // Disconnects and connects again. If a retry has only just connected, which the user may
    // not have seen yet, it adds a note to the log instead, and the next call reconnects.
    void reconnect();

    // Adds a remark of the program to the log.
    void add_note(std::string_view text, ui::Style style = ui::Style::dim);
    // Starts or stops the transcript file, or the recording.
    void toggle_file();
    // Writes all entries to the transcript file, and stops it if that fails.
    void flush_file();
    bool file_open() const { return recording_ || log_.file_open(); }

    // Prints the outcome on standard error, returns the exit status.
    int report();

    Session& session() { return session_; }
    const Session& session() const { return session_; }
    MessageLog& log() { return log_; }
    const MessageLog& log() const { return log_; }
    const Results& results() const { return results_; }
    const PercentileHistory& percentile_history() const { return percentile_history_; }
    const std::deque<ev::Duration>& recent() const { return recent_; }  // round trips

private:
    void session_changed() override;
    void session_answered(const Message& message, const Reply& reply) override;
    void session_lost(const Message& message) override;
    void session_unsolicited(std::string_view payload) override;
    void session_repeated(std::string_view payload) override;
    void report_state();
    void report_server_end();
    void begin_connection();
    void report_counts() const;
    bool all_echoed() const;
    void send_now(const std::string& line);
    void refuse(const std::string& line, const std::string& why);
    void start_file();
    bool stop_file();
    void open_file(const std::string& name);
    std::string next_file_name() const;
    const char* file_kind() const;  // "recording" or "transcript"
    void fail_file(const std::string& trouble);

    ev::Loop& loop_;
    const Options options_;
    User& user_;
    MessageLog log_;
    std::optional<ScreenRecording> recording_;  // while one is written
    Results results_;
    Jitter jitter_;  // of datagrams
    PercentileHistory percentile_history_;
    std::deque<ev::Duration> recent_;
    std::deque<std::string> queued_lines_;  // to be sent over the next connection
    Session::State reported_state_ = Session::State::idle;  // the last one in the log
    bool server_ended_ = false;  // the log reports that the server has closed its side
    std::string file_trouble_;   // why a file is missing, or not whole; empty: none is
    bool quitting_ = false;      // the loop stops once all is answered
    // The failure of the last try to connect is reported once, however many tries fail by it.
    std::string reported_trouble_;
    // The connection came after a failure, and no key has asked for another one since.
    bool retried_ = false;
    Session session_;
};

}  // namespace yodel
