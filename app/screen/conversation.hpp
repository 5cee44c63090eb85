// What is said with the service, as the screen shows it: the session, the log of it, and the
// counts. It knows no key and draws nothing.
#pragma once

#include "app/protocol/session.hpp"
#include "app/screen/message_log.hpp"
#include "app/stats/course.hpp"
#include "app/stats/tally.hpp"
#include "ev/loop.hpp"

#include <deque>
#include <string>
#include <string_view>

namespace yodel {

class Conversation final : private Session::User {
public:
    struct Options {
        Session::Options session;
        bool escapes = false;              // lines hold \n, \xNN and the like
        std::size_t scrollback = 100'000;  // messages kept
        std::string log;     // the transcript's file; empty: made up when asked for
        bool quiet = false;  // no summary at the end where all is well
    };

    // Neither may destroy the conversation.
    class User {
    public:
        virtual void conversation_changed() = 0;  // what is to be shown
        // It can't be sent, and the log says why.
        virtual void line_refused(const std::string& line) = 0;

    protected:
        ~User() = default;
    };

    // Throws std::system_error: the log's file.
    Conversation(ev::Loop& loop, const Options& options, User& user);

    // Sends the line, now or when there is a connection.
    void say(const std::string& line);
    std::size_t kept() const { return kept_.size(); }  // lines, until then

    // Stops the loop once the session has finished, unless it was disconnected to stay.
    void finish();
    void disconnect();
    void reconnect();

    // Notes something of our own.
    void note(std::string_view text, ui::Style style = ui::Style::dim);
    // Starts or stops writing the log to a file too.
    void toggle_file();
    // Writes what it has not yet, and stops where it can't.
    void flush_file();

    // Says on standard error how it went, returns the exit status.
    int report();

    Session& session() { return session_; }
    const Session& session() const { return session_; }
    MessageLog& log() { return log_; }
    const MessageLog& log() const { return log_; }
    const Tally& tally() const { return tally_; }
    const Course& course() const { return course_; }
    const std::deque<ev::Duration>& recent() const { return recent_; }  // round trips

private:
    void session_changed() override;
    void session_answered(const Message& message, const Reply& reply) override;
    void session_lost(const Message& message) override;
    void session_unsolicited(std::string_view payload) override;
    void report_state();
    void report_server_end();
    void report_counts() const;
    bool all_echoed() const;
    void send_kept();
    void send(const std::string& line);
    void refuse(const std::string& line, const std::string& why);
    void start_file();

    ev::Loop& loop_;
    const bool escapes_;
    const bool quiet_;
    const std::string file_name_;
    User& user_;
    MessageLog log_;
    Tally tally_;
    Course course_;
    std::deque<ev::Duration> recent_;
    std::deque<std::string> kept_;                          // lines for the next connection
    Session::State reported_state_ = Session::State::idle;  // the last one in the log
    bool server_ended_ = false;  // the log says that the server has closed its side
    bool file_whole_ = true;     // whatever was to be written to it
    bool leaving_ = false;       // once all is answered
    // The failure of the last try to connect is reported once, however many tries fail by it.
    std::string reported_trouble_;
    Session session_;
};

}  // namespace yodel
