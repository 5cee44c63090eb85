// The log on the screen: the entries of the transcript, and the message of each entry.
#pragma once

#include "app/protocol/session.hpp"
#include "ui/transcript.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

// A message and its reply, if known.
struct Exchange {
    std::uint64_t id = 0;  // 0: an unsolicited message from the peer
    std::string payload = {};
    std::string reply = {};
    std::optional<std::chrono::system_clock::time_point> sent_at = {};
    std::optional<std::chrono::system_clock::time_point> answered_at = {};  // none: no reply
    bool right = false;
    bool late = false;                           // the reply came after the reply timeout
    std::optional<std::size_t> difference = {};  // see Reply
    std::optional<ev::Duration> round_trip = {};
    ev::Duration write_delay{};  // from the planned time until the system accepted all of it
    std::optional<ev::Duration> network_round_trip =
        {};  // the network's minimum round trip so far
};

class MessageLog {
public:
    using WallTime = std::chrono::system_clock::time_point;

    // `checked`: replies are compared, so right ones are marked.
    MessageLog(ui::Transcript::Limits limits, bool checked)
        : transcript_(limits, [this](std::size_t place) { remove_record(place); }),
          replies_checked_(checked) {}
    MessageLog(const MessageLog&) = delete;

    ui::Transcript& transcript() { return transcript_; }
    const ui::Transcript& transcript() const { return transcript_; }

    // Each adds an entry. A note is a remark by the program.
    void add_note(WallTime at, std::string_view text, ui::Style style = ui::Style::dim);
    void add_sent(WallTime at, std::uint64_t id, std::string_view payload);
    // `network`: see Exchange.
    void add_answer(WallTime at, const Message& message, const Reply& reply,
                    std::optional<ev::Duration> network);
    void add_loss(WallTime at, const Message& message, const std::string& why);
    void add_unsolicited(WallTime at, std::string_view payload);
    // Adds a duplicate reply.
    void add_duplicate(WallTime at, std::string_view payload);

    // Switches the timestamps of entries other than replies: from the clock to the time since
    // the previous entry, to none, and back to the clock.
    void next_timestamp_style();
    // Returns the message of the selected entry; null if none or a note is selected.
    std::shared_ptr<const Exchange> selected() const;
    // Returns the first `max_bytes` bytes of the selected entry, without its time and fate. In
    // the hex view, they are hex numbers on one line. Returns none if no entry is selected.
    std::optional<std::string> selected_text(std::size_t max_bytes) const;

    // Passes the lines of each new entry to `lines` from now on. An empty function ends that.
    using Lines = std::function<void(WallTime at, char sign, std::string_view line)>;
    void write_to(Lines lines) { write_line_ = std::move(lines); }

private:
    enum class TimestampStyle { clock, delta, off };
    enum class Kind { note, sent, received, lost, unsolicited };
    struct Record {
        Kind kind;
        WallTime at;
        ev::Duration since_last;  // since the previous record
        std::shared_ptr<const Exchange> exchange;
    };

    void add(Record record, std::string_view body, ui::Row suffix = {},
             ui::Style style = ui::Style::normal);
    std::shared_ptr<Exchange> exchange_of(const Message& message) const;
    ui::Span label(const Record& record) const;
    std::string time_text(const Record& record) const;
    void write(const Record& record, const ui::Transcript::Entry& entry);
    void remove_record(std::size_t place);

    ui::Transcript transcript_;
    const bool replies_checked_;
    std::deque<Record> records_;  // one for each entry of the transcript
    // Unanswered messages with entries still in the transcript, by id.
    std::map<std::uint64_t, std::shared_ptr<Exchange>> unanswered_;
    TimestampStyle timestamp_style_ = TimestampStyle::clock;
    WallTime last_record_at_{};
    Lines write_line_;
};

}  // namespace yodel
