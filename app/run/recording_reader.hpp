// Reads a recording, which --json --payload has written, in pieces of any size: an object a
// line. Each message, and each unsolicited message, becomes an item.
//
// Each line is checked when it is read: its JSON, its members, and that they agree. The first
// bad line ends the reading: trouble() names it, and neither it nor a later line becomes an
// item. The end object must be there, and must count the same messages.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/text/json_reader.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

// A message to send again, or an unsolicited message to expect again.
struct RecordedItem {
    enum class Kind {
        message,
        unsolicited,  // sent by the server, answering nothing; or later than its message waited
        unsent,       // a message that was due, and not sent
    };
    Kind kind = Kind::message;
    ev::Duration at{};         // planned time, or time of arrival; since some common start
    ev::Duration delay{};      // time from the message to its late reply
    std::string payload = {};  // what was sent, or what came unsolicited
    std::optional<std::string> reply = {};  // none: no reply came in time
    ev::Duration answered{};                // when the reply came; if unknown, equal to `at`
};

class RecordingReader {
public:
    // `name`: of the file, for sentences. A payload of more than `max_frame` bytes is trouble.
    RecordingReader(std::string name, std::size_t max_frame)
        : name_(std::move(name)), max_frame_(max_frame) {}

    // Take the next bytes of the file, and its end. Both are ignored after trouble.
    void append(std::string_view bytes);
    void end();

    // The items read so far, in the order of the replay: messages ordered by their numbers.
    std::deque<RecordedItem>& items() { return items_; }
    // The framing of the recording; null until its first line is read.
    const Framing* framing() const { return framing_; }
    // One sentence, as in "file.json:17: the line is cut short"; empty while all is right.
    const std::string& trouble() const { return trouble_; }

private:
    using Text = std::optional<std::string>;

    void read_checked(const std::function<void()>& read);
    void read_line(std::string_view line);
    void read_form(const JsonFields& object);
    void read_message(const JsonFields& object);
    void read_end(const JsonFields& object);
    void check_payloads(const Text& sent, const Text& received) const;
    void add_message(std::uint64_t number, bool late, RecordedItem item);
    void add_ahead();

    const std::string name_;
    const std::size_t max_frame_;
    std::string rest_;        // the beginning of a line
    std::uint64_t line_ = 1;  // the number of the line that is being read
    const Framing* framing_ = nullptr;
    bool connected_ = false;
    bool any_ = false;  // message
    bool ended_ = false;
    std::uint64_t next_ = 1;  // the number of the message that is to be said next
    std::map<std::uint64_t, RecordedItem> ahead_;  // messages that came before it, by number
    std::size_t ahead_bytes_ = 0;
    std::uint64_t messages_ = 0;   // that were sent; this and the next three are counted here
    std::uint64_t unawaited_ = 0;  // of them, those to which no reply was awaited
    std::uint64_t late_ = 0;       // replies
    std::uint64_t unsolicited_ = 0;
    std::deque<RecordedItem> items_;
    std::string trouble_;
};

}  // namespace yodel
