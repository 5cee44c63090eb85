#include "app/protocol/event.hpp"

#include "app/protocol/framing.hpp"
#include "app/text/units.hpp"

#include <algorithm>

namespace yodel {

namespace {

// If `may_be_cut`, the payload may be shorter than its size says.
std::string read_payload(const JsonValue& object, const std::string& name, bool may_be_cut) {
    std::string payload = object.bytes(name);
    const std::string size = name + "_bytes";
    if (!may_be_cut && object.has(size) && object.count(size) != payload.size())
        throw JsonError(in_quotes(size) + " is " + std::to_string(object.count(size)) +
                        ", but the payload has " + bytes_text(payload.size()));
    return payload;
}

}  // namespace

StoredEvent::StoredEvent(const Event& event)
    : event_(event),
      size_(event.message.payload.size() + event.reply.payload.size() +
            event.message.expected.value_or("").size()),
      bytes_(new char[size_]) {  // libc++ 14 has no std::make_unique_for_overwrite()
    char* end = bytes_.get();
    const auto store = [&end](std::string_view& view) {
        char* const begin = end;
        end = std::copy(view.begin(), view.end(), begin);
        view = {begin, view.size()};
    };
    store(event_.message.payload);
    store(event_.reply.payload);
    if (event_.message.expected) store(*event_.message.expected);
    event_.frames = {};
}

std::size_t first_difference(std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    if (a.substr(0, size) == b.substr(0, size))
        return size;  // fast path: compares with memcmp()
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(size);
    return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

std::optional<std::size_t> difference(const Regex* mask, std::string_view a,
                                      std::string_view b) {
    const ComparableText left(mask, a);
    const ComparableText right(mask, b);
    if (left.view == right.view) return std::nullopt;
    const std::size_t offset = first_difference(left.view, right.view);
    return mask ? mask->unmasked_offset(a, offset) : offset;
}

Reply compared_reply(const Regex* mask, std::optional<std::string_view> expected,
                     std::string_view payload, std::optional<ev::Duration> round_trip) {
    if (!expected) return {payload, round_trip, false, 0};
    const auto offset = difference(mask, payload, *expected);
    Reply reply{payload, round_trip, !offset, offset};
    if (!offset) return reply;
    const std::size_t right_offset = difference(mask, *expected, payload).value_or(*offset);
    if (right_offset < expected->size()) reply.right_byte = (*expected)[right_offset];
    return reply;
}

std::string differs_text(std::optional<std::size_t> difference) {
    return difference ? "differs at byte " + std::to_string(*difference) : "does not match";
}

std::string byte_text(std::string_view bytes, std::size_t offset) {
    if (offset >= bytes.size()) return "end";
    return format("%02x", static_cast<unsigned char>(bytes[offset]));
}

std::string bad_byte_text(const Reply& bad) {
    const auto text = [](std::string_view byte) {
        if (byte.empty()) return std::string("end");
        const bool is_visible = byte[0] > ' ' && byte[0] <= '~';
        return is_visible ? std::string(byte) : "0x" + byte_text(byte, 0);
    };
    const std::size_t offset = std::min(*bad.difference, bad.payload.size());
    const std::string_view right(bad.right_byte ? &*bad.right_byte : "",
                                 bad.right_byte ? 1 : 0);
    return "at byte " + std::to_string(*bad.difference) + " (expected " + text(right) +
           ", got " + text(bad.payload.substr(offset, 1)) + ")";
}

std::string bad_text(const Reply& bad) {
    return bad.difference ? "differs " + bad_byte_text(bad) : differs_text(std::nullopt);
}

std::string stale_text(std::string_view payload) {
    constexpr std::size_t max_shown = 256;  // bytes
    return "after a right reply, the server sent " +
           in_quotes(excerpt(payload.substr(0, max_shown), payload.size())) +
           ", which answers no message";
}

std::string reply_hint(const Framing& framing, std::string_view payload, const Reply& bad) {
    const std::string_view reply = bad.payload;
    if (!bad.difference && reply.size() <= Regex::max_examined) return {};
    if (!bad.difference)
        return "only the first " + bytes_text(Regex::max_examined) + " of a reply are examined";
    if (reply.starts_with("\x15\x03") || reply.starts_with("\x16\x03"))
        return "the reply looks like TLS; use --tls";
    const bool is_longer = reply.starts_with(payload);
    const bool ends_with_return = framing.delimiter == "\n" && reply.ends_with('\r');
    if (ends_with_return && is_longer) return "if lines end with CRLF, use -C";
    std::size_t equal_bytes = 0;  // at the same offset
    for (std::size_t i = 0; i < std::min(payload.size(), reply.size()); ++i)
        if (payload[i] == reply[i]) ++equal_bytes;
    const bool is_damaged_echo = 2 * equal_bytes >= std::max(payload.size(), reply.size());
    if (is_damaged_echo || payload.starts_with(reply) || is_longer) return {};
    // Recognizes a service by its greeting, or by its reply to a message that is not a command.
    if (is_number(reply.substr(0, 3)) && reply.find_first_of(" -") == 3)
        return "if the service speaks SMTP or FTP, use -f smtp";
    for (const std::string_view word : {"+OK", "+PONG", "-ERR", "-NOAUTH"})
        if (reply.starts_with(word)) return "if the service speaks as Redis does, use -f resp";
    return std::string("if the service does not echo, use --expect any") +
           (ends_with_return ? "; if lines end with CRLF, use -C" : "");
}

std::string remark(const Event& event) {
    const std::string number = std::to_string(event.message.id);
    switch (event.fate) {
    case Fate::unsent: return "message " + number + " was not sent";
    case Fate::lost: return "no reply to message " + number + std::string(event.reply.payload);
    case Fate::unanswered_as_recorded: return "no reply to message " + number + ", as recorded";
    case Fate::missing: return "a recorded unsolicited message did not arrive";
    case Fate::duplicate: return "a duplicate reply";
    case Fate::note: return std::string(event.reply.payload);
    default: break;
    }
    if (event.reply.is_right || !has_message(event.fate) || !has_reply(event.fate)) return "";
    return "reply " + number + " " + bad_text(event.reply);
}

std::string lines(std::chrono::system_clock::time_point at, const Event& event) {
    const std::string date = date_text(at, 6) + ' ';
    std::string text;
    const auto add = [&](const char* sign, std::string_view bytes) {
        text += date + sign + ui::printable(bytes) + '\n';
    };
    const bool is_received = has_reply(event.fate) && event.fate != Fate::missing;
    if (event.fate == Fate::sent) add("> ", event.message.payload);
    if (is_received && event.fate != Fate::note) add("< ", event.reply.payload);
    if (const std::string why = remark(event); !why.empty() || event.fate == Fate::note)
        add("- ", why);
    return text;
}

JsonObject json(const Event& event, ev::Time start, const EventForm& form) {
    const Message* const message = has_message(event.fate) ? &event.message : nullptr;
    const Reply* const reply = has_reply(event.fate) ? &event.reply : nullptr;
    JsonObject object;
    object.text("type", "message");
    if (message)
        object.number("seq", message->id).number("sent_bytes", message->payload.size());
    if (reply) object.number("received_bytes", reply->payload.size());
    if (message)
        object.time("planned_us", message->planned_at - start)
            .time("sent_us", message->sent_at - start);
    if (reply && reply->round_trip) object.time("rtt_us", *reply->round_trip);
    object.text("fate", word_of(event.fate));
    if (reply && reply->is_reordered) object.flag("reordered", true);
    if (message && reply) object.flag("right", reply->is_right);
    if (message && reply && reply->difference) object.number("difference", *reply->difference);
    if (form.has_connection) object.number("connection", event.connection);
    if (form.max_payload == 0) return object;
    if (!message) object.time("received_us", event.at - start);
    if (message) object.bytes("sent", message->payload.substr(0, form.max_payload));
    if (reply) object.bytes("received", reply->payload.substr(0, form.max_payload));
    return object;
}

StoredEvent read_event(const JsonValue& object, ev::Time previous, bool is_sample) {
    // Later words are not in recordings, or repeat the words of earlier fates.
    const char* const* const last = fate_words + static_cast<std::size_t>(Fate::missing);
    const char* const* const word =
        std::find(fate_words, last + 1, object.text_or_empty("fate"));
    if (word > last) throw JsonError("\"fate\" is missing or has an unknown value");
    const bool is_received = object.has("received") || object.has("received_base64");
    Event event{.fate = static_cast<Fate>(word - fate_words)};
    if (event.fate == Fate::as_recorded && !is_received)
        event.fate = Fate::unanswered_as_recorded;
    std::string reply_bytes;
    std::string message_bytes;
    if (has_reply(event.fate)) {
        reply_bytes = read_payload(object, "received", is_sample);
        event.reply = {.payload = reply_bytes, .is_right = object.flag("right")};
        event.reply.is_reordered = object.flag("reordered");
        if (object.has("rtt_us")) event.reply.round_trip = object.time("rtt_us");
        if (object.has("difference")) event.reply.difference = object.count("difference");
    }
    if (has_message(event.fate)) {
        message_bytes = read_payload(object, "sent", is_sample);
        const bool uses_planned = object.has("planned_us") || !object.has("sent_us");
        event.message.id = object.count("seq", 1);
        event.message.payload = message_bytes;
        event.message.planned_at =
            ev::Time(object.time(uses_planned ? "planned_us" : "sent_us"));
        event.message.sent_at = event.message.planned_at;
        if (object.has("sent_us") && !is_sample)
            event.message.sent_at = ev::Time(object.time("sent_us"));
        event.message.is_late = event.fate == Fate::late;
        event.at = event.reply.round_trip ? event.message.sent_at + *event.reply.round_trip
                                          : std::max(event.message.sent_at, previous);
        const std::size_t offset = event.reply.difference.value_or(message_bytes.size());
        if (offset < message_bytes.size()) event.reply.right_byte = message_bytes[offset];
    } else {
        event.at = ev::Time(object.time("received_us"));
    }
    if (object.has("connection"))
        event.connection =
            static_cast<std::uint32_t>(object.count("connection", 1, UINT32_MAX));
    return StoredEvent(event);
}

}  // namespace yodel
