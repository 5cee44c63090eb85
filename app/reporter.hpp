// What a client without a screen tells: replies on standard output, as one of several forms;
// a log; on standard error what went wrong, and at the end how it went.
//
// With Form::json there is one object a line: for each connection, each message, and the end.
// A message that gets no reply in time is `lost`; should one come later, another object says
// that it was `late`.
#pragma once

#include "app/log_file.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/tally.hpp"
#include "ev/loop.hpp"

#include <cstddef>
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
        bool quiet = false;    // no summary; with `sequence` nothing but the summary
        bool verbose = false;  // tells connections too
        bool probe = false;    // a connection is all that there is to tell
        std::string log;       // a file; empty: none
    };

    // While the reader of standard output has yet to take more than `high_water` bytes, and
    // then until it is a quarter of that, the session is held; where nothing can be written it
    // is disconnected. Throws std::system_error: the log.
    Reporter(ev::Loop& loop, Options options, Session& session, std::size_t high_water);

    void connected();
    void retrying();
    void sent(std::string_view payload, std::uint64_t messages = 1);
    // A message that was due and could not be sent.
    void missed(std::string_view payload);
    void answered(const Message& message, const Reply& reply);
    void lost(const Message& message);
    void unasked(std::string_view payload);
    void received(std::string_view bytes);  // of `raw`: also what is no message's reply
    // The connection is closed for good: tells what belongs on standard output.
    void ended(const std::string& trouble);
    // After each change of the session: writes what the reader takes. The loop is stopped once
    // the session is closed and nothing more will be said on standard output: all of it was, or
    // there is no time left.
    void flush();
    // What is said when all is over; returns the exit status. `trouble`: what went wrong on our
    // side of the connection.
    int finish(const std::string& trouble);

    const Tally& tally() const { return tally_; }

private:
    void output_changed();
    void stop_if_done();
    bool raw() const { return session_.options().framing->kind == Framing::Kind::raw; }
    bool bytes_pass() const;
    void print(std::string_view payload);
    void append(std::string_view bytes);
    void append_line(const std::string& text);
    void tell_message(std::uint64_t id, const char* verdict, const Message* message,
                      const Reply* reply);
    void log(char sign, std::string_view bytes);
    int status(const std::string& trouble) const;

    ev::Loop& loop_;
    Options options_;
    Session& session_;
    const std::size_t high_water_;
    bool visible_;  // standard output is a terminal: unsafe bytes are made visible
    Tally tally_;
    Output output_;
    std::optional<LogFile> log_;
    ev::Time start_;  // of the times in objects
};

}  // namespace yodel
