// Tests the transport call by call, with a peer that sends and takes single bytes.
#include "app/websocket/transport.hpp"

#include "tests/app/websocket/frames.hpp"
#include "tests/app/websocket/upgrade.hpp"
#include "tests/support/table.hpp"

using namespace test;
using namespace yodel::websocket;
using bufio::End;
using bufio::IoResult;
using bufio::IoStatus;
using bufio::Reason;

namespace {

constexpr std::size_t limit = 1000;  // bytes of a message

// The peer below the transport under test.
struct Peer {
    std::string to_read;                     // not yet read
    std::size_t max_read = SIZE_MAX;         // bytes of one read
    IoStatus at_end = IoStatus::wants_read;  // status after the last byte
    bool ends_with_last_byte = false;        // at_end is returned with the last byte
    Reason failure = Reason::receive;        // if at_end is `failed`
    std::string written;
    std::size_t space = SIZE_MAX;  // bytes that the next writes may take; a write waits if 0
    bool writes_fail = false;
    bool closing_fails = false;  // in close_output()
    bool closed = false;         // by close_output()
    bool buffers_input = false;
};

// Checks that its caller follows the rules of bufio/transport.hpp.
class PeerTransport final : public bufio::Transport {
public:
    explicit PeerTransport(Peer& peer) : peer_(peer) {}
    int descriptor() const override { return -1; }
    bool buffers_input() const override { return peer_.buffers_input; }

    IoResult handshake() override {
        ready_ = true;
        return {IoStatus::done};
    }
    IoResult read(char* to, std::size_t size) override {
        REQUIRE((ready_ && !over_ && size > 0));
        const std::size_t count = peer_.to_read.copy(to, std::min(size, peer_.max_read));
        peer_.to_read.erase(0, count);
        const bool last = peer_.to_read.empty() && (count == 0 || peer_.ends_with_last_byte);
        const IoStatus status = last ? peer_.at_end : IoStatus::done;
        over_ = status == IoStatus::end_of_input || status == IoStatus::failed;
        if (status == IoStatus::failed) fail({.reason = peer_.failure, .what = "broken below"});
        return {status, count};
    }
    IoResult write(const char* from, std::size_t size) override {
        REQUIRE((ready_ && !closed_ && size > 0));
        REQUIRE(std::string_view(from, size).starts_with(refused_));
        refused_.clear();
        if (peer_.writes_fail) return close(fail({.reason = Reason::send, .what = "no way"}));
        const std::size_t count = std::min(size, peer_.space);
        if (count == 0) {
            refused_.assign(from, size);
            return {IoStatus::wants_write};
        }
        if (peer_.space != SIZE_MAX) peer_.space -= count;
        peer_.written.append(from, count);
        return {IoStatus::done, count};
    }
    IoResult close_output() override {
        REQUIRE((ready_ && !closed_));
        peer_.closed = true;
        if (peer_.closing_fails) return close(fail({.reason = Reason::send, .what = "gone"}));
        return close({IoStatus::done});
    }

private:
    IoResult close(IoResult result) {
        closed_ = true;
        return result;
    }

    Peer& peer_;
    std::string refused_;  // the next write must begin with these bytes
    bool ready_ = false;
    bool over_ = false;
    bool closed_ = false;
};

const std::string valid_request =
    "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

// A transport under test and its peer.
struct Scene {
    explicit Scene(bool as_client) : client(as_client) {
        auto below = std::make_unique<PeerTransport>(peer);
        transport = client ? connect(std::move(below), {.host = "h"}, limit, facts)
                           : accept(std::move(below), limit);
    }

    // Returns the peer's part of the handshake, which follows the client's part.
    std::string greeting() {
        if (client) REQUIRE(transport->handshake().status == IoStatus::wants_read);
        return client ? response_to(peer.written) : valid_request;
    }
    IoStatus handshake() {
        const IoStatus status = transport->handshake().status;
        if (status == IoStatus::done) peer.written.clear();
        return status;
    }
    void open() {
        peer.to_read = greeting();
        REQUIRE(handshake() == IoStatus::done);
    }

