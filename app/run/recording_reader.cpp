#include "app/run/recording_reader.hpp"

#include "app/protocol/message_object.hpp"
#include "app/text/base64.hpp"
#include "app/text/quotes.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace yodel {

namespace {

// A message of the longest kind that is usual, and its reply, fit into a line.
constexpr std::size_t max_line = 128 * 1024 * 1024;

// Messages are written when they are answered, and kept here until those that were sent before
// them come.
constexpr std::size_t max_ahead = 64 * 1024 * 1024;  // bytes, with their overhead

constexpr std::string_view space = " \t\r";

// The verdicts on messages that a recording may hold: those of a replay, too.
constexpr std::string_view verdicts[] = {"echoed",  "wrong",       "sent",       "lost",
                                         "late",    "unsolicited", "twice",      "as before",
                                         "missing", "different",   "unrecorded", "unsent",
                                         "unasked"};  // unsolicited, until version 0.2

std::string text_of(const JsonValue& object, std::string_view name) {
    const JsonValue* const value = object.find(name);
    return value && value->kind == JsonValue::Kind::text ? value->text : std::string();
}

std::optional<std::uint64_t> counted(const JsonValue& object, std::string_view name) {
    const JsonValue* const value = object.find(name);
    return value ? value->count() : std::nullopt;
}

}  // namespace

void RecordingReader::append(std::string_view bytes) {
    while (!failed()) {
        const std::size_t end = bytes.find('\n');
        rest_ += bytes.substr(0, end);
        // A line that does not begin as an object need not be read to its end.
        const std::size_t begin = rest_.find_first_not_of(space);
        if (begin != rest_.npos && rest_[begin] != '{')
            return fail("the line is no JSON object");
        if (rest_.size() > max_line)
            return fail("the line is longer than " + std::to_string(max_line >> 20) + " MiB");
        if (end == bytes.npos) return;
        read_line(std::exchange(rest_, {}));
        ++line_;
        bytes.remove_prefix(end + 1);
    }
}

void RecordingReader::end() {
    if (!failed() && !rest_.empty()) read_line(std::exchange(rest_, {}));
    if (failed() || ended_) return;
    if (!framing_) return fail("the file is empty");
    fail("the recording is cut short: the object of its end is missing");
}

void RecordingReader::read_line(std::string_view line) {
    if (line.find_first_not_of(space) == line.npos) return;
    const JsonResult read = read_json(line);
    if (!read.value) return fail("the line " + read.trouble);
    if (ended_) return fail("the recording goes on after the object of its end");
    read_object(*read.value);
}

void RecordingReader::read_object(const JsonValue& object) {
    const std::string type = text_of(object, "type");
    if (!framing_) return read_form(object);
    if (type == "connection") return read_connection();
    if (type == "message") return read_message(object);
    if (type == "end") return read_end(object);
    fail("an object of type \"" + type + "\" is in no recording");
}

void RecordingReader::read_form(const JsonValue& object) {
    if (text_of(object, "type") != "recording")
        return fail("this is no recording, as --json --payload writes it");
    const std::uint64_t version = count(object, "version");
    if (failed()) return;
    if (version != recording_version)
        return fail("the recording is of version " + std::to_string(version) +
                    ", and only version " + std::to_string(recording_version) + " is known");
    const std::string name = text_of(object, "framing");
    const Framing* const datagrams = datagram_framing();
    const Framing* const framing = name == datagrams->name ? datagrams : find_framing(name);
    if (!framing || !framing->has_frames())
        return fail("the framing \"" + name + "\" is in no recording");
    next_ = count(object, "first");
    const std::uint64_t connections = count(object, "connections");
    if (!failed() && connections != 1)
        fail("this is a recording of " + std::to_string(connections) +
             " connections, and only one can be said again");
    if (!failed()) framing_ = framing;
}

void RecordingReader::read_connection() {
    if (connected_ || any_)
        return fail("another connection begins, and only one can be said again");
    connected_ = true;
}

void RecordingReader::read_message(const JsonValue& object) {
    const std::string verdict = text_of(object, "verdict");
    any_ = true;
    if (std::find(std::begin(verdicts), std::end(verdicts), verdict) == std::end(verdicts))
        return fail("\"verdict\" is none that a recording has");
    Text sent = payload(object, "sent");
    Text received = payload(object, "received");
    check_payloads(sent, received);
    if (verdict == "late") ++late_;
    if (verdict == "sent") ++unawaited_;
    const bool repeated = verdict == "twice";  // and unsolicited, unless it is a datagram
    if (verdict == "unsolicited" || verdict == "unasked" || verdict == "unrecorded" ||
        (repeated && !framing_->datagrams))
        ++unsolicited_;
    if (failed() || (repeated && framing_->datagrams) || verdict == "missing") return;
    if (verdict == "unsent")
        return add_message(count(object, "seq"), false,
                           {.kind = RecordedItem::Kind::unsent, .payload = {}});
    if (sent) {
        const std::uint64_t number = count(object, "seq");
        const bool late = verdict == "late";
        const ev::Duration at = time(object, "planned_us");
        const ev::Duration waited =
            object.find("rtt_us") ? time(object, "rtt_us") : ev::Duration();
        const ev::Duration delay = late ? waited : ev::Duration();
        return add_message(number, late,
                           {.at = at + delay,
                            .delay = delay,
                            .payload = std::move(*sent),
                            .reply = received,
                            .answered = at + waited});
    }
    if (!received) return fail("\"sent\" and \"received\" are missing");
    const ev::Duration at = time(object, "received_us");
    if (failed()) return;
    items_.push_back(
        {.kind = RecordedItem::Kind::unsolicited, .at = at, .payload = std::move(*received)});
}

