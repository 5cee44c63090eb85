#include "app/run/recording_reader.hpp"

#include "app/protocol/message_object.hpp"
#include "app/text/escapes.hpp"
#include "app/text/fate.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace yodel {

namespace {

// Fits a message of the default maximum size and its reply.
constexpr std::size_t max_line = 128 * 1024 * 1024;

// Messages are recorded when they are answered. The reader holds each until all earlier
// messages were read.
constexpr std::size_t max_ahead = 64 * 1024 * 1024;  // bytes, including overhead

constexpr std::string_view space = " \t\r";

// Small enough that the sum of a few such times does not overflow.
constexpr ev::Duration max_time = std::chrono::hours(24 * 365);

[[noreturn]] void refuse(const std::string& trouble) { throw JsonError(trouble); }

// Refuses an end object whose count of messages differs from `here`.
void check_count(const std::string& name, std::uint64_t counted, std::uint64_t here) {
    if (counted != here)
        refuse("the end object counts " + std::to_string(counted) + " messages as " + name +
               ", but the recording contains " + std::to_string(here) +
               ", so lines are missing or were added");
}

// Returns the payload, decoded if it is base64; none if neither member exists. A payload of a
// sample may be `cut`.
std::optional<std::string> payload(const JsonFields& object, const std::string& name,
                                   bool cut = false) {
    const std::string base64_name = name + "_base64";
    const std::string size_name = name + "_bytes";
    const bool encoded = object.has(base64_name);
    if (object.has(name) && encoded)
        refuse(in_quotes(name) + " and " + in_quotes(base64_name) + " are both present");
    if (!object.has(name) && !encoded) return std::nullopt;
    const auto bytes = encoded ? from_base64(object.text(base64_name)) : object.text(name);
    if (!bytes) refuse(in_quotes(base64_name) + " is not base64");
    if (!cut && object.has(size_name) && object.count(size_name) != bytes->size())
        refuse(in_quotes(size_name) + " is " + std::to_string(object.count(size_name)) +
               ", but the payload has " + bytes_text(bytes->size()));
    return bytes;
}

}  // namespace

std::size_t memory_of(const RecordedItem& item) {
    return sizeof item + item.payload.size() + (item.reply ? item.reply->size() : 0);
}

void RecordingReader::append(std::string_view bytes) {
    store_trouble_of([this, &bytes] {
        while (true) {
            const std::size_t end = bytes.find('\n');
            incomplete_line_ += bytes.substr(0, end);
            // Refuse a line that is not an object before reading it to its end.
            const std::size_t begin = incomplete_line_.find_first_not_of(space);
            if (begin != incomplete_line_.npos && incomplete_line_[begin] != '{')
                refuse("the line is not a JSON object");
            if (incomplete_line_.size() > max_line)
                refuse("the line is longer than " + std::to_string(max_line >> 20) + " MiB");
            if (end == bytes.npos) return;
            read_line(std::exchange(incomplete_line_, {}));
            ++line_number_;
            bytes.remove_prefix(end + 1);
        }
    });
}

void RecordingReader::end() {
    store_trouble_of([this] {
        read_line(std::exchange(incomplete_line_, {}));
        events_.end();
        if (!framing_ && !shown_) refuse("the file is empty");
        if (!ended_) refuse("the recording is truncated: the end object is missing");
    });
}

void RecordingReader::store_trouble_of(const std::function<void()>& read) {
    if (!trouble_.empty()) return;
    try {
        read();
    } catch (const JsonError& error) {
        trouble_ = name_ + ":" + std::to_string(line_number_) + ": " + error.what();
        events_.end();
    }
}

void RecordingReader::read_line(std::string_view line) {
    if (line.find_first_not_of(space) == line.npos) return;
    const JsonResult read = read_json(line);
    if (!read.value) refuse("the line " + read.trouble);
    if (ended_) refuse("the recording continues after its end object");
    const JsonFields object(*read.value);
    const std::string type = object.text_or_empty("type");
    if (object.has("target") && object.text("target") != target_) return;
    if (shown_) return read_shown(type, object);
    if (!framing_) return read_header(object);
    if (type == "message") return read_message(object);
    if (type == "end") return read_end(object.has(target_) ? object.object(target_) : object);
    if (type == "pong") return;
    if (type != "connection") refuse("unexpected object of type \"" + type + "\"");
    if (connected_ || has_message_)
        refuse("another connection begins, but only one can be replayed");
    connected_ = true;
}

