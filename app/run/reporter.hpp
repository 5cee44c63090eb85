// Writes the events of a run to standard output, in one of several forms, and to a journal.
// Prints remarks about connections on standard error.
//
// If reports_messages(), Form::json prints an object for each connection that opens, and for
// what happens to each message. A message without a timely reply is `lost`; a late reply adds
// another object, `late`. In a load, lines begin with the connection's number, and objects
// contain that number.
#pragma once

#include "app/protocol/session.hpp"
#include "app/run/lane.hpp"
#include "app/stats/recording.hpp"
#include "app/stats/requirement.hpp"
#include "app/text/output.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class Reporter final : public Lane::Owner {
public:
    // `payload` prints each reply, and `hex` its hex dump. `sequence` prints a line about each
    // message, or about each attempt of a repeated probe, as ping does.
    enum class Form { payload, hex, json, sequence };
    struct Options {
        Form form = Form::payload;
        bool is_hex = false;      // print a replay's differences as hex dumps
        bool is_quiet = false;    // print only errors, and replies, an end object or a summary
        bool is_verbose = false;  // also report connections
        // Report totals instead of connections and generated messages, number the connections,
        // and print replies only with `is_verbose`.
        bool is_load = false;
        bool has_remarks = true;  // print remarks about connections; set by RunClient
        JournalFile log = {};
        std::vector<Requirement> required = {};
    };

    // The options of the run must outlive the reporter. Throws FileError if the journal cannot
    // be opened.
    Reporter(ev::Loop& loop, Options options, const RunOptions& run);

    void lane_opened(std::size_t connection_number, const Session& session) override;
    void lane_ended(std::size_t connection_number, const Session& session,
                    bool was_open) override;
    void lane_event(const Event& event) override;

    // Writes what was queued. Call it after each turn of the loop.
    void flush();
    Output& output() { return output_; }  // standard output
    // Writes an incomplete last character, and the rest of the journal. Returns why the journal
    // has failed, as one clause, or an empty text if it has not. Call it after the last event
    // and before add_end().
    std::string finish_output();
    // Writes the end object to the recording and, with Form::json, to standard output.
    void add_end(const std::string& object);
    // Returns true if each message is reported, not only counted.
    bool reports_messages() const { return !is_load() || run_.from == RunOptions::From::input; }
    // A load prints replies only with `is_verbose`.
    bool prints_replies() const {
        const bool prints_payloads =
            options_.form == Form::payload || options_.form == Form::hex;
        return reports_messages() && prints_payloads && !is_replay() &&
               (!is_load() || options_.is_verbose);
    }
    // Returns true if an open connection is the result: in a single probe, not in a load.
    bool is_probe() const { return run_.is_probe && !run_.probe_interval && !is_load(); }
    const std::optional<bufio::TlsFacts>& refused_certificate() const {
        return refused_certificate_;
    }

private:
    bool prints_json() const { return options_.form == Form::json; }
    bool prints_sequence() const {
        return reports_messages() && options_.form == Form::sequence && !options_.is_quiet;
    }
    bool is_replay() const { return run_.session.expect == Expect::given; }
    bool is_unframed() const { return !run_.session.framing->has_frames(); }
    bool is_load() const { return options_.is_load; }
    void on_sent(const Event& event);
    void add_object(const Event& event);
    void print_reply(const Event& event);
    void print_visible(std::string_view bytes);
    std::string difference_text(const Event& event) const;
    std::string rows(const char* name, std::string_view payload, std::size_t difference) const;
    void report_attempt(const std::string& text, bool is_new = true);
    void print_remark(std::size_t connection_number, const std::string& text);

    const Options options_;
    const RunOptions& run_;
    const bool makes_printable_;         // true for a terminal; unsafe bytes are escaped
    std::uint64_t attempt_count_ = 0;    // counted only with RunOptions::probe_interval
    std::size_t remark_count_ = 0;       // lines printed about connections in a load
    std::uint64_t unterminated_id_ = 0;  // id of the last message with is_unterminated
    std::string partial_character_;      // first bytes of an incomplete UTF-8 character
    Output output_;
    const ev::Time started_at_;  // origin of the times in JSON objects
    std::optional<bufio::TlsFacts> refused_certificate_;
    std::optional<Journal> journal_;
};

// Returns true if --json prints a recording: for messages with frames, but neither in a probe
// nor in a load.
bool prints_recording(const Reporter::Options& options, const RunOptions& run);

}  // namespace yodel