    void send(const std::vector<Frame>& frames) { peer.to_read += encoded(frames, !client); }

    // Reads until nothing is left to read; returns the messages.
    std::string read(std::size_t size = 65536) {
        std::string all;
        std::string bytes(size, '\0');
        do {
            last = transport->read(bytes.data(), bytes.size());
            all.append(bytes, 0, last.count);
        } while (last.status == IoStatus::done &&
                 (transport->buffers_input() || !peer.to_read.empty()));
        return all;
    }

    // Writes messages until the peer accepts no more, and returns how many bytes were written.
    std::size_t write(std::string_view messages) {
        const std::size_t before = messages.size();
        while (!messages.empty() || transport->buffers_output()) {
            last = transport->write(messages.data(), messages.size());
            if (last.status != IoStatus::done) break;
            messages.remove_prefix(last.count);
        }
        return before - messages.size();
    }

    // Returns what the peer has received since the last call, such as "text hello, close 1000".
    std::string got() {
        std::string text;
        for (const Frame& frame : decoded(peer.written)) add_to(text, described(frame));
        add_to(text, peer.written.empty() ? "" : "a part");
        add_to(text, std::exchange(peer.closed, false) ? "end" : "");
        return text;
    }

    std::string failure() const {
        static const std::map<Reason, std::string> reasons = {
            {Reason::none, "none"},
            {Reason::refused, "connect: "},
            {Reason::send, "send: "},
            {Reason::receive, "receive: "},
            {Reason::limit, "limit: "},
            {Reason::truncated, "truncated: "},
            {Reason::own_certificate, "own certificate: "}};
        const End& end = transport->failure();
        return reasons.at(end.reason) + end.text();
    }

    bool client;
    Peer peer;
    Facts facts;
    std::unique_ptr<bufio::Transport> transport;
    IoResult last{IoStatus::done};
};

std::string text_of(IoStatus status) {
    if (status == IoStatus::end_of_input) return "end";
    if (status == IoStatus::rejected) return "rejected";
    if (status == IoStatus::wants_write) return "waits";
    return status == IoStatus::failed ? "failed" : "";
}

std::string text_of(std::string messages, IoStatus status) {
    std::string text;
    for (const Frame& each : messages_in(messages)) add_to(text, described(each));
    add_to(text, messages.empty() ? "" : "a part");
    add_to(text, text_of(status));
    return text;
}

// Makes one step of a script, and returns its outcome. `rest` contains the bytes of messages
// still to be written.
std::string make_step(Scene& scene, std::string& rest, const std::string& verb,
                      const std::string& what) {
    if (verb == "read") {
        std::string messages = scene.read(what.empty() ? 65536 : std::stoul(what));
        return text_of(std::move(messages), scene.last.status);
    }
    if (verb == "open") return text_of(scene.handshake());
    if (verb == "close") return text_of(scene.transport->close_output().status);
    if (verb == "got") return scene.got();
    if (verb == "failure") return scene.failure();
    if (verb == "ping") scene.transport->ping();
    if (verb == "answered") return std::to_string(scene.transport->answered_ping());
    if (verb == "holds" && scene.transport->buffers_input()) return "input";
    if (verb == "holds") return scene.transport->buffers_output() ? "output" : "";
    if (verb == "part") {  // writes a part of a message
        rest = message("hello");
        rest.erase(0, scene.write(rest.substr(0, std::stoul(what))));
    } else if (verb == "write") {
        for (const Frame& each : frames_of(what))
            rest += message(each.payload, each.first == 0x81);
        rest.erase(0, scene.write(rest));
        return text_of(scene.last.status);
    } else if (verb == "send") {
        scene.send(frames_of(what));
    } else if (verb == "space") {  // bytes that the peer accepts; any number if empty
        scene.peer.space = what.empty() ? SIZE_MAX : std::stoul(what);
    } else if (verb == "cut") {  // bytes at the end that never arrive
        scene.peer.to_read.resize(scene.peer.to_read.size() - std::stoul(what));
    } else if (verb == "most") {  // bytes of one read
        scene.peer.max_read = std::stoul(what);
    } else if (verb == "half") {  // of the peer's part of the handshake
        scene.peer.to_read = scene.client ? "HTTP/1.1 101 S" : "GET / HT";
    } else if (verb == "greet") {  // the peer's whole part
        scene.peer.to_read = scene.greeting();
    } else {  // sets what the connection below does
        scene.peer.buffers_input = what == "has input";
        scene.peer.writes_fail = what == "cannot write";
        scene.peer.closing_fails = what == "cannot close";
        scene.peer.ends_with_last_byte = what.ends_with("with the last byte");
        if (what.starts_with("ends")) scene.peer.at_end = IoStatus::end_of_input;
        if (what.starts_with("fails")) scene.peer.at_end = IoStatus::failed;
        if (what.find("by TLS") != what.npos) scene.peer.failure = Reason::own_certificate;
    }
    return {};
}

// Plays a script of a client and of a server, on an open connection unless the script opens it.
void play(const std::string& script) {
    for (const bool client : {true, false}) {
        CAPTURE(client);
        Scene scene(client);
        if (script.find("open") == script.npos) scene.open();
        std::string rest;
        const std::string verbs =
            "most half greet open read close got failure holds ping answered part "
            "write send cut space below";
        play_script(script, verbs, [&](const std::string& verb, const std::string& what) {
            return make_step(scene, rest, verb, what);
        });
    }
}

}  // namespace

