// Tests the transport call by call, with a peer that sends and takes single bytes. For whole
// connections see exchange_test.cpp.
#include "app/websocket/transport.hpp"

#include "bufio/tls.hpp"
#include "ui/text.hpp"

#include "tests/app/websocket/frames.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

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
    std::size_t most = SIZE_MAX;             // bytes of one read
    IoStatus at_end = IoStatus::wants_read;  // after them
    bool end_at_once = false;                // with the last of them
    Reason failure = Reason::receive;        // at the end, if reading fails there
    std::string written;
    std::size_t space = SIZE_MAX;  // for the next writes; none: a write has to wait
    bool writes_fail = false;
    bool closing_fails = false;  // in close_output()
    bool closed = false;         // by close_output()
    bool buffers_input = false;
};

// Checks the rules of bufio/transport.hpp for its caller.
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
        const std::size_t count = peer_.to_read.copy(to, std::min(size, peer_.most));
        peer_.to_read.erase(0, count);
        const bool last = peer_.to_read.empty() && (count == 0 || peer_.end_at_once);
        const IoStatus status = last ? peer_.at_end : IoStatus::done;
        over_ = status == IoStatus::end_of_input || status == IoStatus::failed;
        if (status == IoStatus::failed) fail({peer_.failure, "broken below"});
        return {status, count};
    }
    IoResult write(const char* from, std::size_t size) override {
        REQUIRE((ready_ && !closed_ && size > 0));
        REQUIRE(std::string_view(from, size).starts_with(refused_));
        refused_.clear();
        if (peer_.writes_fail) return close(fail({Reason::send, "no way"}));
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
        if (peer_.closing_fails) return close(fail({Reason::send, "gone"}));
        return close({IoStatus::done});
    }

private:
    IoResult close(IoResult result) {
        closed_ = true;
        return result;
    }

    Peer& peer_;
    std::string refused_;  // a write must be repeated with these bytes first
    bool ready_ = false;
    bool over_ = false;
    bool closed_ = false;
};

const std::string request_key = "dGhlIHNhbXBsZSBub25jZQ==";
const std::string valid_request =
    "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: " +
    request_key + "\r\nSec-WebSocket-Version: 13\r\n\r\n";

// Returns the response to the request that a client has sent.
std::string response_to(const std::string& request) {
    const std::string name = "Sec-WebSocket-Key: ";
    const std::string key = request.substr(request.find(name) + name.size(), 24);
    return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           "Sec-WebSocket-Accept: " +
           ui::base64(bufio::sha1(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) + "\r\n\r\n";
}

// A transport under test and its peer.
struct Scene {
    explicit Scene(bool as_client) : client(as_client) {
        auto below = std::make_unique<PeerTransport>(peer);
        transport = client ? connect(std::move(below), {.host = "h"}, limit, facts)
                           : accept(std::move(below), limit);
    }

    // Opens the connection. `early`: frames right after the peer's part of the handshake.
    void open(const std::vector<Frame>& early = {}) {
        if (client) {
            REQUIRE(transport->handshake().status == IoStatus::wants_read);
            peer.to_read = response_to(peer.written);
        } else {
            peer.to_read = valid_request;
        }
        peer.to_read += wire(early);
        REQUIRE(transport->handshake().status == IoStatus::done);
        peer.written.clear();
    }

    std::string wire(const std::vector<Frame>& frames) const {
        return encoded(frames, !client);
    }
    void send(const std::vector<Frame>& frames) { peer.to_read += wire(frames); }

    // Reads until nothing is left to read at once; returns the messages.
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

    // Writes messages until the peer takes no more, and returns how many bytes were written.
    std::size_t write(std::string_view messages) {
        const std::size_t before = messages.size();
        while (!messages.empty() || transport->buffers_output()) {
            last = transport->write(messages.data(), messages.size());
            if (last.status != IoStatus::done) break;
            messages.remove_prefix(last.count);
        }
        return before - messages.size();
    }

    // Returns what the peer has got, such as "text hello, close 1000".
    std::string got() {
        std::string text;
        for (const Frame& frame : decoded(peer.written)) {
            const auto& [first, payload] = frame;
            text += text.empty() ? "" : ", ";
            if (first == text_frame) text += "text " + payload;
            if (first == binary_frame) text += "binary " + payload;
            if (first == pong_frame) text += "pong " + payload;
            if (first == close_frame) text += "close " + close_text(payload);
        }
        return text + (peer.written.empty() ? "" : ", a part") + (peer.closed ? ", end" : "");
    }
    static std::string close_text(std::string_view payload) {
        Closure closure;
        CHECK(parse_closure(payload, closure));
        return std::to_string(closure.code);
    }

    // Returns the failure, with "the peer" for the side that the transport has named.
    End failure() const {
        End end = transport->failure();
        const std::string peer_name = client ? "the server" : "the client";
        if (end.text.starts_with(peer_name)) end.text.replace(0, peer_name.size(), "the peer");
        return end;
    }

    bool client;
    Peer peer;
    Facts facts;
    std::unique_ptr<bufio::Transport> transport;
    IoResult last{IoStatus::done};
};

const std::string broken = "the peer violated the WebSocket protocol: ";

}  // namespace

