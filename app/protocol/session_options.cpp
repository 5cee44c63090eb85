#include "app/protocol/session_options.hpp"

#include "app/text/units.hpp"
#include "bufio/listen.hpp"

namespace yodel {

using bufio::Reason;

std::string SessionOptions::target() const {
    const char* scheme = tls ? "tls://" : "tcp://";
    if (websocket) scheme = tls ? "wss://" : "ws://";
    if (endpoint.is_udp) scheme = "udp://";
    if (!endpoint.path.empty()) scheme = "unix:";
    return scheme + endpoint.text() + (websocket ? websocket->path : "");
}

std::string SessionOptions::listening_text() const {
    const std::string pin = tls ? "; clients trust it with --pinnedpubkey " + tls->pin() : "";
    return "listening " + endpoint.acceptor->address().text() + pin;
}

ev::Duration retry_wait(ev::Duration first, unsigned retries, std::minstd_rand& random) {
    const ev::Duration longest = std::max<ev::Duration>(first, std::chrono::seconds(30));
    ev::Duration wait = first;
    for (unsigned i = 0; i < retries && wait > ev::Duration::zero() && wait < longest; ++i)
        wait = std::min(2 * wait, longest);
    using Random = std::uniform_int_distribution<ev::Duration::rep>;
    return ev::Duration(Random(wait.count() / 2, wait.count())(random));
}

std::string loss_text(const Message& message, std::string_view part, bool is_connected,
                      bool is_first_reply, const SessionOptions& options) {
    if (!message.is_late)
        return is_connected ? "; a later message was answered" : " before the connection ended";
    std::string text = " within " + duration_text(options.reply_timeout);
    if (part.empty()) return text;
    const Framing& framing = *options.framing;
    const bool is_framed = framing.has_framed_replies();
    const std::string_view payload = is_framed ? framing.partial_payload(part) : part;
    std::string right(message.expected.value_or(message.payload));
    if (framing.reply && !message.expected) right = framing.reply(right);
    const bool is_compared = options.expect == Expect::echo || options.expect == Expect::given;
    const std::size_t size = framing.payload_size(part).value_or(right.size());
    const std::size_t at = first_difference(payload, right + std::string(framing.delimiter));
    const bool differs =
        is_compared && !options.pattern && (at < payload.size() || size != right.size());
    text += "; ";
    if (differs) text += "the incomplete reply differs at byte " + std::to_string(at) + "; ";
    const bool is_size_known = is_compared || framing.payload_size(part);
    text += is_size_known && payload.size() <= size
                ? std::to_string(payload.size()) + " of " + bytes_text(size)
                : bytes_text(payload.size());
    text += " received";
    if (is_framed && framing.can_echo() && !framing.delimiter.empty())
        text += ", without " + framing.delimiter_name();
    std::string hint;
    if (is_first_reply && framing.prefix_size > 0)
        hint = length_hint(framing, part, options.max_frame);
    else if (is_first_reply && differs)
        hint = reply_hint(framing, right, {.payload = payload, .difference = at});
    return text + (hint.empty() ? "" : "; " + hint);
}

std::string end_text(const bufio::End& end, const SessionOptions& options,
                     const bufio::TlsFacts* tls) {
    const std::string peer = options.listens() ? "the client" : "the server";
    std::string text = end.text(peer);
    // The text is about another limit, such as --max-time, and does not mention the close.
    if (end.reason == Reason::unclosed && end.by != bufio::By::peer)
        text = peer + " did not close; " + text;
    if (!tls) return text;
    if (end.reason == Reason::certificate) {
        // If a server does not send its intermediate certificate, its administrator should fix
        // that, instead of each client trusting more. --cacert helps only if the missing trust
        // is the only fault.
        if (tls->has_incomplete_chain)
            text += "; the server should send its intermediate certificate";
        text += "; to accept it: ";
        if (tls->is_untrusted && tls->fault_count == 1) text += "--cacert FILE, ";
        text += "--pinnedpubkey " + tls->pin + ", or -k";
    }
    if (end.reason == Reason::own_certificate && !tls->subject.empty())
        text += "; choose one that it accepts with --cert FILE and --key FILE";
    // Some servers and middleboxes expect the whole ClientHello in the first segment, which is
    // too small for current key exchanges.
    constexpr std::size_t usual_segment = 1448;  // bytes of payload, on Ethernet
    const bool is_silent =
        end.reason == Reason::timeout || end.reason == Reason::handshake_interrupted;
    if (is_silent && tls->unanswered_hello_size > usual_segment) {
        text +=
            "; the server did not answer a ClientHello of " +
            std::to_string(tls->unanswered_hello_size) +
            " bytes, which exceeds a usual TCP segment and is too large for some servers and "
            "middleboxes";
        if (tls->has_default_groups) text += "; --groups X25519 makes it smaller";
    }
    return text;
}

}  // namespace yodel