TEST_CASE("opens a connection, however the bytes arrive") {
    for (const int most : {1, 2, 7, 100, 5000})
        play("most " + std::to_string(most) +
             "; greet; send text early | ping p; open =>; read => text early; holds => output; "
             "below has input; holds => input; write text x =>; got => pong p, text x; "
             "failure => none");
}

TEST_CASE("waits for each byte of the peer's part of the handshake, and for space for ours") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        Peer& peer = scene.peer;
        std::string theirs = valid_request;
        std::size_t sent = 0;
        std::size_t received = 0;
        peer.space = 0;
        for (IoStatus status = IoStatus::wants_read; status != IoStatus::done;) {
            status = scene.transport->handshake().status;
            CHECK(peer.written.size() == sent);
            peer.space = status == IoStatus::wants_write ? 1 : 0;
            sent += peer.space;
            if (status != IoStatus::wants_read) continue;
            CHECK_FALSE(scene.transport->buffers_output());
            if (client && received == 0) theirs = response_to(peer.written);
            peer.to_read = theirs.substr(received++, 1);
        }
        CHECK(received == theirs.size());
        CHECK(opening_size(peer.written) == sent);
        CHECK_FALSE(scene.transport->buffers_input());
        if (client) CHECK(scene.facts.request == peer.written);
    }
}

TEST_CASE("a client uses a new key for each handshake and frame, a server masks no frames") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        Scene other(client);
        scene.open();
        other.open();
        CHECK((scene.facts.request != other.facts.request) == client);
        if (client) CHECK(scene.facts.response == response_to(scene.facts.request));
        CHECK_FALSE(scene.facts.closure);
        other.send(frames_of("close 1008 so"));
        other.read();
        CHECK(other.facts.closure.value_or(Closure()).reason == (client ? "so" : ""));
        scene.write(message("same") + message("same"));
        const std::string wire = scene.peer.written;
        REQUIRE(wire.size() == (client ? 2 * 10 : 2 * 6));
        CHECK((wire.substr(0, wire.size() / 2) != wire.substr(wire.size() / 2)) == client);
        CHECK(scene.got() == "text same, text same");
    }
}