TEST_CASE("opens a connection, however the bytes arrive") {
    for (const bool client : {false, true})
        for (const std::size_t most : std::initializer_list<std::size_t>{1, 2, 7, 100, 5000}) {
            Scene scene(client);
            scene.peer.most = most;
            scene.open({{text_frame, "early"}, {ping_frame, "p"}});
            CHECK(scene.read() == message("early"));
            CHECK(scene.write(message("x")) == message("x").size());
            CHECK(scene.got() == "pong p, text x");
            CHECK(scene.failure().reason == Reason::none);
        }
}

TEST_CASE("waits for each byte of the peer's part of the handshake") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        scene.transport->handshake();
        const std::string part = client ? response_to(scene.peer.written) : valid_request;
        for (const char byte : part) {
            CHECK(scene.transport->handshake().status == IoStatus::wants_read);
            CHECK_FALSE(scene.transport->buffers_output());
            scene.peer.to_read = byte;
        }
        CHECK(scene.transport->handshake().status == IoStatus::done);
        CHECK_FALSE(scene.transport->buffers_input());
    }
}

TEST_CASE("sends its part of the handshake byte by byte") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        scene.peer.to_read = client ? "" : valid_request;
        scene.peer.space = 0;
        std::size_t sent = 0;
        while (scene.transport->handshake().status == IoStatus::wants_write) {
            REQUIRE(scene.peer.written.size() == sent);
            scene.peer.space = 1;
            ++sent;
        }
        CHECK(opening_size(scene.peer.written) == scene.peer.written.size());
        if (client) CHECK(scene.facts.request == scene.peer.written);
    }
}

TEST_CASE("a client notes the handshake and uses a new key for each") {
    Scene one(true);
    Scene other(true);
    one.open();
    other.open();
    CHECK(one.facts.request != other.facts.request);
    CHECK(one.facts.response == response_to(one.facts.request));
    CHECK_FALSE(one.facts.closure);
}

TEST_CASE("frames of a client are masked with new keys, a server's are not") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        scene.open();
        scene.write(message("same") + message("same"));
        const std::string wire = scene.peer.written;
        REQUIRE(wire.size() == (client ? 2 * 10 : 2 * 6));
        CHECK((wire.substr(0, wire.size() / 2) != wire.substr(wire.size() / 2)) == client);
        CHECK(scene.got() == "text same, text same");
    }
}

