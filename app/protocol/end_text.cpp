#include "app/protocol/end_text.hpp"

namespace yodel {

using bufio::Reason;

namespace {

// Payload of a TCP segment on Ethernet, in bytes.
constexpr std::size_t usual_segment = 1448;

// --cacert helps only if the missing trust is the only fault. If a server does not send its
// intermediate certificate, its owner should fix that, instead of each client trusting more.
std::string ways_to_accept(const bufio::TlsFacts& tls) {
    std::string text;
    if (tls.incomplete_chain) text += "; the server should send its intermediate certificate";
    text += "; to accept it: ";
    if (tls.untrusted && tls.fault_count == 1) text += "--cacert FILE, ";
    return text + "--pinnedpubkey " + tls.pin + ", or -k";
}

}  // namespace

std::string end_text(const bufio::End& end, const SessionOptions& options,
                     const bufio::TlsFacts* tls) {
    const std::string peer = options.listens() ? "the client" : "the server";
    std::string text = end.text(peer);
    // Some other limit than that for the peer's end has passed.
    if (end.reason == Reason::unclosed && end.by != bufio::By::peer)
        text = peer + " did not close; " + text;
    if (!tls) return text;
    if (end.reason == Reason::certificate) text += ways_to_accept(*tls);
    if (end.reason == Reason::own_certificate && !tls->subject.empty())
        text += "; use --cert FILE and --key FILE";
    // Some servers and middleboxes expect the whole ClientHello in the first segment, which is
    // too small for current key exchanges.
    const bool silent =
        end.reason == Reason::timeout || end.reason == Reason::handshake_interrupted;
    if (silent && tls->unanswered_hello_size > usual_segment) {
        text += "; the server did not answer a ClientHello of " +
                std::to_string(tls->unanswered_hello_size) +
                " bytes, which exceeds one TCP segment and is too large for some servers and "
                "middleboxes";
        if (tls->requested_groups.empty()) text += "; --groups X25519 makes it smaller";
    }
    return text;
}

}  // namespace yodel