TEST_CASE("refuses an opening of another protocol") {
    std::string hints;
    for (int i = 0; i < 17; ++i) hints += "HTTP/1.1 103 Early Hints\r\n\r\n";
    const std::string head = "GET / HTTP/1.1\r\n";
    const struct {
        bool client;
        std::string bytes;
        std::string failure;
        std::string status = "";
    } rows[] = {
        {true, "HTTP/1.1 404 Not Found\r\n\r\n",
         "connect: the peer refused the WebSocket upgrade: 404 Not Found"},
        {true, hints, "connect: the peer refused the WebSocket upgrade: 103 Early Hints"},
        {true, "SSH-2.0-x\r\n", "connect: the peer does not speak HTTP, which WebSocket needs"},
        {true, "HTTP/1.1 200 " + std::string(20000, 'x'),
         "connect: the server's response exceeds 16384 bytes"},
        {false, "POST / HTTP/1.1\r\nHost: h\r\n\r\n",
         "receive: refused: the request is not a valid HTTP/1.1 GET request", "400 "},
        {false, head + "Host: h\r\n\r\n",
         "receive: refused: the request is not a WebSocket upgrade", "426 "},
        {false, head + std::string(20000, 'x'),
         "receive: refused: the request's header exceeds 16 KiB", "431 "},
    };
    for (const auto& row : rows) {
        CAPTURE(row.failure);
        Scene scene(row.client);
        scene.peer.max_read = GENERATE(1U, 4000U);
        scene.peer.to_read = row.bytes;
        scene.peer.space = row.client ? SIZE_MAX : 5;  // the refusal has to wait
        IoStatus status = scene.handshake();
        CHECK((status == IoStatus::wants_write) == !row.client);
        scene.peer.space = SIZE_MAX;
        if (status == IoStatus::wants_write) status = scene.handshake();
        CHECK(status == IoStatus::failed);
        CHECK(scene.failure().starts_with(row.failure));
        CHECK(scene.peer.closed);
        if (row.client) continue;
        CHECK(scene.peer.written.starts_with("HTTP/1.1 " + row.status));
        CHECK(scene.peer.written.ends_with("\n"));
    }
}

TEST_CASE("skips interim responses, and limits the final one without the messages after it") {
    Scene scene(true);
    std::string response = scene.greeting();
    response.insert(response.size() - 2,
                    "X: " + std::string(max_opening_size - response.size() - 5, 'x') + "\r\n");
    REQUIRE(response.size() == max_opening_size);
    for (int i = 0; i < 16; ++i) scene.peer.to_read += "HTTP/1.1 103 Early\r\nX: y\r\n\r\n";
    scene.peer.to_read += response;
    scene.send(frames_of("binary *{1000}"));
    scene.peer.max_read = GENERATE(99U, 4095U);
    CHECK(scene.handshake() == IoStatus::done);
    CHECK(scene.facts.response == response);
    CHECK(scene.read() == message(std::string(1000, '*'), false));
}

TEST_CASE("the peer may end during the handshake") {
    for (const std::string suffix : {"", " with the last byte"}) {
        play("half; below ends" + suffix +
             "; open => failed; failure => connect: "
             "the peer closed the connection during the WebSocket handshake");
        play("half; below fails" + suffix +
             "; open => failed; "
             "failure => connect: broken below");
        // TLS 1.3 reports a missing client certificate in the first read.
        play("half; below fails by TLS" + suffix +
             "; open => failed; "
             "failure => own certificate: broken below");
    }
    Scene scene(true);
    scene.peer.writes_fail = true;
    CHECK(scene.transport->handshake().status == IoStatus::failed);
    CHECK(scene.failure() == "send: no way");
}

TEST_CASE("the peer may end together with its part of the handshake") {
    for (const auto& [end, failure] :
         {std::pair{"ends", "truncated: the peer ended the connection without a close frame"},
          {"fails", "receive: broken below"}}) {
        const std::string open = "; below " + std::string(end) +
                                 " with the last byte; open =>; holds => input; read => ";
        const std::string failed = "failed; failure => " + std::string(failure);
        play("greet" + open + failed);
        play("greet; send text last" + open + "text last, " + failed);
    }
}