TEST_CASE("refuses an opening of another protocol") {
    const struct {
        bool client;
        std::string bytes;
        Reason reason;
        const char* text;
        const char* status = "";
    } cases[] = {
        {true, "HTTP/1.1 404 Not Found\r\n\r\n", Reason::connect,
         "the server refused the upgrade: 404 Not Found"},
        {true,
         [] {
             std::string many;
             for (int i = 0; i < 17; ++i) many += "HTTP/1.1 103 Early Hints\r\n\r\n";
             return many;
         }(),
         Reason::connect, "the server refused the upgrade: 103 Early Hints"},
        {true, "SSH-2.0-x\r\n", Reason::connect,
         "the server does not speak HTTP, which WebSocket needs"},
        {true, "\x15\x03\x01", Reason::tls, "the server speaks TLS; use wss://"},
        {true, "HTTP/1.1 200 " + std::string(20000, 'x'), Reason::connect,
         "the server's response exceeds 16384 bytes"},
        {false, "POST / HTTP/1.1\r\nHost: h\r\n\r\n", Reason::receive,
         "refused: ", "HTTP/1.1 400 "},
        {false, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", Reason::receive,
         "refused: this is a WebSocket echo server", "HTTP/1.1 426 "},
        {false, "GET /" + std::string(20000, 'x'), Reason::receive,
         "refused: ", "HTTP/1.1 431 "},
        {false, "GET / HTTP/1.1\r\nX: " + std::string(17000, 'x') + "\r\n\r\n", Reason::receive,
         "refused: ", "HTTP/1.1 431 "},
        {false, "\x16\x03\x01", Reason::receive, "refused: ", "HTTP/1.1 400 "},
    };
    for (const auto& each : cases)
        for (const std::size_t most : std::initializer_list<std::size_t>{1, 4000}) {
            CAPTURE(each.text, most);
            Scene scene(each.client);
            scene.peer.most = most;
            scene.peer.to_read = each.bytes;
            scene.peer.space = each.client ? SIZE_MAX : 5;  // the refusal has to wait
            IoStatus status = scene.transport->handshake().status;
            if (status == IoStatus::wants_write) {
                scene.peer.space = SIZE_MAX;
                status = scene.transport->handshake().status;
            }
            CHECK(status == IoStatus::failed);
            CHECK(scene.failure().reason == each.reason);
            CHECK(scene.transport->failure().text.starts_with(each.text));
            if (!each.client) CHECK(scene.peer.written.starts_with(each.status));
            if (!each.client) CHECK(scene.peer.written.ends_with("\n"));
        }
}

TEST_CASE("the limit of the opening does not include the messages after it") {
    Scene scene(true);
    REQUIRE(scene.transport->handshake().status == IoStatus::wants_read);
    std::string response = response_to(scene.peer.written);
    response.insert(response.size() - 2,
                    "X: " + std::string(max_opening - response.size() - 5, 'x') + "\r\n");
    REQUIRE(response.size() == max_opening);
    scene.peer.to_read = response + std::string("\x82\x7e\x03\xe8", 4) + std::string(1000, 'x');
    scene.peer.most = 4095;
    CHECK(scene.transport->handshake().status == IoStatus::done);
    CHECK(scene.read() == message(std::string(1000, 'x'), false));
}

TEST_CASE("skips interim responses before the final one") {
    for (const std::size_t most : std::initializer_list<std::size_t>{1, 4000}) {
        Scene scene(true);
        REQUIRE(scene.transport->handshake().status == IoStatus::wants_read);
        const std::string response = response_to(scene.peer.written);
        scene.peer.most = most;
        scene.peer.to_read = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "
                             "</a>\r\n\r\n" +
                             response + scene.wire({{text_frame, "a"}});
        REQUIRE(scene.transport->handshake().status == IoStatus::done);
        CHECK(scene.facts.response == response);
        CHECK(scene.read() == message("a"));
    }
}

TEST_CASE("the peer may end during the handshake") {
    for (const bool client : {false, true})
        for (const IoStatus end : {IoStatus::end_of_input, IoStatus::failed})
            for (const bool at_once : {false, true}) {
                Scene scene(client);
                scene.peer.to_read = client ? "HTTP/1.1 101 S" : "GET / HT";
                scene.peer.at_end = end;
                scene.peer.end_at_once = at_once;
                CHECK(scene.transport->handshake().status == IoStatus::failed);
                CHECK(scene.failure().reason == Reason::connect);
                CHECK(scene.failure().text ==
                      (end == IoStatus::failed
                           ? "broken below"
                           : "the peer closed the connection during the WebSocket handshake"));
            }
    Scene scene(true);
    scene.peer.writes_fail = true;
    CHECK(scene.transport->handshake().status == IoStatus::failed);
    CHECK(scene.failure().text == "no way");
}

