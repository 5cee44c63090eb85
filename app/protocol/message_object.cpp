#include "app/protocol/message_object.hpp"

#include "app/protocol/recording.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

namespace yodel {

JsonObject message_object(const Event& event, ev::Time start) {
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
    return object;
}

JsonObject recorded_object(const Event& event, ev::Time start) {
    JsonObject object = message_object(event, start);
    if (!has_message(event.fate)) object.time("received_us", event.at - start);
    if (has_message(event.fate)) object.bytes("sent", event.message.payload);
    if (has_reply(event.fate)) object.bytes("received", event.reply.payload);
    return object;
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
