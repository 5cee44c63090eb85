// Reads a recording, as --json --payload writes it, in pieces of any size: a line for each
// object, and for each message or unsolicited message an item. What has been read is not kept.
//
// Every line is checked as it comes: its JSON, its members, and that they agree. The first line
// that is not right ends the reading: trouble() names it, and no item of it or after it comes.
// A recording that is cut short between two lines lacks the object of its end, which is trouble
// as well, and where that object counts messages, there must be as many.
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

// A message that is to be said again, or one that is to come again unsolicited.
struct RecordedItem {
    enum class Kind {
        message,
        unsolicited,  // sent by the server, answering nothing; or later than its message waited
        unsent,       // a message that was due, and not sent
    };
    Kind kind = Kind::message;
    ev::Duration at{};     // when it was to go out, or when it came; since some common start
    ev::Duration delay{};  // of a late reply: how long after its message it came
    std::string payload = {};               // what was sent; or what came unsolicited
    std::optional<std::string> reply = {};  // of a message; none if none came in time
    ev::Duration answered{};                // when the reply came; if unknown, as `at`
};

class RecordingReader {
public:
    // The name is that of the file, for sentences. A payload of more than `max_frame` bytes is
    // trouble.
    RecordingReader(std::string name, std::size_t max_frame)
        : name_(std::move(name)), max_frame_(max_frame) {}

    // Takes the next bytes of the file, and its end. Neither has an effect after trouble.
    void append(std::string_view bytes);
    void end();

    // The items read so far, in the order in which they are to be said: messages in that of
    // their numbers.
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
