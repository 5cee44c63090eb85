// The output of a client without a screen: replies on standard output, in one of several forms;
// a log; on standard error what went wrong, and at the end how it went.
//
// With Form::json there is one object a line: for each connection, each message, and the end.
// A message that gets no reply in time is `lost`; if one comes later, another object reports it
// as `late`.
#pragma once

#include "app/pipe/replay_report.hpp"
#include "app/protocol/any_session.hpp"
#include "app/protocol/recorder.hpp"
#include "app/stats/results.hpp"
#include "app/stats/summary.hpp"
#include "app/stats/verdict.hpp"
#include "app/text/log_file.hpp"
#include "app/text/output.hpp"
#include "app/text/report_file.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class Reporter {
public:
    // `payload`: each reply and a newline, or the bytes as they come where nothing is framed;
    // `hex`: the same as a dump; `sequence`: one line for each, as ping has it.
    enum class Form { payload, hex, json, sequence };
    struct Options {
        Form form = Form::payload;
        bool payloads = false;  // with `json`: the objects make a recording
        bool replay = false;    // a recording is said again; only differences are printed
        bool hex = false;       // of a replay: show payloads as a dump
        bool quiet = false;     // no summary; with `sequence` nothing but the summary
        bool verbose = false;   // report connections too
        bool probe = false;     // a connection is all that there is to report
        std::string log;        // a file; empty: none
        std::string hgrm;       // a file for the percentile distribution; empty: none
        Verdict::Options verdict;
    };

    // True if each message is reported by itself, so that facts about one of them are seen.
    static bool reports_messages(const Options& options);

    using Trouble = Ending::Trouble;

    // `output_changed` is called from the loop when standard output was written later than it
    // was said, or has failed. Throws std::system_error: the log, or the file `hgrm`.
    Reporter(ev::Loop& loop, Options options, const AnySession& session,
             std::function<void()> output_changed);

    // A try to connect begins; called again while it lasts, it has no effect.
    void connecting();
    void connected();
    void retrying();
    // `planned`: see AnySession::send().
    void sent(std::string_view payload, Queued queued, ev::Time planned = {});
    // A message that was due and could not be sent. Once the program is being ended by a
    // signal, it does not count.
    void missed(std::string_view payload, std::uint64_t id, ev::Time planned);
    // How long after its planned time a message was written.
    void record_lateness(ev::Duration late) { result_.record_lateness(late); }
    // The reply's round trip may count from when the message was planned; `transit` counts from
    // when it was written.
    void answered(const Message& message, const Reply& reply,
                  std::optional<ev::Duration> transit);
    void echoed(const Batch& batch, std::optional<ev::Duration> round_trip);
    void lost(const Message& message);
    void unsolicited(std::string_view payload);
    void repeated(std::string_view payload);
    // Of a replay: an unsolicited message has come as it was recorded, or was not recorded, or
    // was recorded and did not come.
    void came_again(std::string_view payload);
    void unrecorded(std::string_view payload);
    void missing(std::string_view payload);
    void received(std::string_view bytes);  // of `raw`: also what is no message's reply
    // The input's last line, the end of which was sent as the last message, has no newline:
    // neither gets the reply to that message.
    void leave_last_line_open() { open_line_ = session_.last_id(); }
    void record(Trouble trouble) { ending_.troubles.push_back(std::move(trouble)); }
    void leave(int signo) { ending_.signo = signo; }  // that ends the program
    // The connection is closed for good: adds what belongs on standard output.
    void ended();

    // Writes what the readers of standard output and of the log take.
    void flush();
    std::size_t pending() const { return output_.pending(); }  // bytes
    bool output_failed() const { return output_.error() != 0; }
    bool output_done() const { return output_.done(); }
    // The time for the run has passed, and the reader of standard output has not taken all.
    // `limit`: the time that has passed, in words.
    void output_unread(const std::string& limit);
    // Prints on standard error how it went; returns the exit status.
    int finish();

    const Results& results() const { return result_; }

private:
    bool raw() const { return !session_.options().framing->has_frames(); }
    bool bytes_pass() const;
    void print(std::string_view payload, bool newline = true);
    void print_visible(std::string_view bytes);
    void append_line(const std::string& text);
    void add_unsolicited(const char* verdict, std::string_view payload);
    void silent_again(const Message& message);
    void answered_again(const Message& message, const Reply& reply);
    void warn_of_mismatch(const Message& message, const Reply& reply);
    void add_message(const char* verdict, const Message* message, const Reply* reply);
    std::string log_trouble() const;
    void log(char sign, std::string_view bytes);
    void try_ended();
    void write_hgrm();
    std::string end_text() const;
    Ending ending() const;
    int status() const;

    const ev::Loop& loop_;
    Options options_;
    const AnySession& session_;
    bool visible_;  // standard output is a terminal: unsafe bytes are made visible
    Results result_;
    std::optional<ReplayReport> replay_;  // if a recording is said again
    Verdict verdict_;
    bool trying_ = false;    // a connection is sought or open
    bool opened_ = false;    // it is open, or was
    bool was_open_ = false;  // the last one that ended was
    Jitter jitter_;          // of datagrams
    Ending ending_;
    std::uint64_t open_line_ = 0;  // id of the message whose reply gets no newline
    std::string partial_;          // the beginning of a UTF-8 character, kept for its end
    Output output_;
    std::optional<LogFile> log_;
    std::optional<Recorder> recorder_;  // instead of the log
    std::optional<ReportFile> hgrm_;
    ev::Time start_;  // of the times in objects
};

}  // namespace yodel