TEST_CASE("a write that waits continues at any byte, and a pong goes between frames") {
    for (std::size_t cut = 0; cut < 340; ++cut) {
        std::string script = "space " + std::to_string(cut) +
                             "; write text first | binary *{300}; send ping p; read =>; ";
        for (int i = 0; i < 5; ++i) script += "space 1; write; ";
        play(script + "space; write =>; holds =>; got => text first, binary *{300}, pong p");
    }
}

TEST_CASE("only the pong with the number of the last ping answers it") {
    play("send pong; send pong 1; read =>; answered => 0; ping; holds => output; write =>; "
         "got => ping 1; send pong; read =>; answered => 0; send pong 1; read =>; answered => "
         "1; "
         "ping; write =>; got => ping 2; send pong 1; read =>; answered => 1; send pong 2; "
         "read =>; answered => 2");
    play("part 6; ping; holds =>; write; got => text hello, ping 1");
}

TEST_CASE("a message that is written in parts stays one frame, and a pong waits for its end") {
    for (std::size_t cut = 1; cut < message("hello").size(); ++cut)
        play("part " + std::to_string(cut) +
             "; send ping p; read =>; holds =>; write text more =>; "
             "got => text hello, pong p, text more");
}

TEST_CASE("writes messages of all sizes") {
    for (const std::size_t size :
         std::initializer_list<std::size_t>{1, 125, 126, 65535, 65536, 200000, 1 << 20}) {
        const std::string large = "text *" + std::to_string(size);
        play("write " + large + " | binary | text end =>; got => " + large +
             ", binary, text end");
    }
}

TEST_CASE("a flood of pings whose answers the peer does not accept leaves the newest answers") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        scene.open();
        scene.peer.space = 3;
        scene.send(frames_of("ping first"));
        scene.read();
        REQUIRE(scene.transport->buffers_output());
        scene.write("");
        CHECK(scene.last.status == IoStatus::wants_write);
        for (int i = 0; i < 50000; ++i) {  // each read has many pings
            scene.send({{0x89, std::to_string(i)}});
            if (i % 100 == 0) scene.read();
            if (i % 100 == 1) scene.write("");
        }
        scene.read();
        scene.peer.space = SIZE_MAX;
        scene.write("");
        CHECK(scene.peer.written.size() < 2 * 64 * 1024);
        const std::string got = scene.got();
        CHECK(got.starts_with("pong first, pong "));
        CHECK(got.ends_with(", pong 49998, pong 49999"));
        CHECK_FALSE(scene.transport->buffers_output());
    }
}

TEST_CASE("closes when both sides have closed, in any order") {
    for (const std::string close : {"close 1000", "close 1001", "close"}) {
        play("send text a | ping p | " + close +
             " | text late; read => text a, end; write text b =>; close =>; "
             "got => pong p, text b, " +
             close + ", end");
        play("close =>; got => close 1000; send text still | ping; read => text still; "
             "holds =>; send " +
             close + "; read => end; got => end");
    }
    play("send ping p; read =>; close =>; send ping q; read =>; close =>; "
         "got => pong p, close 1000");
}

TEST_CASE("a close frame waits for space, and for the frames before it") {
    for (std::size_t space = 0; space < 4; ++space) {
        play("space " + std::to_string(space) +
             "; close => waits; send ping p | close 1001; read => end; space; close =>; "
             "got => close 1000, end");
    }
    play("space 4; send ping p; read =>; write; close => waits; space 4; close; space; "
         "close =>; got => pong p, close 1000");
}

TEST_CASE("a peer that leaves after both close frames has closed gracefully") {
    play("below cannot close; send close 1000; read => end; close =>");
    play("below cannot close; send close 1000; read => end; part 7; close => failed");
}

