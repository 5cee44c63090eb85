// A new check is a row of the table and a function.

#include "app/examine/examination.hpp"

#include "app/websocket/frame.hpp"
#include "app/websocket/opening.hpp"

#include <algorithm>

namespace yodel {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view text = "in some pieces";

std::vector<std::string> numbered(std::size_t count) {
    std::vector<std::string> messages;
    for (std::size_t i = 1; i <= count; ++i) messages.push_back("message " + std::to_string(i));
    return messages;
}

void one_message(Examination& all) { all.connect().echo("hello, yodel"); }

void empty_message(Examination& all) { all.connect().echo(""); }

void largest_datagram(Examination& all) { all.connect().echo(std::string(65507, 'x')); }

// Without the bytes that delimit messages.
void every_value(Examination& all) {
    const Framing& framing = *all.options().framing;
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    std::erase_if(bytes, [&](char byte) {
        return std::string_view(&byte, 1) == framing.delimiter ||
               framing.head.find(byte) != framing.head.npos;
    });
    all.connect().echo(bytes);
}

void two_pieces(Examination& all) {
    Connection& client = all.connect();
    const std::string frame = all.frame(text);
    client.send(frame.substr(0, frame.size() / 2));
    all.sleep(100ms);
    client.send(frame.substr(frame.size() / 2));
    client.expect(all.reply(text));
}

void byte_by_byte(Examination& all) {
    Connection& client = all.connect();
    for (const char byte : all.frame(text)) {
        client.send({&byte, 1});
        all.sleep(1ms);
    }
    client.expect(all.reply(text));
}

void length_in_pieces(Examination& all) {
    Connection& client = all.connect();
    const std::string frame = all.frame(text);
    for (std::size_t cut = 1; cut <= all.options().framing->overhead(); ++cut) {
        client.send(frame.substr(0, cut));
        all.sleep(20ms);
        client.send(frame.substr(cut));
        client.expect(frame);
    }
}

void thousand_messages(Examination& all) {
    Connection& client = all.connect();
    const auto messages = numbered(1000);
    client.send_all(messages);
    client.expect_all(messages);
}

void short_after_long(Examination& all) {
    Connection& client = all.connect();
    for (const std::size_t size : {3000U, 5U, 1000U}) client.echo(std::string(size, 'l'));
}

void slow_reader(Examination& all) {
    Connection& client = all.connect();
    const auto messages = client.flood();
    for (int i = 0; i < 10; ++i) {
        const std::size_t before = client.received().size();
        client.pause(false);
        all.wait([&] { return client.received().size() > before; });
        client.pause(true);
        all.sleep(5ms);
    }
    client.pause(false);
    client.expect_all(messages);
}

void second_client(Examination& all) {
    Connection& first = all.connect();
    Connection* second = nullptr;
    first.echo("first");
    try {
        second = &all.connect();
        second->echo("second");
    } catch (Failed& failed) {
        first.leave();
        if (second && all.wait([&] { return !second->received().empty(); }))
            failed.text += ", until the first had closed";
        throw failed;
    }
}

void twenty_clients(Examination& all) {
    std::vector<Connection*> clients;
    const auto messages = numbered(20);
    for (const std::string& each : messages) {
        clients.push_back(&all.connect());
        clients.back()->echo(each);
    }
    const std::size_t half = all.is_stream() ? 5 : std::string::npos;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < 20; ++i)
            clients[i]->send(all.frame(messages[i]).substr(0, half));
        all.sleep(100ms);
        for (std::size_t i = 0; i < 20 && all.is_stream(); ++i)
            clients[i]->send(all.frame(messages[i]).substr(half));
        for (std::size_t i = 0; i < 20; ++i) clients[i]->expect(all.reply(messages[i]));
    }
}

void half_close(Examination& all) {
    Connection& client = all.connect();
    const auto messages = numbered(1000);
    client.send_all(messages);
    client.half_close();
    client.expect_all(messages);
    client.expect_end();
}

void close(Examination& all) {
    Connection& client = all.connect();
    client.echo("goodbye");
    client.half_close();
    client.expect_end();
}

void leaving_inside_message(Examination& all) {
    Connection& client = all.connect();
    client.send(all.frame(text).substr(0, 5));
    client.leave();
    all.connect().echo("hello again");
}

void never_reading(Examination& all) {
    all.connect().flood();
    all.connect().echo("hello again");
}

