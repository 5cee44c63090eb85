// A new check is a row of the table and a function. Evidence for the causes of its failure is
// in cause_of().

#include "app/examine/examine.hpp"

#include "app/examine/examination.hpp"
#include "app/protocol/event.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"
#include "app/websocket/opening.hpp"
#include "ui/text.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view text = "in some pieces";
constexpr std::string_view second_text = "another message";
constexpr std::string_view blanks = "\r\t blanks \t\r";
// No other message contains a letter of these.
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRST";
constexpr std::string_view long_letter = "Z";

Connection& queue_thousand(Examination& all) {
    Connection& client = all.connect();
    for (int i = 1; i <= 1000; ++i) client.queue("message " + std::to_string(i));
    return client;
}

// Connects, and leaves after an echo.
void visit(Examination& all) { all.connect().echo("hello again").leave(); }

// Sends messages in two pieces, which are cut at these bytes.
void send_cut(Examination& all, std::size_t first, std::size_t last) {
    Connection& client = all.connect();
    for (std::size_t cut = first; cut <= last; ++cut) {
        client.send(all.frame(text).substr(0, cut));
        all.sleep(100ms);
        client.send(all.frame(text).substr(cut)).expect(all.reply(text));
    }
}

// Echoes a message on another connection. If the reply waits until the first connection has
// closed, that proves the cause.
void echo_beside(Examination& all, Connection& first, const char* cause) {
    Connection* second = nullptr;
    try {
        second = &all.connect();
        second->echo("second");
    } catch (Failed& failed) {
        first.leave();
        if (second && all.wait([&] { return !second->received().empty(); })) {
            failed.text += ", until the first had closed";
            failed.cause = {cause, many};
        }
        throw;
    }
}

void one_message(Examination& all) { all.connect().echo("hello, yodel"); }

void second(Examination& all) { all.connect().echo("a first message").echo(second_text); }

// Without the bytes that delimit messages.
void every_value(Examination& all) {
    const Framing& framing = *all.options().framing;
    std::string payload;
    for (int i = 0; i < 256; ++i) {
        const std::string byte(1, static_cast<char>(i));
        if (byte != framing.delimiter && byte != framing.head) payload += byte;
    }
    all.connect().echo(payload);
}

