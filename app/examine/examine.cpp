// Each check does what a person would do by hand: connect, send, expect. A function that waits
// runs the loop, so no callback may call it. Such a function throws Stopped if the loop was
// stopped. Functions that expect bytes throw Failure unless exactly these arrive.
//
// A new check is a row of the table. cause_of() looks for the cause of a failure.

#include "app/examine/examine.hpp"

#include "app/protocol/event.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace yodel {

namespace {

using namespace std::chrono_literals;

// What a check needs from a server:
//     again   answer a second message on a connection
//     length  answer a message longer than a few bytes
//     pieces  read a message in pieces, or several messages together
//     many    serve several clients at the same time
//     cr      echo 0d unchanged
enum Ability : unsigned { again = 1, length = 2, pieces = 4, many = 8, cr = 16 };

enum class FailureKind { other, differs, closed, silent };

struct Cause {
    std::string text = {};  // what the evidence proves; empty if there is no evidence
    unsigned missing = 0;   // flags of Ability
    FailureKind kind = FailureKind::other;  // how the first check with this cause failed
    std::size_t number = 0;                 // number of that check
};

struct Failure {
    std::string text = {};  // what happened instead, as a clause; empty if the check passed
    FailureKind kind = FailureKind::other;  // silent if something did not arrive in time
    std::string expected = {};              // the right reply
    std::string received = {};              // the beginning of the right reply, or other bytes
    int status = success;                   // the program's status if there is no connection
    Cause cause = {};
    std::vector<std::string> traces = {};  // sent and received bytes
};

struct Stopped {};

bool carries_stream(const Session::Options& options) {
    return !options.endpoint.is_udp && !options.websocket;
}

// Returns options for connections that report all bytes as they are. Their sessions expect no
// replies, and wait for a server that stops reading.
Session::Options raw_options(Session::Options options) {
    if (carries_stream(options)) options.framing = find_framing("raw");
    options.expect = Expect::none;
    options.reply_timeout = 1h;
    options.max_time.reset();
    return options;
}

struct Examination {
    ev::Loop& loop;
    const Session::Options& target;
    const std::size_t max_traces;

    Session::Options options = raw_options(target);  // for connections
    // The framing of a stream. Other transports carry bytes as messages, without frames.
    const Framing& framing = carries_stream(target) ? *target.framing : *find_framing("raw");
    const std::string within = " within " + duration_text(target.reply_timeout);
    // Deadline of all checks together: after the max_time of the target or, if that is unset,
    // after 15s. These 15s include neither connecting nor long delays of this process.
    ev::Time end_at = now() + target.max_time.value_or(15s);
    ev::Time received_at = {};    // time of the last receipt on any connection
    ev::Timer tick{loop, [] {}};  // bounds each wait of the loop, so that lateness is noticed
    unsigned abilities = 0;       // that the server has proven
    std::vector<Cause> causes = {};  // of the failures so far

    // Of one check:
    std::size_t connections = 0;
    bool is_delayed = false;               // the system did not run this process in time
    std::vector<std::string> traces = {};  // sent and received bytes

    // Return a message and its reply as bytes. A payload too long for the framing is cut.
    std::string frame(std::string_view payload) const {
        std::string bytes;
        encode(framing, payload.substr(0, target.framing->max_payload()), bytes);
        return bytes;
    }
    std::string reply(std::string_view payload) const {
        return framing.reply ? framing.reply(payload) : frame(payload);
    }
    // Accepts an incomplete reply.
    std::string_view payload_of(std::string_view reply) const {
        if (framing.reply) return reply;
        reply = framing.partial_payload(reply);
        if (reply.ends_with(framing.delimiter)) reply.remove_suffix(framing.delimiter.size());
        return reply;
    }

    ev::Time now() const { return loop.read_clock(); }
    bool is_over() const { return now() >= end_at; }