// TLS 1.3 reports it in the first read.
TEST_CASE("a missing client certificate is not a refused upgrade") {
    Scene scene(true);
    scene.peer.at_end = IoStatus::failed;
    scene.peer.failure = Reason::own_certificate;
    CHECK(scene.transport->handshake().status == IoStatus::failed);
    CHECK(scene.failure().reason == Reason::own_certificate);
}

TEST_CASE("the peer may end together with its part of the handshake") {
    for (const bool client : {false, true})
        for (const IoStatus end : {IoStatus::end_of_input, IoStatus::failed})
            for (const bool early : {false, true}) {
                Scene scene(client);
                if (client) scene.transport->handshake();
                scene.peer.to_read =
                    (client ? response_to(scene.peer.written) : valid_request) +
                    (early ? scene.wire({{text_frame, "last"}}) : "");
                scene.peer.at_end = end;
                scene.peer.end_at_once = true;
                REQUIRE(scene.transport->handshake().status == IoStatus::done);
                CHECK(scene.transport->buffers_input());
                CHECK(scene.read() == (early ? message("last") : ""));
                CHECK(scene.last.status == IoStatus::failed);
                CHECK(scene.failure().reason ==
                      (end == IoStatus::failed ? Reason::receive : Reason::truncated));
            }
}

TEST_CASE("a write that waits continues at any byte, and a pong goes between frames") {
    const std::string both = message("first") + message(std::string(300, 'x'), false);
    const std::string large = "binary " + std::string(300, 'x');
    for (const bool client : {false, true})
        for (std::size_t cut = 0; cut < 340; ++cut) {
            INFO(cut << " bytes, then a ping");
            Scene scene(client);
            scene.open();
            scene.peer.space = cut;
            std::size_t written = scene.write(both);
            scene.send({{ping_frame, "p"}});
            CHECK(scene.read() == "");
            scene.peer.space = 1;
            while (written < both.size() || scene.transport->buffers_output()) {
                written += scene.write(std::string_view(both).substr(written));
                scene.peer.space = 1;
            }
            CHECK(written == both.size());
            const std::string got = scene.got();
            CHECK((got == "text first, " + large + ", pong p" ||
                   got == "text first, pong p, " + large ||
                   got == "pong p, text first, " + large));
        }
}

TEST_CASE("a message that is written in parts stays one frame, and a pong waits for its end") {
    const std::string whole = message("hello");
    for (const bool client : {false, true})
        for (std::size_t cut = 1; cut < whole.size(); ++cut) {
            Scene scene(client);
            scene.open();
            CHECK(scene.write(whole.substr(0, cut)) == cut);
            scene.send({{ping_frame, "p"}});
            scene.read();
            CHECK_FALSE(scene.transport->buffers_output());
            CHECK(scene.write(whole.substr(cut) + message("more")) == whole.size() - cut + 9);
            CHECK(scene.got() == "text hello, pong p, text more");
        }
}

TEST_CASE("writes messages of all sizes") {
    for (const std::size_t size :
         std::initializer_list<std::size_t>{0, 1, 125, 126, 65535, 65536, 200000, 1 << 20}) {
        const std::string payload(size, 'x');
        const std::string messages = message(payload) + message("", false) + message("end");
        for (const bool client : {false, true}) {
            Scene scene(client);
            scene.open();
            CHECK(scene.write(messages) == messages.size());
            CHECK((scene.got() == "text " + payload + ", binary , text end"));
        }
    }
}

TEST_CASE("answers each ping of one read") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        scene.open();
        std::string expected;
        for (int i = 0; i < 500; ++i) {
            scene.send({{ping_frame, std::to_string(i)}});
            expected += (i == 0 ? "pong " : ", pong ") + std::to_string(i);
        }
        scene.read();
        scene.write("");
        CHECK(scene.got() == expected);
    }
}