void RecordingReader::read_header(const JsonFields& object) {
    if (object.text_or_empty("type") != "recording")
        refuse("this is not a recording (--json --payload writes one)");
    const std::uint64_t version = object.count("version", 1);
    if (version != recording_version)
        refuse("the recording has version " + std::to_string(version) + ", but only version " +
               std::to_string(recording_version) + " is supported");
    const std::string name = object.text_or_empty("framing");
    const Framing* const framing = find_framing(name);
    if (!framing || !framing->has_frames())
        refuse("the framing \"" + name + "\" is not supported in recordings");
    next_number_ = object.count("first", 1);
    const std::uint64_t connections = object.count("connections", 1);
    if (connections != 1 && !shown_)
        refuse("this is a recording of " + std::to_string(connections) +
               " connections, but only one can be replayed");
    framing_ = framing;
    started_ = parse_timestamp(object.text_or_empty("started"));
    const std::string expect = object.text_or_empty("expect");
    for (const Expect each : {Expect::echo, Expect::any, Expect::none})
        if (word_of(each) == expect) expect_ = each;
}

void RecordingReader::read_message(const JsonFields& object) {
    const std::optional<Fate> fate = find_fate(object.text_or_empty("fate"));
    has_message_ = true;
    if (!fate) refuse("\"fate\" is missing or has an unknown value");
    Text sent = payload(object, "sent");
    Text received = payload(object, "received");
    check_payloads(sent, received);
    const bool late = fate == Fate::late;
    if (late) ++late_count_;
    if (fate == Fate::sent) ++unawaited_count_;
    const bool duplicate = fate == Fate::duplicate;  // in a stream also unsolicited
    if (fate == Fate::unsolicited || fate == Fate::unrecorded ||
        (duplicate && !framing_->in_datagrams))
        ++unsolicited_count_;
    if ((duplicate && framing_->in_datagrams) || fate == Fate::missing) return;
    if (fate == Fate::unsent)
        return add_message(object.count("seq", 1), false,
                           {.kind = RecordedItem::Kind::unsent, .payload = {}});
    if (sent) {
        const ev::Duration at = object.time("planned_us", max_time);
        const ev::Duration waited =
            object.has("rtt_us") ? object.time("rtt_us", max_time) : ev::Duration();
        const ev::Duration delay = late ? waited : ev::Duration();
        return add_message(object.count("seq", 1), late,
                           {.at = at + delay,
                            .delay = delay,
                            .payload = std::move(*sent),
                            .reply = received,
                            .answered_at = at + waited});
    }
    if (!received) refuse("\"sent\" and \"received\" are missing");
    items_.push_back({.kind = RecordedItem::Kind::unsolicited,
                      .at = object.time("received_us", max_time),
                      .payload = std::move(*received)});
}

// Refuses a payload that is not exactly one message or one reply.
void RecordingReader::check_payloads(const Text& sent, const Text& received) const {
    const std::string framing = " (" + framing_->label() + ")";
    if (sent &&
        (count_pieces(*framing_, *sent) != 1 || !is_sendable(*framing_, max_frame_, *sent)))
        refuse("\"sent\" is not exactly one valid message" + framing);
    if (!received) return;
    const bool framed = framing_->replies_framed();
    if (framed ? count_pieces(*framing_, *received) != 1 : received->empty())
        refuse("\"received\" is not exactly one reply" + framing);
}

// Adds a late reply as an unsolicited message, because its message was already added without
// one.
void RecordingReader::add_message(std::uint64_t number, bool late, RecordedItem item) {
    const bool known = number < next_number_ || ahead_.contains(number);
    if (known && late && item.reply) {
        items_.push_back({.kind = RecordedItem::Kind::unsolicited,
                          .at = item.at,
                          .delay = item.delay,
                          .payload = std::move(*item.reply)});
        return;
    }
    if (known) refuse("message " + std::to_string(number) + " appears twice");
    if (item.kind == RecordedItem::Kind::message) ++message_count_;
    ahead_bytes_ += memory_of(item);
    ahead_.emplace(number, std::move(item));
    add_ahead();
    if (ahead_bytes_ > max_ahead)
        refuse("message " + std::to_string(next_number_) + " is missing");
}