void reset(Examination& all) {
    Connection& client = all.connect();
    client.flood();
    client.leave();
    for (int i = 0; i < 3; ++i) {
        all.sleep(20ms);
        Connection& next = all.connect();
        next.echo("hello again");
        next.leave();
    }
}

void two_hundred(Examination& all) {
    for (int i = 0; i < 200; ++i) {
        Connection& client = all.connect();
        client.echo("hello again");
        client.leave();
    }
}

using websocket::Opcode;

std::string frame(Opcode opcode, bool last, bool masked, std::string_view payload) {
    constexpr websocket::Key key = 0;
    char head[websocket::max_frame_head];
    const std::size_t size =
        websocket::write_head(head, opcode, payload.size(), masked ? &key : nullptr);
    if (!last) head[0] = static_cast<char>(head[0] & 0x7f);
    return std::string(head, size) + std::string(payload);
}

// Opens a WebSocket by hand, because a transport sends no fragments.
void fragments(Examination& all) {
    Connection& client = all.connect_raw();
    client.send(websocket::request_text(*all.options().websocket, "AAAAAAAAAAAAAAAAAAAAAA=="));
    all.wait([&] { return websocket::opening_size(client.received()).has_value(); });
    client.received().erase(0, websocket::opening_size(client.received()).value_or(0));
    client.send(frame(Opcode::text, false, true, "in ") +
                frame(Opcode::ping, true, true, "between") +
                frame(Opcode::continuation, true, true, "pieces"));
    client.expect(frame(Opcode::pong, true, false, "between") +
                  frame(Opcode::text, true, false, "in pieces"));
}

enum Kind : unsigned { tcp = 1, tls = 2, udp = 4, ws = 8, lengths = 16, frames = 32 };

unsigned kind_of(const Session::Options& target) {
    if (target.endpoint.udp) return udp | frames;
    if (target.websocket) return ws | frames;
    const Framing& framing = *target.framing;
    return (target.tls ? tls : tcp) | (framing.has_length() ? lengths : 0U) |
           (framing.replies_framed() ? frames : 0U);
}

constexpr Check checks[] = {
    {tcp | tls | udp | ws, "echoes a message", "", one_message},
    {tcp | tls | udp | ws, "echoes every byte value", "strlen() ends at a NUL", every_value},
    {frames, "echoes an empty message", "0 bytes taken for the end", empty_message},
    {udp, "echoes a datagram of 65507 bytes", "a small buffer", largest_datagram},
    {tcp | tls, "echoes a message in two pieces", "one read is not one message", two_pieces},
    {tcp | tls, "echoes a message byte by byte", "one read is not one message", byte_by_byte},
    {lengths, "accepts a length in pieces", "one read is not one message", length_in_pieces},
    {ws, "accepts a ping between fragments", "control frames may be anywhere", fragments},
    {tcp | tls | ws, "echoes a thousand messages at once", "one read, several messages",
     thousand_messages},
    {tcp | tls | ws, "echoes a short message after a long one", "stale bytes in the buffer",
     short_after_long},
    {tcp | tls | ws, "echoes everything to a slow reader", "write() can be short", slow_reader},
    {tcp | tls | udp | ws, "serves a second client while the first is idle",
     "one client after the other", second_client},
    {tcp | tls | udp | ws, "serves twenty clients at once", "one buffer for all clients",
     twenty_clients},
    {tcp, "answers everything after a half-close, and closes", "read() returns 0 at the end",
     half_close},
    {tls, "answers close_notify", "no SSL_shutdown() before close()", close},
    {ws, "answers a close frame", "no close frame before close()", close},
    {tcp | tls | ws, "survives a client that leaves inside a message",
     "the end can come anywhere", leaving_inside_message},
    {tcp | tls | ws, "serves a client while another never reads", "a blocking write()",
     never_reading},
    {tcp | tls | ws, "survives a reset by a client", "SIGPIPE", reset},
    {tcp | tls | ws, "serves two hundred clients in turn", "descriptors left open",
     two_hundred},
    {tcp | tls | udp | ws, "still echoes a message", "", one_message},
};

}  // namespace

std::vector<Check> checks_of(const Session::Options& target) {
    std::vector<Check> chosen;
    std::copy_if(std::begin(checks), std::end(checks), std::back_inserter(chosen),
                 [&](const Check& each) { return (each.kinds & kind_of(target)) != 0; });
    return chosen;
}

}  // namespace yodel
