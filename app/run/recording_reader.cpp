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

// Small enough that sums of a few times do not overflow.
constexpr ev::Duration max_time = std::chrono::hours(24 * 365);

[[noreturn]] void refuse(const std::string& trouble) { throw JsonError(trouble); }

// Refuses an end object that counts other than `here` messages.
void check_count(const std::string& name, std::uint64_t counted, std::uint64_t here) {
    if (counted != here)
        refuse("the end object counts " + std::to_string(counted) + " messages as " + name +
               ", but the recording contains " + std::to_string(here) +
               ": lines are missing or added");
}

// Returns the payload, decoded if it is base64; none if neither member exists.
std::optional<std::string> payload(const JsonFields& object, const std::string& name) {
    const std::string base64_name = name + "_base64";
    const std::string size_name = name + "_bytes";
    const bool encoded = object.has(base64_name);
    if (object.has(name) && encoded)
        refuse(in_quotes(name) + " and " + in_quotes(base64_name) + " are both present");
    if (!object.has(name) && !encoded) return std::nullopt;
    const auto bytes = encoded ? from_base64(object.text(base64_name)) : object.text(name);
    if (!bytes) refuse(in_quotes(base64_name) + " is not base64");
    if (object.has(size_name) && object.count(size_name) != bytes->size())
        refuse(in_quotes(size_name) + " is " + std::to_string(object.count(size_name)) +
               ", but the payload has " + bytes_text(bytes->size()));
    return bytes;
}

}  // namespace

std::size_t memory_of(const RecordedItem& item) {
    return sizeof item + item.payload.size() + (item.reply ? item.reply->size() : 0);
}

void RecordingReader::append(std::string_view bytes) {
    read_checked([this, &bytes] {
        while (true) {
            const std::size_t end = bytes.find('\n');
            rest_ += bytes.substr(0, end);
            // Refuse a line that is no object before its end is read.
            const std::size_t begin = rest_.find_first_not_of(space);
            if (begin != rest_.npos && rest_[begin] != '{')
                refuse("the line is not a JSON object");
            if (rest_.size() > max_line)
                refuse("the line is longer than " + std::to_string(max_line >> 20) + " MiB");
            if (end == bytes.npos) return;
            read_line(std::exchange(rest_, {}));
            ++line_;
            bytes.remove_prefix(end + 1);
        }
    });
}

void RecordingReader::end() {
    read_checked([this] {
        read_line(std::exchange(rest_, {}));
        if (!framing_) refuse("the file is empty");
        if (!ended_) refuse("the recording is truncated: the end object is missing");
    });
}

void RecordingReader::read_checked(const std::function<void()>& read) {
    if (!trouble_.empty()) return;
    try {
        read();
    } catch (const JsonError& error) {
        trouble_ = name_ + ":" + std::to_string(line_) + ": " + error.what();
    }
}

void RecordingReader::read_line(std::string_view line) {
    if (line.find_first_not_of(space) == line.npos) return;
    const JsonResult read = read_json(line);
    if (!read.value) refuse("the line " + read.trouble);
    if (ended_) refuse("the recording continues after its end object");
    const JsonFields object(*read.value);
    const std::string type = object.word("type");
    if (!framing_) return read_header(object);
    if (type == "message") return read_message(object);
    if (type == "end") return read_end(object);
    if (type != "connection") refuse("unexpected object of type \"" + type + "\"");
    if (connected_ || has_message_)
        refuse("another connection begins, but only one can be replayed");
    connected_ = true;
}

void RecordingReader::read_header(const JsonFields& object) {
    if (object.word("type") != "recording")
        refuse("this is not a recording (--json --payload writes one)");
    const std::uint64_t version = object.count("version", 1);
    if (version != recording_version)
        refuse("the recording has version " + std::to_string(version) + ", but only version " +
               std::to_string(recording_version) + " is supported");
    const std::string name = object.word("framing");
    const Framing* const framing = find_framing(name);
    if (!framing || !framing->has_frames())
        refuse("the framing \"" + name + "\" cannot be replayed");
    next_ = object.count("first", 1);
    const std::uint64_t connections = object.count("connections", 1);
    if (connections != 1)
        refuse("this is a recording of " + std::to_string(connections) +
               " connections, but only one can be replayed");
    framing_ = framing;
}

void RecordingReader::read_message(const JsonFields& object) {
    const std::optional<Fate> fate = find_fate(object.word("fate"));
    has_message_ = true;
    if (!fate) refuse("\"fate\" is not valid in a recording");
    Text sent = payload(object, "sent");
    Text received = payload(object, "received");
    check_payloads(sent, received);
    const bool late = fate == Fate::late;
    if (late) ++late_;
    if (fate == Fate::sent) ++unawaited_;
    const bool duplicate = fate == Fate::duplicate;  // also unsolicited, except for datagrams
    if (fate == Fate::unsolicited || fate == Fate::unrecorded ||
        (duplicate && !framing_->datagrams))
        ++unsolicited_;
    if ((duplicate && framing_->datagrams) || fate == Fate::missing) return;
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
                            .answered = at + waited});
    }
    if (!received) refuse("\"sent\" and \"received\" are missing");
    items_.push_back({.kind = RecordedItem::Kind::unsolicited,
                      .at = object.time("received_us", max_time),
                      .payload = std::move(*received)});
}

// Refuses a payload that the framing would cut into several messages.
void RecordingReader::check_payloads(const Text& sent, const Text& received) const {
    const std::string framing = "of " + framing_->label();
    if (sent &&
        (count_pieces(*framing_, *sent) != 1 || !sendable(*framing_, max_frame_, *sent)))
        refuse("\"sent\" is not a message " + framing);
    if (!received) return;
    const bool framed = framing_->replies_framed();
    if (framed ? count_pieces(*framing_, *received) != 1 : received->empty())
        refuse("\"received\" is not a reply " + framing);
}

// Adds a late reply as an unsolicited message, because its message was already added without
// one.
void RecordingReader::add_message(std::uint64_t number, bool late, RecordedItem item) {
    const bool known = number < next_ || ahead_.contains(number);
    if (known && late && item.reply) {
        items_.push_back({.kind = RecordedItem::Kind::unsolicited,
                          .at = item.at,
                          .delay = item.delay,
                          .payload = std::move(*item.reply)});
        return;
    }
    if (known) refuse("message " + std::to_string(number) + " appears twice");
    if (item.kind == RecordedItem::Kind::message) ++messages_;
    ahead_bytes_ += memory_of(item);
    ahead_.emplace(number, std::move(item));
    add_ahead();
    if (ahead_bytes_ > max_ahead) refuse("message " + std::to_string(next_) + " is missing");
}

void RecordingReader::add_ahead() {
    while (!ahead_.empty() && (ended_ || ahead_.begin()->first == next_)) {
        auto first = ahead_.extract(ahead_.begin());
        RecordedItem& item = first.mapped();
        ahead_bytes_ -= memory_of(item);
        next_ = first.key() + 1;
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
        unawaited_ + counted("echoed", 0) + counted("bad", 0) + counted("lost", 0);
    check_count("sent", by_signal ? over : counted("sent", messages_), messages_);
    check_count("unsolicited", counted("unsolicited", unsolicited_), unsolicited_);
    check_count("late", counted("late", late_), late_);
}

}  // namespace yodel