    // Runs the loop until `done` returns true. Returns false if nothing was received for
    // `limit`, or if `end_at` has passed.
    bool wait(const std::function<bool()>& done, ev::Duration limit) {
        const ev::Time begun_at = now();
        while (!done()) {
            const ev::Time deadline = std::max(begun_at, received_at) + limit;
            if (now() >= deadline || is_over()) return false;
            tick.start_at(std::min(deadline, now() + 20ms));
            if (!loop.step()) throw Stopped{};
            const ev::Duration lateness = now() - tick.deadline();
            is_delayed = is_delayed || lateness > 100ms;
            if (lateness > 100ms && !target.max_time) end_at += lateness;
        }
        return true;
    }
    bool wait(const std::function<bool()>& done) { return wait(done, target.reply_timeout); }
    void sleep(ev::Duration duration) {
        const ev::Time wake_at = now() + duration;
        wait([&] { return now() >= wake_at; }, duration);
    }

    void trace(std::size_t connection_number, const char* verb, std::string_view bytes) {
        if (traces.size() == max_traces) return;
        traces.push_back(std::to_string(connection_number) + " " + verb + " " +
                         bytes_text(bytes.size()) + ": " +
                         excerpt(bytes.substr(0, 256), bytes.size()));
    }
};

// With a stream, a call may send or expect a part of a message. With datagrams and WebSocket,
// calls send and expect whole messages.
class Client final : private Session::Owner {
public:
    explicit Client(Examination& exam) : Client(exam, exam.options) {}

    // Waits until the connection is open and any greeting has arrived.
    Client(Examination& exam, const Session::Options& options)
        : exam_(exam),
          number_(++exam.connections),
          session_(exam.loop, std::make_shared<const Session::Options>(options), *this) {
        session_.connect();
        const ev::Time begun_at = exam.now();
        const auto open = [&] { return session_.state() == Session::State::open; };
        exam.wait([&] { return open() || closed(); }, exam.target.connect_timeout + 1s);
        if (!exam.target.max_time) exam.end_at += exam.now() - begun_at;
        const bool is_slow = !closed() || session_.end().reason == bufio::Reason::timeout;
        if (!open())
            throw Failure{.text = closed() ? end_text(session_)
                                           : "the connection did not open in time",
                          .kind = is_slow ? FailureKind::silent : FailureKind::other,
                          .status = exit_status(session_.end())};
        // Later connections need no look-up.
        exam.options.endpoint.known_addresses =
            std::make_shared<const std::vector<bufio::Address>>(1, session_.address());
        if (exam.framing.greeting.empty()) return;
        add(expected_, exam.framing.greeting);
        expect();
    }

    // Queues a message, whose reply expect() then waits for.
    Client& queue(std::string_view payload) {
        add(queue_, exam_.frame(payload));
        add(expected_, exam_.reply(payload));
        return *this;
    }
    Client& queue_thousand() {
        for (int i = 1; i <= 1000; ++i) queue("message " + std::to_string(i));
        return *this;
    }
    Client& echo(std::string_view payload) {
        queue(payload).expect();
        return *this;
    }
    void flush() {
        for (const std::string& each : queue_) {
            exam_.trace(number_, "sent", each);
            session_.send(each);
        }
        queue_.clear();
        session_.flush();
    }
    // Sends the first `size` queued bytes if the target is a stream, otherwise all queued
    // messages. Then sleeps.
    Client& send_part(std::size_t size, ev::Duration gap = {}) {
        if (!is_stream()) size = queue_.front().size();
        const std::string rest = queue_.front().substr(size);
        queue_.front().resize(size);
        flush();
        if (!rest.empty()) queue_.push_back(rest);
        exam_.sleep(gap);
        return *this;
    }
    // Sends the queued messages, and waits for all expected replies.
    void expect() {
        flush();
        for (; !expected_.empty(); expected_.pop_front()) {
            const std::string& reply = expected_.front();
            const std::size_t size = is_stream() ? reply.size() : 0;
            const auto is_whole = [&] {
                return !received_.empty() && received().size() >= size;
            };
            exam_.wait([&] { return is_whole() || ended(); });
            const std::string_view part = received().substr(0, size > 0 ? size : reply.npos);
            if (!is_whole() || part != reply) throw wrong_reply(reply, part);
            refuse(received().substr(part.size()), reply);
            received_.pop_front();
        }
    }

