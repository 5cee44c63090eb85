#include "app/protocol/event_json.hpp"

#include "app/text/escapes.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

namespace yodel {

namespace {

// Small enough that the sum of a few such times does not overflow.
constexpr ev::Duration max_time = std::chrono::hours(24 * 365);

// Returns the payload, decoded if it is base64.
std::string read_payload(const JsonFields& object, const std::string& name, bool cut) {
    const std::string base64_name = name + "_base64";
    const std::string size_name = name + "_bytes";
    const bool encoded = object.has(base64_name);
    if (encoded && object.has(name))
        throw JsonError(in_quotes(name) + " and " + in_quotes(base64_name) +
                        " are both present");
    const auto bytes = encoded ? from_base64(object.text(base64_name)) : object.text(name);
    if (!bytes) throw JsonError(in_quotes(base64_name) + " is not base64");
    if (!cut && object.has(size_name) && object.count(size_name) != bytes->size())
        throw JsonError(in_quotes(size_name) + " is " +
                        std::to_string(object.count(size_name)) + ", but the payload has " +
                        bytes_text(bytes->size()));
    return *bytes;
}

}  // namespace

JsonObject json(const Event& event, ev::Time start, const EventForm& form) {
    const Message* const message = has_message(event.fate) ? &event.message : nullptr;
    const Reply* const reply = has_reply(event.fate) ? &event.reply : nullptr;
    JsonObject object;
    object.text("type", "message");
    if (message) object.number("seq", message->id);
    if (message) object.number("sent_bytes", message->payload.size());
    if (reply) object.number("received_bytes", reply->payload.size());
    if (message) object.time("planned_us", message->planned - start);
    if (message) object.time("sent_us", message->sent - start);
    if (reply && reply->round_trip) object.time("rtt_us", *reply->round_trip);
    object.text("fate", word_of(event.fate));
    if (reply && reply->reordered) object.flag("reordered", true);
    if (message && reply) object.flag("right", reply->right);
    if (message && reply && reply->difference) object.number("difference", *reply->difference);
    if (form.connection) object.number("connection", event.connection);
    if (form.max_payload == 0) return object;
    if (!message) object.time("received_us", event.at - start);
    if (message) object.bytes("sent", message->payload.substr(0, form.max_payload));
    if (reply) object.bytes("received", reply->payload.substr(0, form.max_payload));
    return object;
}

StoredEvent read_event(const JsonFields& object, ev::Time previous, bool sample) {
    const std::optional<Fate> fate = find_fate(object.text_or_empty("fate"));
    if (!fate) throw JsonError("\"fate\" is missing or has an unknown value");
    const bool received = object.has("received") || object.has("received_base64");
    Event event{.fate = *fate};
    if (fate == Fate::as_recorded && !received) event.fate = Fate::unanswered_as_recorded;
    const auto time = [&object](const char* name) { return object.time(name, max_time); };
    std::string reply_bytes;
    std::string message_bytes;
    if (has_reply(event.fate)) {
        reply_bytes = read_payload(object, "received", sample);
        event.reply = {.payload = reply_bytes, .right = object.flag("right")};
        event.reply.reordered = object.flag("reordered");
        if (object.has("rtt_us")) event.reply.round_trip = time("rtt_us");
        if (object.has("difference")) event.reply.difference = object.count("difference");
    }
    if (has_message(event.fate)) {
        message_bytes = read_payload(object, "sent", sample);
        const bool planned = object.has("planned_us") || !object.has("sent_us");
        event.message.id = object.count("seq", 1);
        event.message.payload = message_bytes;
        event.message.planned = ev::Time(time(planned ? "planned_us" : "sent_us"));
        event.message.sent = event.message.planned;
        if (object.has("sent_us") && !sample) event.message.sent = ev::Time(time("sent_us"));
        event.message.late = event.fate == Fate::late;
        event.at = event.reply.round_trip ? event.message.sent + *event.reply.round_trip
                                          : std::max(event.message.sent, previous);
        const std::size_t at = event.reply.difference.value_or(message_bytes.size());
        if (at < message_bytes.size()) event.reply.right_byte = message_bytes[at];
    } else {
        event.at = ev::Time(time("received_us"));
    }
    if (object.has("connection"))
        event.connection =
            static_cast<std::uint32_t>(object.count("connection", 1, UINT32_MAX));
    return StoredEvent(event);
}

JsonObject recording_object(const SessionOptions& options, std::uint64_t first,
                            std::size_t connections,
                            std::chrono::system_clock::time_point started) {
    JsonObject object;
    object.text("type", "recording").number("version", recording_version);
    object.text("framing", options.framing->name).number("first", first);
    object.number("connections", connections).text("started", timestamp_text(started));
    return object.text("expect", word_of(options.expect));
}

JsonObject tls_object(const bufio::TlsFacts& facts) {
    JsonObject object;
    object.text("version", facts.version).text("cipher", facts.cipher);
    object.text("group", facts.group);
    object.text("alpn", facts.alpn).text("subject", facts.subject);
    object.text("issuer", facts.issuer).text("not_after", facts.not_after);
    object.text("pin", facts.pin).flag("verified", facts.faults_text.empty());
    return object.text("unverified", certificate_faults_text(facts))
        .flag("resumed", facts.resumed);
}

JsonObject connection_object(const Session& session, std::size_t number) {
    const Session::Phases& phases = session.phases();
    JsonObject object;
    object.text("type", "connection");
    if (number > 0) object.number("connection", number);
    object.text("address", session.address().text());
    object.text("framing", session.options().framing->name);
    object.time("lookup_us", phases.lookup).time("connect_us", phases.tcp);
    if (phases.handshake) object.time("handshake_us", *phases.handshake);
    if (session.tls()) object.object("tls", tls_object(*session.tls()));
    return object;
}

}  // namespace yodel