TEST_CASE("a flood of pings to which the peer takes no answer leaves the newest ones") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        scene.open();
        scene.peer.space = 3;
        scene.send({{ping_frame, "first"}});
        scene.read();
        REQUIRE(scene.transport->buffers_output());
        scene.write("");
        CHECK(scene.last.status == IoStatus::wants_write);
        for (int i = 0; i < 50000; ++i) {
            scene.send({{ping_frame, std::to_string(i)}});
            if (i % 100 == 0) scene.read();
            if (i % 100 == 1) scene.write("");
        }
        scene.read();
        scene.peer.space = SIZE_MAX;
        scene.write("");
        const std::string wire = scene.peer.written;
        CHECK(wire.size() < 2 * 64 * 1024);
        const std::string got = scene.got();
        CHECK(got.starts_with("pong first, pong "));
        CHECK(got.ends_with(", pong 49998, pong 49999"));
        CHECK_FALSE(scene.transport->buffers_output());
    }
}

TEST_CASE("closes when both sides have closed, in any order") {
    const struct {
        unsigned code;  // the peer's
        const char* answer;
    } cases[] = {
        {1000, "close 1000"},
        {1001, "close 1001"},
        {no_status, "close 1005"},
    };
    for (const bool client : {false, true})
        for (const auto& each : cases) {
            const Frame close{close_frame, each.code == no_status ? "" : closing(each.code)};
            Scene first(client);  // the peer is the first
            first.open();
            first.send({{text_frame, "a"}, {ping_frame, "p"}, close, {text_frame, "late"}});
            CHECK(first.read() == message("a"));
            CHECK(first.last.status == IoStatus::end_of_input);
            CHECK(first.write(message("b")) == 6);  // input may end before output
            CHECK(first.transport->close_output().status == IoStatus::done);
            CHECK(first.got() == "pong p, text b, " + std::string(each.answer) + ", end");
            if (client) CHECK(first.facts.closure->code == each.code);

            Scene second(client);  // we are the first
            second.open();
            CHECK(second.transport->close_output().status == IoStatus::done);
            CHECK(second.got() == "close 1000");
            second.send({{text_frame, "still"}, {ping_frame}});
            CHECK(second.read() == message("still"));
            CHECK_FALSE(second.transport->buffers_output());  // nothing follows a close frame
            second.send({close});
            CHECK(second.read() == "");
            CHECK(second.last.status == IoStatus::end_of_input);
            CHECK(second.got() == ", end");
        }
}

TEST_CASE("both sides close at once, while our close frame has to wait") {
    for (const bool client : {false, true})
        for (std::size_t space = 0; space < 8; ++space) {
            Scene scene(client);
            scene.open();
            scene.peer.space = space;
            const IoStatus status = scene.transport->close_output().status;
            scene.send({{ping_frame, "p"}, {close_frame, closing(1001)}});
            scene.read();
            CHECK(scene.last.status == IoStatus::end_of_input);
            scene.peer.space = SIZE_MAX;
            if (status == IoStatus::wants_write)
                CHECK(scene.transport->close_output().status == IoStatus::done);
            CHECK(scene.got() == "close 1000, end");
        }
}

TEST_CASE("a peer that leaves after both close frames has closed gracefully") {
    for (const bool client : {false, true})
        for (const bool whole : {false, true}) {
            Scene scene(client);
            scene.open();
            scene.peer.closing_fails = true;
            scene.send({{close_frame, closing(1000)}});
            scene.read();
            if (!whole) scene.write(message("hello").substr(0, 7));
            const IoStatus status = scene.transport->close_output().status;
            CHECK(status == (whole ? IoStatus::done : IoStatus::failed));
        }
}

TEST_CASE("a close frame waits for the frames before it") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        scene.open();
        scene.peer.space = 4;
        scene.send({{ping_frame, "p"}});
        scene.read();
        scene.write("");
        CHECK(scene.transport->close_output().status == IoStatus::wants_write);
        scene.peer.space = 4;
        scene.transport->close_output();
        scene.peer.space = SIZE_MAX;
        CHECK(scene.transport->close_output().status == IoStatus::done);
        CHECK(scene.got() == "pong p, close 1000");
    }
}