void empty_message(Examination& all) { all.connect().echo(""); }
void blanks_at_ends(Examination& all) { all.connect().echo(blanks); }
void largest_datagram(Examination& all) { all.connect().echo(std::string(65507, 'x')); }
void long_message(Examination& all) { all.connect().echo(std::string(70'000, 'x')); }

void short_after_long(Examination& all) {
    const std::string long_payload(3000, long_letter.front());
    all.connect().echo(long_payload).echo("short").echo(std::string(1000, 'm'));
}

void two_pieces(Examination& all) { send_cut(all, 8, 8); }
void length_in_pieces(Examination& all) { send_cut(all, 1, all.options().framing->overhead()); }

void byte_by_byte(Examination& all) {
    Connection& client = all.connect();
    for (const char each : all.frame(text)) {
        client.send({&each, 1});
        all.sleep(1ms);
    }
    client.expect(all.reply(text));
}

// Opens a WebSocket by hand, because a transport sends no fragments. The server may echo them
// as fragments, send the pong after the message, and pings of its own.
void fragments(Examination& all) {
    Connection& client = all.connect(true);
    client.send(websocket::request_text(*all.options().websocket, "AAAAAAAAAAAAAAAAAAAAAA=="));
    const auto opening = [&] { return websocket::opening_size(client.received()); };
    all.wait([&] { return opening() || client.ended(); });
    using namespace std::string_literals;
    client.send("\x01\x83\0\0\0\0in "s + "\x89\x87\0\0\0\0between"s +
                "\x80\x86\0\0\0\0pieces"s);
    std::string message;
    bool ponged = false;
    all.wait([&] {
        message = client.received().substr(opening().value_or(0));
        // The heads of frames so short contain only control characters and bytes above 7f.
        std::erase_if(message, [](char each) { return each < ' ' || each > '~'; });
        const std::size_t pong = message.find("between");
        ponged = pong != message.npos;
        if (ponged) message.erase(pong, 7);
        return (ponged && message.ends_with("in pieces")) || client.ended();
    });
    if (!message.ends_with("in pieces")) throw client.failure("in pieces", message);
    if (!ponged) throw Failed{"the message came without the pong"};
}

void thousand_messages(Examination& all) { queue_thousand(all).expect(); }

void slow_reader(Examination& all) {
    Connection& client = all.connect().flood(5ms);
    for (int i = 0; i < 20; ++i) {
        client.pause(i % 2 == 1);
        all.sleep(3ms);
    }
    client.pause(false);
    client.expect();
}

void second_client(Examination& all) {
    echo_beside(all, all.connect().echo("first"), "it serves one client after the other");
}

void twenty_clients(Examination& all) {
    std::vector<Connection*> clients;
    for (const char letter : letters)
        clients.push_back(&all.connect().echo(std::string(9, letter)));
    const auto frame = [&](std::size_t i) { return all.frame(std::string(9, letters[i])); };
    const std::size_t half = all.is_stream() ? 5 : std::string::npos;
    for (std::size_t i = 0; i < letters.size(); ++i) clients[i]->send(frame(i).substr(0, half));
    all.sleep(100ms);
    for (std::size_t i = 0; i < letters.size() && all.is_stream(); ++i)
        clients[i]->send(frame(i).substr(half));
    for (std::size_t i = 0; i < letters.size(); ++i)
        clients[i]->expect(all.reply(std::string(9, letters[i])));
}

void half_close(Examination& all) { queue_thousand(all).finish(); }
void close(Examination& all) { all.connect().echo("goodbye").finish(); }

void leaving_inside_message(Examination& all) {
    all.connect().send(all.frame(text).substr(0, 5)).leave();
    visit(all);
}

// Leaves with unread bytes, which resets the connection.
void leave_flooded(Examination& all, Connection& client) {
    client.leave();
    for (int i = 0; i < 3; ++i) {
        all.sleep(100ms);
        visit(all);
    }
}

void reset(Examination& all) { leave_flooded(all, all.connect().flood()); }

void never_reading(Examination& all) {
    Connection& first = all.connect().flood(1ms, 1s);
    echo_beside(all, first, "it waits for a client that does not read");
    leave_flooded(all, first);
}

// Fewer if the server needs much time for each.
void two_hundred(Examination& all) {
    const ev::Time end = all.now() + 4s;
    for (int i = 0; i < 200 && all.now() < end; ++i) visit(all);
}

// Kinds of targets, and features of their framings.
enum Kind : unsigned { tcp = 1, tls = 2, udp = 4, ws = 8, sized = 16, frames = 32, longs = 64 };

unsigned kind_of(const Session::Options& target) {
    if (target.endpoint.udp) return udp | frames;
    if (target.websocket) return ws | frames | longs;
    const Framing& framing = *target.framing;
    return (target.tls ? tls : tcp) | (framing.has_length() ? sized : 0U) |
           (framing.replies_framed() ? frames : 0U) |
           (framing.max_payload() > 70'000 ? longs : 0U);
}

constexpr unsigned bytes = tcp | tls;
constexpr unsigned streams = bytes | ws;
constexpr unsigned all_kinds = streams | udp;
constexpr char reset_ended[] = "a reset ended the server, by SIGPIPE or an unhandled error";

struct Check {
    unsigned kinds;    // of targets
    unsigned needs;    // abilities
    const char* name;  // what the server does: "echoes an empty message"
    void (*perform)(Examination& examination);  // throws Failed and Stopped
    const char* fatal = "";                     // cause if the server is gone afterwards
};

constexpr Check checks[] = {
    {all_kinds, 0, "echoes a message", one_message},
    {streams, again, "echoes a second message on the connection", second},
    {all_kinds, 0, "echoes every byte value", every_value},
    {frames, 0, "echoes an empty message", empty_message},
    {all_kinds, cr, "keeps blanks, tabs and CR at both ends", blanks_at_ends},
    {udp, size, "echoes a datagram of 65507 bytes", largest_datagram},
    {streams, again | size, "echoes a short message after a long one", short_after_long},
    {bytes, again | pieces, "echoes a message in two pieces", two_pieces},
    {bytes, again | pieces, "echoes a message byte by byte", byte_by_byte},
    {sized, again | pieces, "accepts a length in pieces", length_in_pieces},
    {ws, pieces, "accepts a ping between fragments", fragments},
    {streams, again | size | pieces, "echoes a thousand messages together", thousand_messages},
    {longs, size | pieces, "echoes a message of 70000 bytes", long_message},
    {streams, again | size | pieces, "echoes everything to a slow reader", slow_reader},
    {all_kinds, many, "serves a second client while the first is idle", second_client},
    {all_kinds, again | pieces | many, "serves twenty clients together", twenty_clients},
    {tcp, again | size | pieces, "answers everything after a half-close, and closes",
     half_close},
    {tls, again, "answers close_notify", close},
    {ws, again, "answers a close frame", close},
    {streams, 0, "survives a client that leaves inside a message", leaving_inside_message},
    {streams, 0, "survives a reset by a client", reset, reset_ended},
    {streams, size | many, "serves a client while another never reads", never_reading,
     reset_ended},
    {streams, 0, "serves two hundred clients in turn", two_hundred},
    {all_kinds, 0, "still echoes a message", one_message},
};

// --- Causes.

// Returns what arrives for a message on a new connection.
std::string answer(Examination& all, std::string_view payload) {
    all.close_all();
    Connection& client = all.connect();
    client.send(all.frame(payload));
    const std::size_t size = all.reply(payload).size();
    all.wait([&] { return client.received().size() >= size || client.ended(); });
    return std::string(client.received());
}

Cause cause_of_values(Examination& all) {
    for (const char byte : std::string_view("\0\n\r", 3)) {
        const std::string payload{'a', byte, 'b'};
        if (payload.substr(1, 1) == all.options().framing->delimiter) continue;
        const std::string reply = answer(all, payload);
        const std::string_view part = all.payload_of(reply);
        if (reply == all.reply(payload)) continue;
        const std::string name = byte_text(payload, 1);
        const unsigned lacks = byte == '\r' ? cr : 0U;
        if (part == "ab") return {name + " is removed", lacks};
        if (part == "a" || part.starts_with("a\r") || part.starts_with("a\n"))
            return {name + (byte == 0 ? " ends its texts" : " ends its messages"), lacks};
    }
    const auto echoes = [&](const char* payload) {
        return answer(all, payload) == all.reply(payload);
    };
    return {echoes("a\xc3\xa9z") && !echoes("a\x80z") ? "decoded as UTF-8" : ""};
}

// Looks for evidence in the reply, or sends more messages. Throws like a check.
Cause cause_of(const Failed& failed, Examination& all) {
    const std::string_view whole = all.payload_of(failed.expected);
    const std::string_view part = all.payload_of(failed.received);
    const auto has_foreign = [&](std::string_view payload) {
        const std::string reply = all.reply(payload);
        const std::string_view foreign = all.payload_of(reply);
        return std::any_of(foreign.begin(), foreign.end(), [&](char each) {
            return part.find(each) != part.npos && whole.find(each) == whole.npos;
        });
    };
    const bool closed = failed.how == Failed::How::closed && part.empty();
    if (closed && failed.expected == all.reply(second_text))
        return {"it closes after one message", again};
    if (has_foreign(long_letter)) return {"bytes of the long message", again | pieces};
    if (has_foreign(letters)) return {"bytes of another client", many};
    if (failed.expected == all.reply(blanks)) {
        const std::size_t at = whole.find(part);
        if (part.empty() || at == whole.npos || part.size() == whole.size()) return {};
        if (at == 0) return {"removed at the end"};
        return {at + part.size() == whole.size() ? "removed at the start"
                                                 : "removed at both ends"};
    }
    const Cause values = whole.find('\1') == whole.npos ? Cause{} : cause_of_values(all);
    if (!values.text.empty()) return values;
    // Is a message of three times the size cut at the same byte?
    const std::size_t count = failed.received.size();
    if (count < 2 || count > 1024 * 1024 || !failed.expected.starts_with(failed.received))
        return {};
    const std::string payload(3 * count, 'x');
    const std::string reply = answer(all, payload);
    const bool is_cut = reply.size() == count && all.reply(payload).starts_with(reply);
    return is_cut ? Cause{"a buffer of " + bytes_text(count), size} : Cause{};
}

// --- The examination.

// Returns no text if the server passed. Repeats the check while it may have failed only because
// this process was late.
Failed perform(const Check& check, Examination& examination) {
    for (int repetitions = 0;; ++repetitions) {
        examination.begin_check();
        try {
            check.perform(examination);
            return {};
        } catch (const Failed& failed) {
            if (failed.how != Failed::How::silent || !examination.was_late() ||
                repetitions == 5)
                return failed;
        }
    }
}

// Tries several times, because the server may still be busy with the connections of a check.
bool still_answers(Examination& examination) {
    for (int tries = 0; tries < 3; ++tries) {
        if (tries > 0) examination.sleep(100ms);
        if (perform(checks[0], examination).text.empty()) return true;
    }
    return false;
}

// Finds the cause of a failure, or the earlier failure with the same cause (`roots`). `able`:
// the abilities that other checks have proven. Returns the reason to end the examination; empty
// if there is none.
std::string judge(Failed& failed, const Check& check, std::vector<Failed>& roots, unsigned able,
                  Examination& examination) {
    if (failed.number == 1)
        return "examinations are for echo servers; this is none, or its messages have another "
               "framing (-f)";
    if (!still_answers(examination) && !examination.over()) {
        failed.cause = {check.fatal};
        return "the server is gone since check " + std::to_string(failed.number);
    }
    for (const Failed& each : roots) {
        const bool same = each.how == failed.how || each.cause.lacks == size;
        if (!same || (each.cause.lacks & check.needs) == 0) continue;
        failed.see = each.number;
        failed.cause = {};
        return {};
    }
    try {
        if (failed.cause.text.empty()) failed.cause = cause_of(failed, examination);
    } catch (const Failed&) {
    }
    if (examination.was_late() || examination.over()) failed.cause = {};
    if (failed.cause.text.empty()) failed.cause.lacks = check.needs & ~able;
    roots.push_back(failed);
    return {};
}

std::string json_line(const Check& check, const Failed& failed,
                      const std::vector<std::string>& trace) {
    JsonObject object;
    object.text("type", "check").number("number", failed.number).text("name", check.name);
    object.flag("ok", failed.text.empty());
    if (!failed.text.empty()) object.text("came", failed.text);
    if (failed.see != 0) object.number("see", failed.see);
    if (!failed.cause.text.empty()) object.text("cause", failed.cause.text);
    JsonArray array;
    for (const std::string& each : trace) array.text(each);
    if (!trace.empty()) object.array("trace", array);
    return object.str() + '\n';
}

std::string tap_lines(const Check& check, const Failed& failed,
                      const std::vector<std::string>& trace) {
    std::string lines;
    for (const std::string& each : trace) lines += "# " + each + '\n';
    const bool passed = failed.text.empty();
    lines += (passed ? "ok " : "not ok ") + std::to_string(failed.number) + " - " + check.name;
    lines += passed ? "" : ": ";
    for (const char each : ui::printable(failed.text))
        lines += (each == '#' ? "\\" : "") + std::string(1, each);
    const std::size_t see = failed.see;
    const std::string why = see != 0 ? "see " + std::to_string(see) : failed.cause.text;
    return lines + (why.empty() ? "" : " (" + why + ")") + '\n';
}

}  // namespace

Trouble examine(ev::Loop& loop, const ExamineOptions& options) {
    std::vector<Check> chosen;
    for (const Check& each : checks)
        if ((each.kinds & kind_of(options.target)) != 0) chosen.push_back(each);
    Examination examination(loop, options.target, options.verbose);
    const auto report = options.json ? json_line : tap_lines;
    std::string plan = options.json ? "" : "1.." + std::to_string(chosen.size()) + '\n';
    std::vector<Failed> roots;
    unsigned able = 0;
    int status = success;
    std::string reason;  // why the examination ends early
    try {
        for (std::size_t number = 1; number <= chosen.size() && reason.empty(); ++number) {
            const Check& check = chosen[number - 1];
            options.check_begins(number, chosen.size());
            Failed failed = perform(check, examination);
            failed.number = number;
            const bool passed = failed.text.empty();
            if (failed.end && number == 1) return {exit_status(failed.end), failed.text};
            if (!passed && examination.over()) {
                if (status == success) status = timed_out;
                reason = "the time is over (-m)";
                break;
            }
            const std::vector<std::string> trace = examination.trace();
            if (passed) able |= check.needs;
            if (!passed) status = reply_bad_or_lost;
            if (!passed) reason = judge(failed, check, roots, able, examination);
            options.print(std::exchange(plan, {}) + report(check, failed, trace));
        }
    } catch (const Stopped&) {
        return {cannot_run, {}};
    }
    if (reason.empty()) return {status, {}};
    const std::string end = JsonObject().text("type", "end").text("reason", reason).str();
    options.print((options.json ? end : "Bail out! " + reason) + '\n');
    return {status, {}};
}

}  // namespace yodel