TEST_CASE("a connection that closes inside a message sends no close frame") {
    play("part 1; close =>; got => end");
    play("part 5; close =>; got => a part, end");
    play("part 7; close =>; got => a part, end");
}

TEST_CASE("any other close code rejects the input, and is answered") {
    for (const unsigned code : {1002U, 1003U, 1008U, 1011U, 1014U, 3000U, 4999U})
        play("send text a | close " + std::to_string(code) +
             " so; read => text a, rejected; failure => receive: the peer closed with " +
             Closure{code, "so"}.text() + "; close =>; got => close " + std::to_string(code) +
             ", end");
}

TEST_CASE("a peer that breaks the protocol gets earlier messages, then a close frame") {
    const std::string violated = "receive: the peer violated the WebSocket protocol: ";
    const struct {
        std::string frames;
        std::string failure;
        std::string code;
    } rows[] = {
        {"83", violated + "an unknown opcode", "1002"},
        {"close 1005", violated + "invalid close code 1005", "1002"},
        {"text \\xff", violated + "a text message is not UTF-8", "1007"},
        {"01 *{600} | 80 *{402}",
         "limit: a message of 1002 bytes or more exceeds the limit of 1000 (--max-frame)",
         "1009"},
        {"binary *{1001}",
         "limit: a message of 1001 bytes or more exceeds the limit of 1000 (--max-frame)",
         "1009"},
    };
    for (const auto& row : rows)
        for (const std::string space : {"", " 2", " 0"})
            play("space" + space + "; send text a | " + row.frames + "; read => text a, " +
                 (row.code == "1007" ? "a part, " : "") + "rejected; failure => " +
                 row.failure + "; write text b" + (space.empty() ? " =>" : " => waits") +
                 "; space; write =>; close =>; got => text b, close " + row.code +
                 ", end; send text late; read =>; below ends; read => end");
    play("part 7; send 83; read => rejected; got => a part");
    play("close =>; send 83; read => rejected; got => close 1000");
}

TEST_CASE("a peer that ends without a close frame fails the read") {
    const std::string rows[][3] = {{"pong", "", ""},
                                   {"text a", "text a", ""},
                                   {"text ab; cut 1", "a part", "inside a message, "},
                                   {"text a | text; cut 1", "text a", "inside a message, "},
                                   {"01 a", "", "inside a message, "},
                                   {"text a | close; cut 1", "text a", "inside a message, "}};
    for (const auto& [frames, messages, where] : rows) {
        const std::string failed =
            "failed; failure => truncated: the peer ended the connection " + where +
            "without a close frame";
        play("send " + frames + "; below ends; read => " + messages + "; read => " + failed);
        play("send " + frames + "; below ends with the last byte; read => " + messages +
             (messages.empty() ? "" : ", ") + failed);
    }
}

TEST_CASE("the end of the input waits while messages do not fit") {
    std::string frames = "ping";
    std::string messages;
    for (int i = 0; i < 50; ++i) {
        const std::string text = std::to_string(i);
        frames += " | text " + text + " | binary | 02 " + text + " | 80";
        add_to(messages, "text " + text + ", binary, binary " + text);
    }
    for (std::size_t size = 5; size < 40; ++size) {
        const std::string read = "; read " + std::to_string(size) + " => ";
        const std::string all = read + messages;
        play("send " + frames + "; below ends" + all + read + "failed");
        play("send " + frames + "; below ends with the last byte" + all + ", failed");
        play("send " + frames + " | close; below ends" + all + ", end");
        play("send " + frames + " | close; below ends with the last byte" + all + ", end");
    }
}

TEST_CASE("failures below are our own, and the peer's explanation is still read") {
    play("send text a; below fails; read => text a; read => failed; "
         "failure => receive: broken below");
    play("below cannot write; write text a => failed; failure => send: no way; "
         "send close 1008 slow; read => rejected; "
         "failure => receive: the peer closed with 1008 policy violation: slow");
    play("below cannot write; close => failed; send text a | close; read => text a, end");
}
