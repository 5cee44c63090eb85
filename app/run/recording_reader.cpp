#include "app/run/recording_reader.hpp"

#include "app/protocol/message_object.hpp"
#include "app/text/escapes.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace yodel {

namespace {

// Fits a message of the default maximum size and its reply.
constexpr std::size_t max_line = 128 * 1024 * 1024;

constexpr std::string_view space = " \t\r";

// Small enough that the sum of a few such times does not overflow.
constexpr ev::Duration max_time = std::chrono::hours(24 * 365);

[[noreturn]] void refuse(const std::string& trouble) { throw JsonError(trouble); }

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
        if (!framing_ && !shown_) refuse("the file is empty");
        if (!ended_) refuse("the recording is truncated: the end object is missing");
    });
    sort();
}

// Messages are recorded when they are answered.
void RecordingReader::sort() {
    const auto item_place = [](const RecordedItem& item) {
        return std::pair(item.at, item.number);
    };
    std::stable_sort(items_.begin(), items_.end(), [&](const auto& a, const auto& b) {
        return item_place(a) < item_place(b);
    });
    std::stable_sort(events_.begin(), events_.end(),
                     [](const auto& a, const auto& b) { return a.place < b.place; });
    for (RecordedEvent& each : events_) {
        each.message.payload = each.sent;
        if (each.received) each.reply.payload = *each.received;
    }
}

void RecordingReader::store_trouble_of(const std::function<void()>& read) {
    if (!trouble_.empty()) return;
    try {
        read();
    } catch (const JsonError& error) {
        trouble_ = name_ + ":" + std::to_string(line_number_) + ": " + error.what();
    }
}

void RecordingReader::read_line(std::string_view line) {
    if (line.find_first_not_of(space) == line.npos) return;
    const JsonResult read = read_json(line);
    if (!read.value) refuse("the line " + read.trouble);
    if (ended_) refuse("the recording continues after its end object");
    const JsonFields object(*read.value);
    const std::string type = object.text_or_empty("type");
    if (shown_) return read_shown(type, object);
    if (!framing_) return read_header(object);
    if (type == "message") return read_message(object);
    if (type == "end") {
        if (!has_message_) refuse("the recording contains no messages");
        ended_ = true;
        return;
    }
    if (type != "connection") refuse("unexpected object of type \"" + type + "\"");
    if (connected_ || has_message_)
        refuse("another connection begins, but only one can be replayed");
    connected_ = true;
}

void RecordingReader::read_header(const JsonFields& object) {
    if (object.text_or_empty("type") != "recording")
        refuse("this is not a recording (yodel --json prints one)");
    const std::uint64_t version = object.count("version", 1);
    if (version != recording_version)
        refuse("the recording has version " + std::to_string(version) + ", but only version " +
               std::to_string(recording_version) + " is supported");
    const std::string name = object.text_or_empty("framing");
    const Framing* const framing = find_framing(name);
    if (!framing || !framing->has_frames())
        refuse("the framing \"" + name + "\" is not supported in recordings");
    first_number_ = object.count("first", 1);
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
    if ((fate == Fate::duplicate && framing_->in_datagrams) || fate == Fate::missing) return;
    if (fate == Fate::unsent) {
        check_new(object.count("seq", 1));
        return;
    }
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

void RecordingReader::check_new(std::uint64_t number) {
    if (number < first_number_ || !numbers_.insert(number).second)
        refuse("message " + std::to_string(number) + " appears twice");
}

// Adds a late reply as an unsolicited message, because its message was already added without
// one.
void RecordingReader::add_message(std::uint64_t number, bool late, RecordedItem item) {
    if (late && item.reply && numbers_.contains(number)) {
        items_.push_back({.kind = RecordedItem::Kind::unsolicited,
                          .at = item.at,
                          .delay = item.delay,
                          .payload = std::move(*item.reply)});
        return;
    }
    check_new(number);
    item.number = number;
    items_.push_back(std::move(item));
}

// --- For display.

void RecordingReader::read_shown(const std::string& type, const JsonFields& object) {
    if (type == "recording" && !framing_) return read_header(object);
    const bool samples = type == "end" && object.has("samples");
    const bool load = type == "interval" || type == "connection" || type == "message";
    if (!framing_ && !load && !samples)
        refuse("this is neither a recording (yodel --json) nor a load with samples");
    ended_ = type == "end";
    if (samples) return read_samples(object.object("samples"));
    if (!framing_) return;
    if (ended_)
        return events_.push_back({.kind = RecordedEvent::Kind::ended,
                                  .at = last_at_,
                                  .sent = object.text_or_empty("reason"),
                                  .place = {ev::Duration::max(), 0}});
    if (type == "connection")
        return events_.push_back({.kind = RecordedEvent::Kind::connected,
                                  .at = last_at_,
                                  .sent = object.text("address")});
    if (type != "message") refuse("unexpected object of type \"" + type + "\"");
    RecordedEvent event = read_event(object);
    last_at_ = std::max(last_at_, event.at);
    add_event(std::move(event));
}

// Adds the sending of a message and its fate. A late reply repeats a message that was already
// sent. `adjacent`: no other event lies between the two.
void RecordingReader::add_event(RecordedEvent event, bool adjacent) {
    const std::uint64_t number = event.message.id;
    const ev::Duration sent_at = event.message.sent.time_since_epoch();
    if (number > 0 && event.fate != Fate::unsent && (event.fate != Fate::late || adjacent))
        events_.push_back({.kind = RecordedEvent::Kind::sent,
                           .at = sent_at,
                           .message = event.message,
                           .sent = event.sent,
                           .place = {sent_at, number}});
    event.place = {adjacent ? sent_at : event.at, number};
    if (number == 0 || event.fate != Fate::sent) events_.push_back(std::move(event));
}

void RecordingReader::read_samples(const JsonFields& samples) {
    started_ = parse_timestamp(samples.text("started"));
    for (const char* const list : {"slowest", "bad"})
        for (const JsonValue& each : samples.array(list).items) {
            RecordedEvent event = read_event(JsonFields(each));
            event.message.sent = event.message.planned;  // the round trip is measured from then
            add_event(std::move(event), true);
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
                     .late = fate == Fate::late};
    event.reply = {
        .payload = {}, .right = object.flag("right"), .reordered = object.flag("reordered")};
    if (object.has("rtt_us")) event.reply.round_trip = time("rtt_us");
    if (object.has("difference")) event.reply.difference = object.count("difference");
    event.at = std::max(event.message.sent.time_since_epoch() + time("rtt_us"), last_at_);
    return event;
}

}  // namespace yodel