TEST_CASE("a ping is answered before a close frame that follows at once") {
    for (const bool client : {false, true}) {
        Scene scene(client);
        scene.open();
        scene.send({{ping_frame, "p"}});
        scene.read();
        CHECK(scene.transport->close_output().status == IoStatus::done);
        scene.send({{ping_frame, "q"}});
        scene.read();
        CHECK(scene.transport->close_output().status == IoStatus::done);
        CHECK(scene.got() == "pong p, close 1000");
    }
}

TEST_CASE("a connection that closes inside a message sends no close frame") {
    for (const bool client : {false, true})
        for (const std::size_t cut : std::initializer_list<std::size_t>{1, 5, 7}) {
            Scene scene(client);
            scene.open();
            scene.write(message("hello").substr(0, cut));
            CHECK(scene.transport->close_output().status == IoStatus::done);
            CHECK(scene.got() == (cut < 5 ? ", end" : ", a part, end"));
        }
}

TEST_CASE("any other code rejects the input, and is answered") {
    for (const bool client : {false, true})
        for (const unsigned code : {1002U, 1003U, 1008U, 1011U, 1014U, 3000U, 4999U}) {
            Scene scene(client);
            scene.open();
            scene.send({{text_frame, "a"}, {close_frame, closing(code, "so")}});
            CHECK(scene.read() == message("a"));
            CHECK(scene.last.status == IoStatus::rejected);
            CHECK(scene.failure().reason == Reason::receive);
            CHECK(scene.failure().text == "the peer closed with " + Closure{code, "so"}.text());
            CHECK(scene.transport->close_output().status == IoStatus::done);
            CHECK(scene.got() == "close " + std::to_string(code) + ", end");
            if (client) CHECK(scene.facts.closure->reason == "so");
        }
}

TEST_CASE("a peer that breaks the protocol gets earlier messages, then a close frame") {
    const struct {
        std::vector<Frame> frames;
        Reason reason;
        std::string text;
        const char* got;
    } cases[] = {
        {{{0x83}}, Reason::receive, broken + "an unknown opcode", "close 1002"},
        {{{close_frame, closing(1005)}},
         Reason::receive,
         broken + "invalid close code 1005",
         "close 1002"},
        {{{text_frame, "\xff"}},
         Reason::receive,
         broken + "a text message is not UTF-8",
         "close 1007"},
        {{{binary_frame, std::string(limit + 1, 'x')}},
         Reason::limit,
         "a message of 1001 bytes or more exceeds the limit of 1000 (--max-frame)",
         "close 1009"},
    };
    for (const bool client : {false, true})
        for (const auto& each : cases)
            for (const std::size_t space : {SIZE_MAX, std::size_t{2}, std::size_t{0}}) {
                Scene scene(client);
                scene.open();
                scene.peer.space = space;
                scene.send({{text_frame, "a"}});
                scene.send(each.frames);
                CHECK(scene.read().starts_with(message("a")));
                CHECK(scene.last.status == IoStatus::rejected);
                CHECK(scene.failure().reason == each.reason);
                CHECK(scene.failure().text == each.text);
                const std::size_t written = scene.write(message("b"));
                scene.peer.space = SIZE_MAX;
                scene.write(message("b").substr(written));
                CHECK(scene.transport->close_output().status == IoStatus::done);
                CHECK(scene.got() == "text b, " + std::string(each.got) + ", end");
                scene.send({{text_frame, "late"}});  // discarded
                CHECK(scene.read() == "");
                CHECK(scene.last.status == IoStatus::done);
                scene.peer.at_end = IoStatus::end_of_input;
                scene.read();
                CHECK(scene.last.status == IoStatus::end_of_input);
                if (client) CHECK_FALSE(scene.facts.closure);
            }
    for (const bool client : {false, true}) {  // inside a message, which stays whole
        Scene scene(client);
        scene.open();
        scene.write(message("hello").substr(0, 7));
        scene.send({{0x83}});
        scene.read();
        CHECK(scene.last.status == IoStatus::rejected);
        CHECK(scene.got() == ", a part");
        Scene once_closed(client);
        once_closed.open();
        once_closed.transport->close_output();
        once_closed.send({{0x83}});
        once_closed.read();
        CHECK(once_closed.last.status == IoStatus::rejected);
        CHECK(once_closed.got() == "close 1000");
    }
}