void RecordingReader::add_ahead() {
    while (!ahead_.empty() && (ended_ || ahead_.begin()->first == next_number_)) {
        auto first = ahead_.extract(ahead_.begin());
        RecordedItem& item = first.mapped();
        ahead_bytes_ -= memory_of(item);
        next_number_ = first.key() + 1;
        if (item.kind == RecordedItem::Kind::message) items_.push_back(std::move(item));
    }
}

// Numbers still missing belong to messages in flight when a signal ended the program. The end
// object counts these messages only as sent.
void RecordingReader::read_end(const JsonFields& object) {
    ended_ = true;
    add_ahead();
    if (!has_message_) refuse("the recording contains no messages");
    const auto counted = [&object](const char* name, std::uint64_t otherwise) {
        return object.has(name) ? object.count(name) : otherwise;
    };
    const bool by_signal = counted("status", 0) > 128;
    const std::uint64_t over =
        unawaited_count_ + counted("echoed", 0) + counted("bad", 0) + counted("lost", 0);
    check_count("sent", by_signal ? over : counted("sent", message_count_), message_count_);
    check_count("unsolicited", counted("unsolicited", unsolicited_count_), unsolicited_count_);
    check_count("late", counted("late", late_count_), late_count_);
}

// --- For display.

void RecordingReader::read_shown(const std::string& type, const JsonFields& object) {
    if (type == "recording" && !framing_) {
        read_header(object);
        return events_.begin(next_number_);
    }
    const bool samples = type == "end" && object.has("samples");
    const bool load = type == "interval" || type == "connection" || type == "message";
    if (!framing_ && !load && !samples)
        refuse("this is neither a recording (--json --payload) nor a load with samples");
    ended_ = type == "end";
    if (samples) return read_samples(object.object("samples"));
    if (!framing_) return;
    if (ended_)
        return events_.add({.kind = RecordedEvent::Kind::ended,
                            .at = last_at_,
                            .sent = object.text_or_empty("reason")});
    if (type == "connection")
        return events_.add({.kind = RecordedEvent::Kind::connected,
                            .at = last_at_,
                            .sent = object.text("address")});
    if (type != "message") refuse("unexpected object of type \"" + type + "\"");
    RecordedEvent event = read_event(object);
    last_at_ = std::max(last_at_, event.at);
    if (event.message.id > 0)
        events_.add_message(std::move(event), false);
    else
        events_.add(std::move(event));
}

void RecordingReader::read_samples(const JsonFields& samples) {
    started_ = parse_timestamp(samples.text("started"));
    for (const char* const list : {"slowest", "bad"})
        for (const JsonValue& each : samples.array(list).items) {
            RecordedEvent event = read_event(JsonFields(each));
            event.message.sent = event.message.planned;  // the round trip is measured from then
            events_.add_message(std::move(event), true);
        }
}

RecordedEvent RecordingReader::read_event(const JsonFields& object) const {
    const std::optional<Fate> fate = find_fate(object.text_or_empty("fate"));
    if (!fate) refuse("\"fate\" is missing or has an unknown value");
    const bool sample = !framing_;
    RecordedEvent event{.fate = *fate, .received = payload(object, "received", sample)};
    if (!object.has("seq")) {
        event.at = object.time("received_us", max_time);
        return event;
    }
    const auto time = [&object](const char* name) {
        return object.has(name) ? object.time(name, max_time) : ev::Duration();
    };
    event.sent = payload(object, "sent", sample).value_or("");
    event.message = {.id = object.count("seq", 1),
                     .payload = {},
                     .planned = ev::Time(time("planned_us")),
                     .sent = ev::Time(time("sent_us")),
                     .late = fate == Fate::late,
                     .retransmitted = object.flag("retransmitted")};
    event.reply = {
        .payload = {}, .right = object.flag("right"), .reordered = object.flag("reordered")};
    if (object.has("rtt_us")) event.reply.round_trip = time("rtt_us");
    if (object.has("difference")) event.reply.difference = object.count("difference");
    event.at = std::max(event.message.sent.time_since_epoch() + time("rtt_us"), last_at_);
    return event;
}

}  // namespace yodel