// A payload that the framing takes for several could neither be sent nor come as it is.
void RecordingReader::check_payloads(const Text& sent, const Text& received) {
    if (failed()) return;
    const std::string framing = "of " + framing_->holder();
    if (sent &&
        (count_pieces(*framing_, *sent) != 1 || !sendable(*framing_, max_frame_, *sent)))
        return fail("\"sent\" is no message " + framing);
    if (!received) return;
    const bool framed = framing_->replies_framed();
    if (framed ? count_pieces(*framing_, *received) != 1 : received->empty())
        fail("\"received\" is no reply " + framing);
}

// A late reply no longer belongs to its message, which was said before as one without a reply.
void RecordingReader::add_message(std::uint64_t number, bool late, RecordedItem item) {
    if (failed()) return;
    const bool known = number < next_ || ahead_.contains(number);
    if (known && late && item.reply) {
        items_.push_back({.kind = RecordedItem::Kind::unsolicited,
                          .at = item.at,
                          .delay = item.delay,
                          .payload = std::move(*item.reply)});
        return;
    }
    if (known) return fail("message " + std::to_string(number) + " was there before");
    if (item.kind == RecordedItem::Kind::message) ++messages_;
    ahead_bytes_ += sizeof item + item.payload.size() + item.reply.value_or("").size();
    ahead_.emplace(number, std::move(item));
    add_ahead();
    if (ahead_bytes_ > max_ahead) fail("message " + std::to_string(next_) + " is missing");
}

void RecordingReader::add_ahead() {
    while (!ahead_.empty() && (ended_ || ahead_.begin()->first == next_)) {
        auto first = ahead_.extract(ahead_.begin());
        RecordedItem& item = first.mapped();
        ahead_bytes_ -= sizeof item + item.payload.size() + item.reply.value_or("").size();
        next_ = first.key() + 1;
        if (item.kind == RecordedItem::Kind::message) items_.push_back(std::move(item));
    }
}

// The numbers that are missing by now are of messages that were in flight when the program was
// ended.
void RecordingReader::read_end(const JsonValue& object) {
    ended_ = true;
    add_ahead();
    if (!any_) fail("nothing was said in this recording, nor heard");
    check_sent(object);
    check_counted(object, "unsolicited", unsolicited_);
    check_counted(object, "unasked", unsolicited_);
    check_counted(object, "late", late_);
}

// Where a signal has ended the program, the messages in flight are counted as sent, but neither
// as answered nor as lost, and have no objects.
void RecordingReader::check_sent(const JsonValue& end) {
    const bool by_signal = counted(end, "status").value_or(0) > 128;
    if (!by_signal) return check_counted(end, "sent", messages_);
    std::uint64_t over = unawaited_;
    for (const char* const outcome : {"echoed", "bad", "lost"})
        over += counted(end, outcome).value_or(0);
    if (over != messages_) fail_count(over, messages_, "sent");
}

void RecordingReader::check_counted(const JsonValue& end, const char* name,
                                    std::uint64_t here) {
    const auto number = counted(end, name);
    if (number && *number != here) fail_count(*number, here, name);
}

void RecordingReader::fail_count(std::uint64_t counted, std::uint64_t here,
                                 const std::string& name) {
    fail("the end counts " + std::to_string(counted) + " messages as " + name +
         ", but the recording has " + std::to_string(here) + ": lines are missing or added");
}

std::uint64_t RecordingReader::count(const JsonValue& object, const char* name) {
    const JsonValue* const value = object.find(name);
    const auto number = value ? value->count() : std::nullopt;
    if (!number || *number == 0) fail(in_quotes(name) + " is no number from 1 on");
    return number.value_or(0);
}

ev::Duration RecordingReader::time(const JsonValue& object, const char* name) {
    const JsonValue* const value = object.find(name);
    const auto nanoseconds = value ? value->nanoseconds() : std::nullopt;
    constexpr auto max = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::hours(24 * 365)).count());
    if (!nanoseconds || *nanoseconds > max)
        fail(in_quotes(name) + " is no time in microseconds, up to a year");
    return ev::Duration(static_cast<std::int64_t>(std::min(nanoseconds.value_or(0), max)));
}

// Returns none if there is no such member, in either form.
RecordingReader::Text RecordingReader::payload(const JsonValue& object,
                                               const std::string& name) {
    const std::string base64_name = name + "_base64";
    const JsonValue* const text = object.find(name);
    const JsonValue* const encoded = object.find(base64_name);
    if (text && encoded)
        fail(in_quotes(name) + " and " + in_quotes(base64_name) + " are two payloads");
    if (failed() || (!text && !encoded)) return std::nullopt;
    const JsonValue& value = text ? *text : *encoded;
    if (value.kind != JsonValue::Kind::text) fail(in_quotes(name) + " is no text");
    Text bytes = text ? Text(text->text) : from_base64(encoded->text);
    if (!bytes) fail(in_quotes(base64_name) + " is not base64");
    const JsonValue* const size = object.find(name + "_bytes");
    if (bytes && size && size->count() != bytes->size())
        fail(in_quotes(name + "_bytes") + " is " + size->text + ", but the payload has " +
             bytes_text(bytes->size()));
    return bytes;
}

void RecordingReader::fail(const std::string& trouble) {
    if (trouble_.empty()) trouble_ = name_ + ":" + std::to_string(line_) + ": " + trouble;
}

}  // namespace yodel
