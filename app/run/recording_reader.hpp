// Parses a recording of --json, one object per line, in pieces of any size. Each
// message and each unsolicited message becomes an item, sorted by time.
//
// Checks the JSON of each line, and its members. Reading ends at the first bad line, which
// trouble() names; neither this line nor a later line becomes an item. The end object is
// required.
//
// To show a recording, the reader makes events instead of items, without the checks that only a
// replay needs. It then also accepts several connections, and the samples of a load.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/recorded_events.hpp"
#include "app/text/json_reader.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// A message to replay, or an unsolicited message to expect.
struct RecordedItem {
    enum class Kind {
        message,
        unsolicited,  // answers no message, or is a late reply
    };
    Kind kind = Kind::message;
    ev::Duration at{};                       // planned or arrival time, from a common start
    ev::Duration delay{};                    // time from the message to its late reply
    std::string payload = {};                // sent or unsolicited bytes
    std::optional<std::string> reply = {};   // none: no reply came in time
    ev::Duration answered_at{};              // time of the reply; `at` if unknown
    std::optional<std::string> masked = {};  // the payload without its masked parts, once known
    // Of the message. An unsolicited one follows the messages of the same time.
    std::uint64_t number = ~std::uint64_t{0};
};

class RecordingReader {
public:
    // `name`: the file's name, for error texts. A payload of more than `max_frame` bytes is an
    // error. `shown`: makes events instead of items.
    RecordingReader(std::string name, std::size_t max_frame, bool shown = false)
        : name_(std::move(name)), max_frame_(max_frame), shown_(shown) {}

    // Process the next bytes of the file, and its end, after which the results are complete and
    // sorted. append() is ignored after an error.
    void append(std::string_view bytes);
    void end();

    std::deque<RecordedItem>& items() { return items_; }
    const std::deque<RecordedItem>& items() const { return items_; }
    const std::vector<RecordedEvent>& events() const { return events_; }
    // Returns the framing of the recording; null until its first line is read.
    const Framing* framing() const { return framing_; }
    // The next two functions return none if the recording does not contain the value.
    std::optional<std::chrono::system_clock::time_point> started() const { return started_; }
    std::optional<Expect> expect() const { return expect_; }
    // Returns true once the header of a recording or the end object of a load has been read.
    bool begun() const { return framing_ || ended_; }
    // One sentence such as "file.json:17: the line is truncated"; empty if there is no error.
    const std::string& trouble() const { return trouble_; }

private:
    using Text = std::optional<std::string>;

    void store_trouble_of(const std::function<void()>& read);
    void read_line(std::string_view line);
    void read_header(const JsonFields& object);
    void read_message(const JsonFields& object);
    void read_shown(const std::string& type, const JsonFields& object);
    void read_samples(const JsonFields& samples);
    RecordedEvent read_event(const JsonFields& object) const;
    void check_payloads(const Text& sent, const Text& received) const;
    void check_new(std::uint64_t number);
    void add_message(std::uint64_t number, bool late, RecordedItem item);
    void add_event(RecordedEvent event, bool adjacent = false);
    void sort();

    const std::string name_;
    const std::size_t max_frame_;
    const bool shown_;
    std::string incomplete_line_;    // beginning of an incomplete line
    std::uint64_t line_number_ = 1;  // number of the current line
    const Framing* framing_ = nullptr;
    bool connected_ = false;
    bool has_message_ = false;  // a message was read
    bool ended_ = false;
    std::uint64_t first_number_ = 1;   // number of the first message
    std::set<std::uint64_t> numbers_;  // numbers of the messages
    std::deque<RecordedItem> items_;
    std::vector<RecordedEvent> events_;
    ev::Duration last_at_{};  // time of the last event that was read
    std::optional<std::chrono::system_clock::time_point> started_;
    std::optional<Expect> expect_;
    std::string trouble_;
};

}  // namespace yodel
