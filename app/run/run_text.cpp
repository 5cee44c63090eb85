#include "app/run/run_text.hpp"

#include "app/protocol/event.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <optional>

namespace yodel {

namespace {

// Maximum number of payload bytes shown, and about how many precede the first difference.
constexpr std::size_t shown_bytes = 256;
constexpr std::size_t shown_bytes_before = 64;

constexpr int dump_width = 80;

// Returns the times of the phases. `connect`: the name of the second one.
std::string phases_text(const Session& session, const char* connect) {
    const Session::Phases& phases = session.phases();
    std::string text = "look-up " + milliseconds_number(phases.lookup) + ", " + connect + " " +
                       milliseconds_number(phases.tcp);
    if (phases.handshake)
        text +=
            ", " + session.options().handshake() + " " + milliseconds_number(*phases.handshake);
    return text + " ms";
}

}  // namespace

std::string attempt_text(const Session& session) {
    const bool tcp = session.options().endpoint.path.empty();
    return "connected to " + session.address().text() + ", " +
           phases_text(session, tcp ? "TCP" : "connect");
}

std::string connection_text(const Session& session) {
    if (session.options().listens()) return "connection from " + session.address().text();
    std::string text =
        "connected to " + session.address().text() + "; " + phases_text(session, "connect");
    const bufio::TlsFacts* const tls = session.tls();
    if (!tls) return text;
    text += "; " + tls->version + " " + tls->cipher +
            (tls->group.empty() ? "" : " " + tls->group) + ", " + tls->subject + " until " +
            tls->not_after + ", " + tls->pin;
    return tls->faults_text.empty() ? text
                                    : text + ", UNVERIFIED: " + certificate_faults_text(*tls);
}

std::string certificate_text(const bufio::TlsFacts& tls) {
    return tls.subject + ", issued by " + tls.issuer + ", valid until " + tls.not_after + ", " +
           tls.pin;
}

void add_tcp_facts(Results& results, const Session& session) {
    const std::optional<bufio::TcpFacts> facts = session.tcp();
    if (!facts) return;
    results.add_tcp({.min_rtt = facts->min_rtt,
                     .retransmits = facts->retransmits,
                     .mss = facts->mss,
                     .cwnd = facts->cwnd});
}

std::string bad_reply_text(const Message& message, const Reply& reply,
                           const Session::Options& options) {
    const std::string which = "reply " + std::to_string(message.id);
    const bool given = options.expect == Expect::given;
    const std::string hint = given ? "" : reply_hint(*options.framing, message.payload, reply);
    const std::string end = hint.empty() ? "" : "; " + hint;
    if (!reply.difference)
        return which + " does not match " + in_quotes(options.pattern->text()) + ": " +
               excerpt(reply.payload.substr(0, shown_bytes), reply.payload.size()) + end;
    return which + " differs from " + (given ? "the recording" : "its message") + " " +
           bad_byte_text(reply) + end;
}

std::string DifferenceText::unrecorded(std::string_view unsolicited) const {
    return "an unsolicited message is not in the recording\n" + part("now", unsolicited, 0);
}

std::string DifferenceText::missing(std::string_view unsolicited) const {
    return "a recorded unsolicited message is missing\n" + part("recorded", unsolicited, 0);
}

std::string DifferenceText::bad_reply(const Message& message, const Reply& reply) const {
    const std::string recorded_reply(message.expected.value_or(""));
    const std::size_t at = *reply.difference;
    const std::size_t recorded_difference =
        difference(options_.pattern_or_null(), recorded_reply, reply.payload).value_or(at);
    std::string text = "reply " + std::to_string(message.id);
    text += message.expected ? " " + bad_text(reply) + "\n"
                             : " is unexpected: no reply to its message was recorded\n";
    text += part("sent", message.payload, 0);
    if (message.expected) text += part("recorded", recorded_reply, recorded_difference);
    return text + part("now", reply.payload, at);
}

std::string DifferenceText::lost(const Message& message) const {
    const std::string how =
        message.late ? "did not arrive within " + duration_text(options_.reply_timeout)
                     : "is missing";
    return "reply " + std::to_string(message.id) + " " + how + "\n" +
           part("sent", message.payload, 0) +
           part("recorded", message.expected.value_or(""), 0);
}

std::string DifferenceText::late(const Message& message, const Reply& reply) {
    const std::string after = reply.round_trip
                                  ? " (after " + milliseconds_text(*reply.round_trip) + ")"
                                  : std::string();
    return "reply " + std::to_string(message.id) + " arrived late" + after +
           " and matches the recording\n";
}

// Adds the size of a payload that is shown only in part.
std::string DifferenceText::part(const char* name, std::string_view payload,
                                 std::size_t difference) const {
    const std::size_t before = std::max(difference, shown_bytes_before) - shown_bytes_before;
    const std::size_t begin =
        payload.size() <= shown_bytes ? 0 : std::min(before, payload.size()) / 16 * 16;
    const std::size_t end = std::min(begin + shown_bytes, payload.size());
    std::string head = format("    %-9s", name);
    if (end - begin < payload.size())
        head += " (bytes " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                std::to_string(payload.size()) + ")";
    if (!hex_) return head + " " + ui::printable(payload.substr(begin, end - begin)) + "\n";
    std::string text = head + "\n";
    for (const ui::HexRow& row : ui::hex_dump(payload, dump_width, begin, end))
        text += "    " + row.text + "\n";
    return text;
}

}  // namespace yodel