TEST_CASE("a peer that ends without a close frame fails the read") {
    const std::string end = "the peer ended the connection without a close frame";
    const std::string inside = "the peer ended the connection inside a message without a close "
                               "frame";
    const struct {
        std::vector<Frame> frames;
        std::size_t missing;  // bytes at the end
        std::string messages;
        std::string text;
    } cases[] = {
        {{}, 0, "", end},
        {{{text_frame, "a"}}, 0, message("a"), end},
        {{{text_frame, "ab"}}, 1, message("ab").substr(0, 6), inside},
        {{{text_frame, "a"}, {text_frame}}, 1, message("a"), inside},
        {{{0x01, "a"}}, 0, "", inside},
        {{{text_frame, "a"}, {close_frame}}, 1, message("a"), inside},
    };
    for (const bool client : {false, true})
        for (const auto& each : cases)
            for (const bool at_once : {false, true}) {
                Scene scene(client);
                scene.open();
                std::string wire = scene.wire(each.frames);
                wire.resize(wire.size() - each.missing);
                scene.peer.to_read = wire;
                scene.peer.at_end = IoStatus::end_of_input;
                scene.peer.end_at_once = at_once;
                std::string got = scene.read();
                if (!at_once && scene.last.status == IoStatus::done) got += scene.read();
                CHECK(got == each.messages);
                CHECK(scene.last.status == IoStatus::failed);
                CHECK(scene.failure().reason == Reason::truncated);
                CHECK(scene.failure().text == each.text);
            }
}

TEST_CASE("the end of the input waits while messages do not fit") {
    std::vector<Frame> frames;
    std::string expected;
    for (int i = 0; i < 50; ++i) {
        const std::string text = std::to_string(i);
        frames.insert(frames.end(), {{text_frame, text}, {binary_frame}, {0x02, text}, {0x80}});
        expected += message(text) + message("", false) + message(text, false);
    }
    for (const bool client : {false, true})
        for (const bool orderly : {false, true})
            for (std::size_t size = 5; size < 40; ++size)
                for (const bool at_once : {false, true}) {
                    Scene scene(client);
                    scene.open();
                    scene.send(frames);
                    if (orderly) scene.send({{close_frame}});
                    scene.peer.at_end = IoStatus::end_of_input;
                    scene.peer.end_at_once = at_once;
                    std::string got = scene.read(size);
                    if (!at_once && scene.last.status == IoStatus::done)
                        got += scene.read(size);
                    CHECK((got == expected));
                    CHECK(scene.last.status ==
                          (orderly ? IoStatus::end_of_input : IoStatus::failed));
                }
}

TEST_CASE("input that is buffered below is buffered here") {
    Scene scene(true);
    scene.open();
    CHECK_FALSE(scene.transport->buffers_input());
    scene.peer.buffers_input = true;
    CHECK(scene.transport->buffers_input());
}

TEST_CASE("failures below are our own") {
    for (const bool client : {false, true}) {
        Scene reading(client);
        reading.open();
        reading.send({{text_frame, "a"}});
        reading.peer.at_end = IoStatus::failed;
        CHECK(reading.read() == message("a"));
        reading.read();
        CHECK(reading.last.status == IoStatus::failed);
        CHECK(reading.failure().text == "broken below");

        Scene writing(client);
        writing.open();
        writing.peer.writes_fail = true;
        writing.write(message("a"));
        CHECK(writing.last.status == IoStatus::failed);
        CHECK(writing.failure().text == "no way");
        // The peer's explanation is still read, and not answered.
        writing.send({{close_frame, closing(1008, "slow")}});
        writing.read();
        CHECK(writing.last.status == IoStatus::rejected);
        CHECK(writing.failure().text == "the peer closed with 1008 policy violation: slow");

        Scene closing_fails(client);
        closing_fails.open();
        closing_fails.peer.writes_fail = true;
        CHECK(closing_fails.transport->close_output().status == IoStatus::failed);
        closing_fails.send({{text_frame, "a"}, {close_frame}});
        CHECK(closing_fails.read() == message("a"));
        CHECK(closing_fails.last.status == IoStatus::end_of_input);
    }
}
