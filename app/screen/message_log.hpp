// What was sent, received and said, as the screen shows it: the entries of the transcript, and
// behind each what is known of its message.
#pragma once

#include "app/protocol/session.hpp"
#include "app/text/log_file.hpp"
#include "ui/transcript.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// A message and what became of it.
struct Exchange {
    std::uint64_t id = 0;  // 0: the peer sent it unasked
    std::string payload;
    std::string reply;
    std::chrono::system_clock::time_point sent_at{};
    std::chrono::system_clock::time_point answered_at{};
    bool answered = false;
    bool right = false;
    std::size_t difference = 0;  // the first byte that differs, where the reply is not right
    std::optional<ev::Duration> round_trip;
};

// What stands in front of an entry, besides the round-trip time of a reply.
enum class Times { clock, delta, off };

class MessageLog {
public:
    using WallTime = std::chrono::system_clock::time_point;

    explicit MessageLog(ui::Transcript::Limits limits) : transcript_(limits) {}

    ui::Transcript& transcript() { return transcript_; }
    const ui::Transcript& transcript() const { return transcript_; }

    void note(WallTime at, std::string_view text, ui::Style style = ui::Style::dim);
    void sent(WallTime at, std::uint64_t id, std::string_view payload);
    void answered(WallTime at, const Message& message, const Reply& reply);
    void lost(WallTime at, const Message& message, const std::string& why);
    void unasked(WallTime at, std::string_view payload);

    Times times() const { return times_; }
    void show_times(Times times);
    // What is known of the selected entry; null if none is, or it is only a note.
    std::shared_ptr<const Exchange> selected() const;

    // Notes every entry from now on in a file too. Throws std::system_error.
    void start_file(const std::string& name) { file_.emplace(name); }
    // False: not all could be written.
    bool stop_file();
    bool flush_file() { return !file_ || file_->flush(); }
    bool file_open() const { return file_.has_value(); }

private:
    enum class Kind { note, sent, received, lost, unasked };
    struct Record {
        Kind kind;
        WallTime at;
        ev::Duration since_last;  // since the record before
        std::shared_ptr<const Exchange> exchange;
    };

    void add(Record record, std::string_view body, ui::Row suffix = {},
             ui::Style style = ui::Style::normal);
    ui::Span label(const Record& record) const;
    std::string time_text(const Record& record) const;
    void write_to_file(const Record& record, const ui::Transcript::Entry& entry);
    void trim();

    ui::Transcript transcript_;
    std::deque<Record> records_;  // of the entries still in the transcript
    // Sent and not answered, by message, as long as they are in the transcript.
    std::map<std::uint64_t, std::shared_ptr<Exchange>> open_;
    Times times_ = Times::clock;
    WallTime last_{};
    std::optional<LogFile> file_;
};

}  // namespace yodel