    // Stops reading, and sends bursts of messages. Stops after 16 MiB or 4 s, if the
    // connection ends, or if the server does not accept a burst within `patience`. Waits for
    // `gap` after each burst. A burst is smaller than the 64 KiB of a pipe, so that the
    // server's last read() of a burst does not fill the server's buffer.
    Client& flood(ev::Duration gap = 1ms, ev::Duration patience = 400ms) {
        pause(true);
        const ev::Time end_at = exam_.now() + 4s;
        const auto accepted = [&] { return session_.pending() == 0 || closed(); };
        for (int i = 0; i < 320 && !closed() && exam_.now() < end_at; ++i) {
            for (int kib = 0; kib < 50; ++kib) queue(std::string(1024, "abcdefg"[i % 7]));
            flush();
            exam_.sleep(gap);
            if (!exam_.wait(accepted, patience)) break;
        }
        return *this;
    }
    void pause(bool is_paused) { session_.pause(is_paused); }  // stops reading while paused

    // Half-closes, and waits for all expected replies and the server's end.
    void finish() {
        flush();
        session_.finish();
        expect();
        const bool is_in_time = exam_.wait([&] { return closed(); });
        refuse(received());
        if (!is_in_time)
            throw Failure{"the server did not close" + exam_.within, FailureKind::silent};
        if (session_.end().reason != bufio::Reason::clean) throw Failure{end_text(session_)};
    }
    // The server gets a reset unless everything that it has sent was read.
    void leave() { session_.disconnect(); }

    bool ended() const { return closed() || session_.input_ended(); }
    // Received bytes of a stream, or the oldest received message, that no call has expected.
    std::string_view received() const {
        return received_.empty() ? std::string_view() : received_.front();
    }
    // Describes a wrong or incomplete reply.
    Failure wrong_reply(std::string_view reply, std::string_view received) const {
        if (closed() && exit_status(session_.end()) == connect_failed)  // only with datagrams
            return {.text = end_text(session_), .status = connect_failed};
        const std::string count =
            std::to_string(received.size()) + " of " + bytes_text(reply.size()) + " arrived";
        Failure failed{count, FailureKind::differs, std::string(reply), std::string(received)};
        if (!reply.starts_with(received)) {
            failed.text = "the reply " + bad_text(compared_reply(nullptr, reply, received, {}));
        } else if (ended()) {
            const bool is_clean = !closed() || session_.end().reason == bufio::Reason::clean;
            failed.kind = FailureKind::closed;
            failed.text = (is_clean ? "the server closed the connection" : end_text(session_)) +
                          "; " + count;
        } else if (is_stream() || received_.empty()) {
            failed.kind = FailureKind::silent;
            failed.text = (received.empty() ? "no reply" : count) + exam_.within;
            const Framing& framing = exam_.framing;
            if (!received.empty() && received.size() + framing.delimiter.size() == reply.size())
                failed.text += ", without " + framing.delimiter_name();
        }
        return failed;
    }

private:
    void session_changed() override {}
    void session_event(const Event& event) override {
        const std::string_view payload = event.reply.payload;
        if (event.fate != Fate::unsolicited) return;
        exam_.trace(number_, "received", payload);
        exam_.received_at = exam_.now();
        add(received_, payload);
        // A server that floods must neither fill our memory nor keep a check waiting.
        const std::size_t owed = expected_.empty() ? 0 : expected_.front().size();
        if (received().size() > owed + 1024 * 1024 || received_.size() > expected_.size() + 100)
            leave();
    }

    bool is_stream() const { return carries_stream(session_.options()); }
    bool closed() const { return session_.state() == Session::State::closed; }
    void add(std::deque<std::string>& to, std::string_view bytes) const {
        if (to.empty() || !is_stream()) to.emplace_back();
        to.back() += bytes;
    }
    static void refuse(std::string_view excess, std::string_view reply = {}) {
        if (excess.empty()) return;
        throw Failure{bytes_text(excess.size()) + " more arrived than were sent",
                      FailureKind::differs, std::string(reply), std::string(excess)};
    }

