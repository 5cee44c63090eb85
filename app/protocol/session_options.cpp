#include "app/protocol/session_options.hpp"

#include "app/text/units.hpp"
#include "bufio/listen.hpp"
#include "bufio/packets.hpp"

namespace yodel {

using bufio::By;
using bufio::End;
using bufio::Reason;

namespace {

// While finishing, we close our side after this time without a reply. Some services answer only
// once our side is closed; others drop their remaining replies if it closes earlier.
constexpr ev::Duration quiet_time = std::chrono::milliseconds(500);

// Minimum timeout for a peer that accepts no output.
constexpr ev::Duration min_write_timeout = std::chrono::seconds(1);

// With datagrams, the session waits for late and duplicate replies after the last expected
// reply: for lingering_round_trips times the longest round trip, but at least min_linger, at
// most max_linger, and not longer than -q.
constexpr ev::Duration min_linger = std::chrono::milliseconds(100);
constexpr ev::Duration max_linger = std::chrono::seconds(1);
constexpr int lingering_round_trips = 4;

bool begun(ev::Time time) { return time != ev::Time{}; }

ev::Time sum(ev::Time start, ev::Duration limit) {
    return start + std::min(limit, ev::Time::max() - start);
}

// Returns when the session stops waiting for the peer to close: after -q, or with datagrams at
// the end of the linger time. Each received datagram restarts the linger time, but does not
// extend it beyond -q. Only the longest pause extends -q, so that an owner that pauses again
// and again cannot keep us from ending.
ev::Time end_deadline(const Situation& now, const SessionOptions& options) {
    const ev::Time limit = sum(now.entered, options.close_timeout + now.max_pause);
    if (!options.endpoint.udp) return limit;
    const ev::Time from = std::max({now.all_answered, now.active, now.resumed_at});
    if (options.listens()) return from + options.answer_time;
    const ev::Duration wanted = lingering_round_trips * now.max_round_trip;
    const ev::Duration linger =
        std::min(std::clamp(wanted, min_linger, max_linger), options.close_timeout);
    return std::min(from + linger, std::max(now.all_answered + linger, limit));
}

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

// Returns a clause about how much of the reply was received, with a likely cause and, for a
// late message, the missing delimiter.
std::string partial_reply_text(const Message& message, std::string_view part, bool first,
                               const SessionOptions& options) {
    const Framing& framing = *options.framing;
    const bool framed = framing.replies_framed();
    const std::string_view begun = framed ? framing.partial_payload(part) : part;
    std::string right(message.expected.value_or(message.payload));
    if (framing.reply && !message.expected) right = framing.reply(right);
    const bool compared = options.expect == Expect::echo || options.expect == Expect::given;
    const std::size_t size = framing.payload_size(part).value_or(right.size());
    const std::size_t at = first_difference(begun, right + std::string(framing.delimiter));
    const bool differs =
        compared && !options.pattern && (at < begun.size() || size != right.size());
    std::string text = differs ? "the reply differs at byte " + std::to_string(at) + "; " : "";
    const bool known = compared || framing.payload_size(part);
    text += known && begun.size() <= size
                ? std::to_string(begun.size()) + " of " + bytes_text(size)
                : bytes_text(begun.size());
    text += " received";
    if (message.late && framed && framing.can_echo() && !framing.delimiter.empty())
        text += ", without " + framing.delimiter_name();
    std::string hint;
    if (first && framing.prefix > 0)
        hint = length_hint(framing, part, options.max_frame);
    else if (first && differs)
        hint = reply_hint(framing, right, {.payload = begun, .difference = at});
    return text + (hint.empty() ? "" : "; " + hint);
}

}  // namespace

std::string SessionOptions::target() const {
    const char* scheme = tls ? "tls://" : "tcp://";
    if (websocket) scheme = tls ? "wss://" : "ws://";
    if (endpoint.udp) scheme = "udp://";
    if (!endpoint.path.empty()) scheme = "unix:";
    return scheme + endpoint.text() + (websocket ? websocket->path : "");
}

std::string SessionOptions::listening_text() const {
    const std::string pin = tls ? "; clients trust it with --pinnedpubkey " + tls->pin() : "";
    return "listening " + endpoint.acceptor->address().text() + pin;
}

std::unique_ptr<bufio::Transport> make_transport(const SessionOptions& options,
                                                 bufio::Fd socket, SessionFacts& facts) {
    const bool listens = options.listens();
    if (options.endpoint.udp)
        return bufio::make_packet_transport(std::move(socket), facts.address, !listens);
    auto transport = !options.tls ? bufio::make_plain_transport(std::move(socket))
                     : listens    ? options.tls->accept(std::move(socket))
                               : options.tls->connect(std::move(socket), options.endpoint.host);
    if (options.starttls)
        transport = ask_for_tls(std::move(transport), *options.starttls, facts.opening_notes);
    if (options.websocket)
        transport = listens ? websocket::accept(std::move(transport), options.max_frame)
                            : websocket::connect(std::move(transport), *options.websocket,
                                                 options.max_frame, *facts.websocket);
    if (options.on_connect.empty()) return transport;
    return say_first(std::move(transport), *options.framing, options.starttls != nullptr,
                     options.on_connect, facts.opening_notes);
}

void Situation::resume(ev::Time now) {
    const ev::Time from = *paused_at;
    paused_at.reset();
    resumed_at = now;
    max_pause = std::max(max_pause, now - std::max(entered, from));
    for (ev::Time* const start :
         {&active, &pinged, &accepted, &awaited, &greeted, &heard, &peer_ended})
        if (begun(*start)) *start += now - std::max(*start, from);
}

Deadlines deadlines(const Situation& now, const SessionOptions& options) {
    const bool open = now.state == SessionState::open;
    const bool finishing = now.state == SessionState::finishing;
    Deadlines all;
    all[Deadline::attempt] = now.attempt;
    all[Deadline::run] = now.run;
    if (!now.connected) return all;
    if (options.idle_timeout) all[Deadline::idle] = sum(now.active, *options.idle_timeout);
    if (open && options.ping)
        all[Deadline::ping] = now.pong_awaited
                                  ? sum(now.pinged, options.reply_timeout)
                                  : sum(std::max(now.pinged, now.active), *options.ping);
    if (now.unsent)
        all[Deadline::output] =
            sum(now.accepted, std::max(options.reply_timeout, min_write_timeout));
    if (begun(now.awaited)) all[Deadline::reply] = sum(now.awaited, options.reply_timeout);
    if (open && begun(now.greeted))
        all[Deadline::greeting] = sum(now.greeted, options.greeting_time);
    if (finishing && now.in_flight > 0 && !now.closing && !options.stays_open)
        all[Deadline::quiet] = sum(now.heard, quiet_time);
    if (finishing && now.in_flight == 0) all[Deadline::end] = end_deadline(now, options);
    if (begun(now.peer_ended)) {
        const bool answers = options.listens() && (!options.websocket || now.unsent);
        all[Deadline::early_close] =
            sum(now.peer_ended, answers ? options.answer_time : ev::Duration::zero());
    }
    if (!now.paused_at) return all;
    for (std::size_t i = static_cast<std::size_t>(Deadline::idle); i < deadline_count; ++i)
        if (all.at(i) > *now.paused_at) all.at(i) = ev::Time::max();
    return all;
}

ev::Duration retry_wait(ev::Duration first, unsigned earlier, std::minstd_rand& random) {
    const ev::Duration longest = std::max<ev::Duration>(first, std::chrono::seconds(30));
    ev::Duration wait = first;
    for (unsigned i = 0; i < earlier && wait > ev::Duration::zero() && wait < longest; ++i)
        wait = std::min(2 * wait, longest);
    using Random = std::uniform_int_distribution<ev::Duration::rep>;
    return ev::Duration(Random(wait.count() / 2, wait.count())(random));
}

std::string loss_text(const Message& message, std::string_view part, bool connected,
                      bool first_reply, const SessionOptions& options) {
    if (!message.late)
        return connected ? "; a later message was answered" : " before the connection ended";
    const std::string text = " within " + duration_text(options.reply_timeout);
    if (part.empty()) return text;
    return text + "; " + partial_reply_text(message, part, first_reply, options);
}

End timeout_end(Deadline passed, const SessionOptions& options, const std::string& phase,
                std::size_t unsent) {
    const auto text = [](ev::Duration limit, const char* option) {
        return duration_text(limit) + " (" + option + ")";
    };
    switch (passed) {
    case Deadline::run:
        return {Reason::timeout, By::us, "the run did not finish within",
                text(*options.max_time, "--max-time")};
    case Deadline::idle:
        return {Reason::timeout, By::us, "nothing was sent or received for",
                text(*options.idle_timeout, "--idle-timeout")};
    case Deadline::ping:
        return {Reason::timeout, By::peer, "did not answer a ping within",
                text(options.reply_timeout, "-W")};
    case Deadline::output:
        return {Reason::timeout, By::peer,
                "has stopped reading; unsent:", bytes_text(unsent) + " (-W)"};
    case Deadline::end:
        return {Reason::timeout, By::peer, "did not close within",
                text(options.close_timeout, "-q")};
    default:
        return {Reason::timeout, By::us, "no connection to",
                options.endpoint.text() + " within " + text(options.connect_timeout, "-w") +
                    ": still " + phase};
    }
}

End partial_end(const SessionOptions& options, std::string_view part, bool first_reply) {
    End end = end_inside_message(*options.framing, part);
    const std::string hint =
        first_reply ? length_hint(*options.framing, part, options.max_frame) : "";
    if (!hint.empty()) end.detail += "; " + hint;
    return end;
}

// An early end with a detail is already explained. If a server closes its side and sending
// fails later, the server has ended the connection.
End explained_end(End end, const Situation& now, const SessionOptions& options,
                  std::string_view part, const websocket::Facts* websocket) {
    if (end.reason == Reason::reset && now.oldest_id > 0 && !part.empty())
        return {Reason::reset, By::peer, "reset the connection inside the reply to message",
                std::to_string(now.oldest_id) + ", " + options.framing->fragment_text(part)};
    const bool listens = options.listens();
    const bool open = now.state == SessionState::open;
    const bool closed_first = open && end.reason == Reason::send && now.input_ended;
    const bool early = end.reason == Reason::closed_early && end.detail.empty();
    const bool left = listens && open && end.reason == Reason::clean;
    const bool ends = listens || options.ends_with_input();
    if (!left && !(ends && (early || closed_first))) return end;
    const bool announced = open && now.replies > 0 && now.oldest_id == 0;
    const bool clean = left || (announced && !options.retry_after_answers);
    end = {clean ? Reason::clean : Reason::closed_early, By::peer, "closed the connection"};
    if (listens) return end;
    if (now.in_flight == 0) end.what = options.early_close;
    if (now.in_flight > 0)
        end.detail = "after " + std::to_string(now.replies) + " of " +
                     std::to_string(now.replies + now.in_flight) + " replies";
    if (websocket && websocket->closure)
        end.detail += (end.detail.empty() ? "(" : " (") + websocket->closure->text() + ")";
    return end;
}

// Once all messages are answered, the peer may close early. Once our side is closed, a peer
// that does not close in time is `unclosed`, unless nobody waits for it. If the expected
// replies are known, it may also close without close_notify, but neither inside a message nor
// without a WebSocket close frame.
End final_end(End end, const Situation& now, const SessionOptions& options, const End& before,
              bool inside_message) {
    if (end.reason == Reason::clean) return before ? before : end;
    const End clean = before ? before : End{Reason::clean, By::us, "closed"};
    if (now.state != SessionState::finishing || now.in_flight > 0) return end;
    if (end.reason == Reason::closed_early) return clean;
    if (!now.output_closed) return end;
    if (end.reason == Reason::timeout) {
        const bool awaited = options.close_timeout > ev::Duration::zero();
        if (!awaited || options.endpoint.udp) return clean;
        end.reason = Reason::unclosed;
        return end;
    }
    const bool known = options.expect == Expect::echo || options.expect == Expect::given;
    const bool whole = known && !inside_message && !options.websocket;
    return end.reason == Reason::truncated && whole ? clean : end;
}

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
        if (tls->default_groups) text += "; --groups X25519 makes it smaller";
    }
    return text;
}

}  // namespace yodel