    Examination& exam_;
    const std::size_t number_;
    // Each element is a message, or contains all bytes of a stream.
    std::deque<std::string> queue_;
    std::deque<std::string> expected_;
    std::deque<std::string> received_;
    Session session_;
};

// --- Checks.

constexpr std::string_view cut_text = "in some pieces";
constexpr std::string_view second_text = "another message";
constexpr std::string_view blanks = "\r\t blanks \t\r";
// Evidence of foreign bytes. Apart from every_value(), only the messages of twenty_clients()
// contain these letters, and only one message contains a Z.
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRST";

// Echoes messages, each sent in two pieces. The first pieces are `first` to `last` bytes long.
void echo_in_two_pieces(Examination& exam, std::size_t first, std::size_t last) {
    Client client(exam);
    for (std::size_t cut = first; cut <= last; ++cut)
        client.queue(cut_text).send_part(cut, 100ms).expect();
}

// Expects an echo on another connection. If it arrives only once the first connection has
// closed, `cause` is proven.
void echo_beside(Examination& exam, Client& first, const char* cause) {
    std::optional<Client> second;
    try {
        second.emplace(exam);
        second->echo("second");
    } catch (Failure& failed) {
        first.leave();
        if (second && exam.wait([&] { return !second->received().empty(); })) {
            failed.text += "; it arrived once the first client had closed";
            failed.cause = {cause, many};
        }
        throw;
    }
}

void byte_by_byte(Examination& exam) {
    Client client(exam);
    client.queue(cut_text);
    for (std::size_t left = exam.frame(cut_text).size(); left > 0; --left)
        client.send_part(1, 1ms);
    client.expect();
}

// Opens a WebSocket by hand, because our transport never sends fragments. The server may echo
// the message in fragments, and send the pong after the message.
void fragments(Examination& exam) {
    Session::Options plain = exam.options;
    plain.websocket.reset();
    plain.framing = find_framing("raw");
    Client client(exam, plain);
    client.queue(exam.target.websocket->text("AAAAAAAAAAAAAAAAAAAAAA=="));
    client.flush();
    const auto opening_size = [&] { return client.received().find("\r\n\r\n"); };
    exam.wait([&] { return opening_size() != std::string_view::npos || client.ended(); });
    using namespace std::string_literals;
    client.queue("\x01\x83\0\0\0\0in "s + "\x89\x87\0\0\0\0between"s +
                 "\x80\x86\0\0\0\0pieces"s);
    client.flush();
    std::string message;
    std::size_t pong = message.npos;
    exam.wait([&] {
        message = client.received();
        message.erase(0, opening_size());
        // The heads of such short frames contain only control characters and bytes above 7f.
        std::erase_if(message, [](char each) { return each < ' ' || each > '~'; });
        pong = message.find("between");
        if (pong != message.npos) message.erase(pong, 7);
        return (pong != message.npos && message.ends_with("in pieces")) || client.ended();
    });
    if (!message.ends_with("in pieces")) throw client.wrong_reply("in pieces", message);
    if (pong == message.npos) throw Failure{"the message arrived without the pong"};
}

void slow_reader(Examination& exam) {
    Client client(exam);
    client.flood(5ms);
    for (int i = 0; i < 20; ++i) {
        client.pause(i % 2 == 1);
        exam.sleep(3ms);
    }
    client.pause(false);
    client.expect();
}

void idle_client(Examination& exam) {
    Client first(exam);
    echo_beside(exam, first, "it serves one client after the other");
}

void never_reading(Examination& exam) {
    echo_beside(exam, Client(exam).flood(1ms, 1s), "it waits for a client that does not read");
}

void twenty_clients(Examination& exam) {
    std::deque<Client> clients;
    for (const char each : letters) clients.emplace_back(exam).echo(std::string(9, each));
    for (std::size_t i = 0; i < letters.size(); ++i)
        clients[i].queue(std::string(9, letters[i])).send_part(5);
    exam.sleep(100ms);
    for (Client& each : clients) each.flush();
    for (Client& each : clients) each.expect();
}

void every_value(Examination& exam) {
    const Framing& framing = *exam.target.framing;
    std::string values;  // without the bytes that delimit messages
    for (int i = 0; i < 256; ++i) {
        const std::string byte(1, static_cast<char>(i));
        if (byte != framing.delimiter && byte != framing.head) values += byte;
    }
    Client(exam).echo(values);
}

struct Check {
    unsigned kinds;                      // of targets
    unsigned needs;                      // abilities
    const char* name;                    // what the server does: "echoes an empty message"
    void (*perform)(Examination& exam);  // throws Failure and Stopped
    int visits = 0;  // maximum number of later clients, which must get an echo
    // The cause if the server does not answer afterwards. Empty unless the check resets a
    // connection.
    std::string_view fatal_cause = {};
};

// Kinds of targets, and features of their framings.
enum Kind : unsigned { tcp = 1, tls = 2, udp = 4, ws = 8, sized = 16, frames = 32, large = 64 };
constexpr unsigned byte_streams = tcp | tls;
constexpr unsigned streams = byte_streams | ws;
constexpr unsigned every_kind = streams | udp;
constexpr unsigned bulk = again | length | pieces;
constexpr std::string_view reset_ended =
    "a reset ended the server, by SIGPIPE or an unhandled error";

constexpr Check all_checks[] = {
    {every_kind, 0, "echoes a message", [](auto& exam) { Client(exam).echo("hello, yodel"); }},
    {streams, again, "echoes a second message on the connection",
     [](auto& exam) { Client(exam).echo("a first message").echo(second_text); }},
    {every_kind, 0, "echoes every byte value", every_value},
    {frames, 0, "echoes an empty message", [](auto& exam) { Client(exam).echo(""); }},
    {every_kind, cr, "keeps blanks, tabs and CR at both ends",
     [](auto& exam) { Client(exam).echo(blanks); }},
    {udp, length, "echoes a datagram of 65507 bytes",
     [](auto& exam) { Client(exam).echo(std::string(65507, 'x')); }},
    {streams, again | length, "echoes a short message after a long one",
     [](auto& exam) {
         Client(exam).echo(std::string(3000, 'Z')).echo("short").echo(std::string(1000, 'm'));
     }},
    {byte_streams, again | pieces, "echoes a message in two pieces",
     [](auto& exam) { echo_in_two_pieces(exam, 8, 8); }},
    {byte_streams, again | pieces, "echoes a message byte by byte", byte_by_byte},
    {sized, again | pieces, "accepts a length in pieces",
     [](auto& exam) { echo_in_two_pieces(exam, 1, exam.framing.overhead()); }},
    {ws, pieces, "accepts a ping between fragments", fragments},
    {streams, bulk, "echoes a thousand messages together",
     [](auto& exam) { Client(exam).queue_thousand().expect(); }},
    {large, length | pieces, "echoes a message of 70000 bytes",
     [](auto& exam) { Client(exam).echo(std::string(70'000, 'x')); }},
    {streams, bulk, "echoes everything to a slow reader", slow_reader},
    {every_kind, many, "serves a second client while the first is idle", idle_client},
    {every_kind, again | pieces | many, "serves twenty clients together", twenty_clients},
    {tcp, bulk, "answers everything after a half-close, and closes",
     [](auto& exam) { Client(exam).queue_thousand().finish(); }},
    {tls, again, "answers close_notify",
     [](auto& exam) { Client(exam).echo("goodbye").finish(); }},
    {ws, again, "answers a close frame",
     [](auto& exam) { Client(exam).echo("goodbye").finish(); }},
    {streams, 0, "survives a client that leaves inside a message",
     [](auto& exam) { Client(exam).queue(cut_text).send_part(5); }, 1},
    {streams, 0, "survives a reset by a client", [](auto& exam) { Client(exam).flood(); }, 3,
     reset_ended},
    {streams, length | many, "serves a client while another never reads", never_reading, 3,
     reset_ended},
    {streams, 0, "serves many clients in turn", [](auto&) {}, 200},
    {every_kind, 0, "still echoes a message",
     [](auto& exam) { Client(exam).echo("hello, yodel"); }},
};

std::vector<Check> checks_of(const Session::Options& target) {
    const Framing& framing = *target.framing;
    unsigned kind = target.websocket ? ws : target.tls ? tls : tcp;
    if (target.endpoint.is_udp) kind = udp;
    if (framing.has_length() && carries_stream(target)) kind |= sized;
    if (framing.has_framed_replies()) kind |= frames;
    if (framing.max_payload() > 70'000) kind |= large;
    std::vector<Check> checks(std::begin(all_checks), std::end(all_checks));
    std::erase_if(checks, [&](const Check& each) { return (each.kinds & kind) == 0; });
    return checks;
}

// --- Causes.

// Returns what arrives for a message on a new connection.
std::string answer(Examination& exam, std::string_view payload) {
    Client client(exam);
    client.queue(payload).flush();
    const std::size_t size = exam.reply(payload).size();
    exam.wait([&] { return client.received().size() >= size || client.ended(); });
    return std::string(client.received());
}

Cause cause_of_values(Examination& exam) {
    for (const char byte : std::string_view("\0\n\r", 3)) {
        const std::string payload{'a', byte, 'b'};
        if (payload.substr(1, 1) == exam.framing.delimiter) continue;
        const std::string reply = answer(exam, payload);
        const std::string_view part = exam.payload_of(reply);
        if (reply == exam.reply(payload)) continue;
        const std::string name = byte_text(payload, 1);
        const unsigned missing = byte == '\r' ? cr : 0U;
        if (part == "ab") return {name + " is removed", missing};
        if (part == "a" || part.starts_with("a\r") || part.starts_with("a\n"))
            return {name + (byte == 0 ? " ends its strings" : " ends its messages"), missing};
    }
    const auto echoes = [&](const char* payload) {
        return answer(exam, payload) == exam.reply(payload);
    };
    return {echoes("a\xc3\xa9z") && !echoes("a\x80z") ? "decoded as UTF-8" : ""};
}

// Looks for evidence in the reply. If there is none, sends further messages, and looks at their
// replies. Throws Failure as a check does.
Cause cause_of(const Failure& failed, Examination& exam) {
    const std::string_view whole = exam.payload_of(failed.expected);
    const std::string_view part = exam.payload_of(failed.received);
    const auto has_foreign = [&](std::string_view payload) {
        const std::string reply = exam.reply(payload);
        const std::string_view foreign = exam.payload_of(reply);
        return std::any_of(foreign.begin(), foreign.end(), [&](char each) {
            return part.find(each) != part.npos && whole.find(each) == whole.npos;
        });
    };
    const bool has_closed = failed.kind == FailureKind::closed && part.empty();
    if (has_closed && failed.expected == exam.reply(second_text))
        return {"it closes after one message", again};
    if (has_foreign("Z")) return {"bytes of the long message", again | pieces};
    if (has_foreign(letters)) return {"bytes of another client", many};
    if (failed.expected == exam.reply(blanks)) {
        const std::size_t at = whole.find(part);
        if (part.empty() || at == whole.npos || part.size() == whole.size()) return {};
        if (at == 0) return {"bytes at the end are removed"};
        return {at + part.size() == whole.size() ? "bytes at the start are removed"
                                                 : "bytes at both ends are removed"};
    }
    const Cause values = whole.find('\1') == whole.npos ? Cause{} : cause_of_values(exam);
    if (!values.text.empty()) return values;
    // Tests whether a message three times as long as the reply is cut at the same byte.
    const std::size_t count = failed.received.size();
    if (count == 0 || count > 1024 * 1024 || !failed.expected.starts_with(failed.received))
        return {};
    const std::string payload(3 * count, 'x');
    const std::string reply = answer(exam, payload);
    const bool is_cut = reply.size() == count && exam.reply(payload).starts_with(reply);
    return is_cut ? Cause{"a buffer of " + bytes_text(count), length} : Cause{};
}

// Returns the hint that an ordinary run gives, or an empty text.
std::string hint_of(const Failure& failed, const Examination& exam) {
    if (exam.framing.has_length())
        return length_hint(exam.framing, failed.received, exam.target.max_frame);
    if (failed.kind != FailureKind::differs) return {};
    const std::string_view whole = exam.payload_of(failed.expected);
    const std::string_view part = exam.payload_of(failed.received);
    return reply_hint(exam.framing, whole,
                      {.payload = part, .difference = first_difference(whole, part)});
}

// --- The examination.

// Returns a failure without a text if the server passed. Repeats the check up to five times
// while it may have failed only because this process was late.
Failure perform(const Check& check, Examination& exam) {
    Failure result;
    int repeats = 0;
    do {
        result = {};
        exam.connections = 0;
        exam.is_delayed = false;
        exam.traces.clear();
        try {
            check.perform(exam);
            const ev::Time end_at = exam.now() + 4s;  // fewer visits if they take long
            for (int made = 0; made < check.visits && exam.now() < end_at; ++made) {
                if (!check.fatal_cause.empty()) exam.sleep(100ms);
                Client(exam).echo("hello again");
            }
        } catch (const Failure& failed) {
            result = failed;
        }
    } while (result.kind == FailureKind::silent && exam.is_delayed && ++repeats <= 5);
    result.traces = exam.traces;
    return result;
}

// Tries several times, because the server may still be busy with the connections of a check.
bool still_answers(const Check& echo, Examination& exam) {
    for (int tries = 0; tries < 3; ++tries) {
        if (perform(echo, exam).text.empty()) return true;
        exam.sleep(100ms);
    }
    return false;
}

// Finds and stores the cause of a failure, or returns an earlier check with the same cause.
Cause explain(const Failure& failed, std::size_t number, unsigned needs, Examination& exam) {
    for (const Cause& each : exam.causes)
        if ((each.kind == failed.kind || each.missing == length) && (each.missing & needs) != 0)
            return {.number = each.number};
    Cause cause = failed.cause;
    try {
        if (cause.text.empty()) cause = cause_of(failed, exam);
    } catch (const Failure&) {
    }
    if (exam.is_delayed || exam.is_over()) cause = {};
    if (cause.text.empty()) cause.missing = needs & ~exam.abilities;
    exam.causes.push_back({{}, cause.missing, failed.kind, number});
    return cause;
}

std::string report(std::size_t number, const char* name, const Failure& failed, bool is_json) {
    const bool has_passed = failed.text.empty();
    const std::size_t earlier = failed.cause.number;
    const std::string& cause = failed.cause.text;
    if (is_json) {
        JsonObject object;
        object.text("type", "check").number("number", number).text("name", name);
        object.flag("ok", has_passed);
        if (!has_passed) object.text("came", failed.text);
        if (earlier != 0) object.number("see", earlier);
        if (!cause.empty()) object.text("cause", cause);
        std::vector<std::string> strings;
        for (const std::string& each : failed.traces) strings.push_back(json_string(each));
        if (!strings.empty()) object.array("trace", strings);
        return object.str() + '\n';
    }
    std::string lines;
    for (const std::string& each : failed.traces) lines += "# " + each + '\n';
    lines += (has_passed ? "ok " : "not ok ") + std::to_string(number) + " - " + name;
    lines += has_passed ? "" : ": ";
    for (const char each : ui::printable(failed.text))
        lines += (each == '#' ? "\\" : "") + std::string(1, each);
    if (earlier != 0) lines += " (see " + std::to_string(earlier) + ")";
    if (!cause.empty()) lines += " (" + cause + ")";
    return lines + '\n';
}

}  // namespace

Trouble examine(ev::Loop& loop, const ExamineOptions& options) {
    const std::vector<Check> checks = checks_of(options.target);
    Examination exam{loop, options.target, options.verbose ? 20'000U : 0U};
    std::string plan = options.json ? "" : "1.." + std::to_string(checks.size()) + '\n';
    int status = success;
    std::string reason;  // why the examination ends early
    try {
        for (std::size_t number = 1; number <= checks.size() && reason.empty(); ++number) {
            const Check& check = checks[number - 1];
            options.check_begins(number, checks.size());
            Failure failed = perform(check, exam);
            if (failed.text.empty()) {
                exam.abilities |= check.needs;
            } else if (number == 1 && failed.status != success) {
                return {failed.status, failed.text};
            } else if (exam.is_over()) {
                if (status == success) status = timed_out;
                reason = "the time limit has passed (-m)";
                break;
            } else if (number == 1) {
                const std::string hint = hint_of(failed, exam);
                reason = "examinations are for echo servers, and the first message was not "
                         "echoed; " +
                         (hint.empty() ? "see -f, -W and yodel-examine(7)" : hint);
            } else if (!still_answers(checks[0], exam) && !exam.is_over()) {
                failed.cause = {std::string(check.fatal_cause)};
                reason = "the server has not answered since check " + std::to_string(number);
            } else {
                failed.cause = explain(failed, number, check.needs, exam);
            }
            if (!failed.text.empty()) status = reply_bad_or_lost;
            options.print(std::exchange(plan, {}) +
                          report(number, check.name, failed, options.json));
        }
    } catch (const Stopped&) {
        return {cannot_run};
    }
    const std::string end = JsonObject().text("type", "end").text("reason", reason).str();
    if (!reason.empty()) options.print((options.json ? end : "Bail out! " + reason) + '\n');
    return {status};
}

}  // namespace yodel
