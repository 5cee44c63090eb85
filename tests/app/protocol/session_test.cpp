// Sessions against a listener on the same loop; the test itself answers them.

#include "app/protocol/session.hpp"
#include "bufio/listen.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/virtual_time.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;
using bufio::Reason;
using State = Session::State;

using test::ManualServer;
using test::turn_until;
using test::unused_port;
using test::VirtualLoop;

namespace {

struct Client : Session::User {
    explicit Client(ev::Loop& loop, int port, Session::Options options = {})
        : session(loop, at(std::move(options), port), *this) {
        session.connect();
    }
    // The default reply timeout is too long for a test.
    static Session::Options at(Session::Options options, int port) {
        if (options.reply_timeout == Session::Options().reply_timeout)
            options.reply_timeout = 1h;
        return test::with_port(std::move(options), port);
    }
    virtual ~Client() = default;
    void session_changed() override {}
    void session_answered(const Message& message, const Reply& reply) override {
        ids_in_order &= message.id > last_id;
        last_id = message.id;
        ++reports;
        log += reply.right ? "right "
                           : "wrong@" + std::to_string(reply.difference.value_or(0)) + " ";
        log += std::string(message.payload) + "=" + std::string(reply.payload) + ";";
    }
    // Logs the messages of a batch like single messages.
    void session_echoed(const Batch& batch, std::optional<ev::Duration>) override {
        ids_in_order &= batch.first.id > last_id;
        last_id = batch.first.id + batch.count - 1;
        ++reports;
        std::size_t lines = 0;
        for_each_piece(*find_framing("line"), batch.frames, [&](std::string_view line) {
            if (lines++ == batch.count) return;
            log += "right " + std::string(line) + "=" + std::string(line) + ";";
        });
        CHECK(lines == batch.count + 1);
    }
    void session_lost(const Message& message) override {
        log += "lost " + std::string(message.payload) + ";";
    }
    void session_unsolicited(std::string_view payload) override {
        log += "unsolicited " + std::string(payload) + ";";
    }

    void send(const std::string& text) {
        REQUIRE(session.send(text));
        session.flush();
    }

    std::string log;
    std::size_t reports = 0;  // number of reported answers
    std::uint64_t last_id = 0;
    bool ids_in_order = true;
    Session session;
};

struct Pair {
    VirtualLoop loop;
    ManualServer server{loop};
    Client client;

    explicit Pair(Session::Options options = {})
        : client(loop, server.port(), std::move(options)) {
        turn_until(loop,
                   [&] { return client.session.state() == State::open && server.stream; });
    }
    void until_logged(const std::string& log) {
        turn_until(loop, [&] { return client.log.size() >= log.size(); });
        CHECK(client.log == log);
    }
    void until_server_got(const std::string& bytes) {
        turn_until(loop, [&] { return server.got.size() >= bytes.size(); });
        CHECK(server.got == bytes);
    }
    void until_closed() {
        turn_until(loop, [&] { return client.session.state() == State::closed; });
    }
};

// Returns options with which each reply is soon late.
Session::Options impatient() {
    Session::Options options;
    options.reply_timeout = 1ms;
    return options;
}

}  // namespace

TEST_CASE("a target is named with its scheme and path") {
    Session::Options options;
    options.endpoint.host = "::1";
    options.endpoint.service = "7";
    CHECK(options.target() == "tcp://[::1]:7");
    options.websocket.emplace().path = "/chat?x";
    CHECK(options.target() == "ws://[::1]:7/chat?x");
    options.tls = bufio::TlsContext::client(bufio::TlsClientOptions());
    CHECK(options.target() == "wss://[::1]:7/chat?x");
    options.websocket.reset();
    CHECK(options.target() == "tls://[::1]:7");
    options.endpoint.path = "/run/echo";
    CHECK(options.target() == "unix:/run/echo");
}

TEST_CASE("writes all flushed messages at once, and matches the replies in order") {
    Pair pair;
    REQUIRE(pair.client.session.send("a").first == 1);
    REQUIRE(pair.client.session.send("b").first == 2);
    CHECK(pair.server.got.empty());
    pair.client.session.flush();
    pair.until_server_got("a\nb\n");
    CHECK(pair.client.session.in_flight() == 2);
    pair.server.stream->write("a\nb");
    pair.until_logged("right a=a;");
    pair.server.stream->write("\n");
    pair.until_logged("right a=a;right b=b;");
    CHECK(pair.client.session.in_flight() == 0);
}

TEST_CASE("reports a message from the server that answers nothing as unsolicited") {
    Pair pair;
    pair.server.stream->write("welcome\n");
    pair.until_logged("unsolicited welcome;");
    pair.client.send("a");
    pair.server.stream->write("a\na\n");
    pair.until_logged("unsolicited welcome;right a=a;unsolicited a;");
    pair.client.log.clear();
    pair.server.stream->write(
        "\x15\x03\x03\n");  // not a TLS alert, because it is in the middle
    pair.until_logged("unsolicited \x15\x03\x03;");
}

TEST_CASE("reports a greeting that crosses messages as unsolicited, not as a wrong reply") {
    Pair pair;
    pair.client.send("a");
    pair.client.send("b");
    pair.server.stream->write("welcome\na\nb\n");
    pair.until_logged("unsolicited welcome;right a=a;right b=b;");
}

TEST_CASE("reports a wrong reply without a successor when the connection ends") {
    Pair pair;
    pair.client.send("a");
    pair.client.send("b");
    pair.server.stream->write("X\n");
    pair.server.stream->finish();
    pair.until_logged("wrong@0 a=X;lost b;");
}

TEST_CASE("a timely reply restarts no timeout, and a late reply counts") {
    Pair pair(impatient());
    pair.client.send("a");
    pair.until_logged("lost a;");
    CHECK(pair.client.session.in_flight() == 0);
    pair.server.stream->write("a\n");
    pair.until_logged("lost a;right a=a;");
}

TEST_CASE("reports late messages before the connection ends, and only once") {
    Session::Options options = impatient();
    options.retries = GENERATE(0U, 1U);
    options.retry_delay = 1h;
    Pair pair(options);
    pair.client.send("a");
    pair.until_logged("lost a;");
    pair.server.reset();
    turn_until(pair.loop, [&] { return pair.client.session.state() != State::open; });
    CHECK(pair.client.log == "lost a;");
}

TEST_CASE("times out the reply to each message separately") {
    Session::Options options;
    options.reply_timeout = 20ms;
    Pair pair(options);
    pair.client.send("a");
    pair.loop.pass(options.reply_timeout / 2);
    pair.client.send("b");
    pair.until_logged("lost a;lost b;");
}

TEST_CASE("a server that keeps sending does not extend the reply timeout") {
    Session::Options options;
    options.reply_timeout = 20ms;
    Pair pair(options);
    pair.client.send("a");
    int turns = 0;
    const auto talk = [&] {
        pair.server.stream->write("x");
        return !pair.client.log.empty() || ++turns == 100;
    };
    pair.loop.until(talk, 1ms);
    CHECK(pair.client.log == "lost a;");
    CHECK(turns < 30);
}

TEST_CASE("compares a reply that becomes whole after the timeout from its start") {
    Pair pair(impatient());
    pair.client.send("ab");
    pair.client.send("cb");
    pair.server.stream->write("X\na");
    pair.until_logged("wrong@0 ab=X;lost cb;");
    pair.server.stream->write("b\n");
    pair.until_logged("wrong@0 ab=X;lost cb;unsolicited ab;");
}

TEST_CASE("reports a possible greeting as a wrong answer if no other reply follows") {
    Pair pair;
    pair.server.stream->write("a");
    pair.loop.settle();
    pair.client.send("a");
    pair.client.send("b");
    pair.server.stream->write("\n\n");
    pair.until_logged("right a=a;wrong@0 b=;");
}

TEST_CASE("takes the next message as the reply with expect any") {
    Session::Options options;
    options.expect = Expect::any;
    const bool framed = GENERATE(true, false);
    if (!framed) options.framing = find_framing("raw");
    Pair pair(options);
    pair.client.send("a");
    pair.server.stream->write(framed ? "whatever\n" : "whatever");
    pair.until_logged("right a=whatever;");
}

TEST_CASE("awaits nothing with expect none") {
    Session::Options options;
    options.expect = Expect::none;
    Pair pair(options);
    pair.client.send("a");
    CHECK(pair.client.session.in_flight() == 0);
    CHECK(pair.client.session.in_flight_bytes() == 0);
    pair.server.stream->write("a\n");
    pair.until_logged("unsolicited a;");
}

TEST_CASE("matches raw bytes by their place, however they are cut") {
    const std::size_t cut = GENERATE(range<std::size_t>(0, 11));
    Session::Options options;
    options.framing = find_framing("raw");
    Pair pair(options);
    pair.client.send("hello");
    pair.client.send("world");
    const std::string answer = "helloworXd!";
    pair.server.stream->write(answer.substr(0, cut));
    pair.loop.settle();
    pair.server.stream->write(answer.substr(cut));
    pair.until_logged("right hello=hello;wrong@3 world=worXd;unsolicited !;");
    CHECK_FALSE(pair.client.session.send(""));
}

TEST_CASE("sends raw bytes from the reserved space, as a message of their own") {
    Session::Options options;
    options.framing = find_framing("raw");
    options.max_frame = 100;
    Pair pair(options);
    Session& session = pair.client.session;
    session.reserve(101);
    CHECK_FALSE(session.send_reserved(101));
    CHECK_FALSE(session.send_reserved(0));
    for (const std::string_view text : {"hello", "world"}) {
        std::copy(text.begin(), text.end(), session.reserve(100));
        CHECK(session.send_reserved(text.size()));
    }
    session.flush();
    CHECK(session.in_flight() == 2);
    pair.server.stream->write("helloworXd");
    pair.until_logged("right hello=hello;wrong@3 world=worXd;");
    session.disconnect();
    session.reserve(1);
    CHECK_FALSE(session.send_reserved(1));
}

TEST_CASE("recognises a TLS server by its alert, but not by an echoed alert") {
    Session::Options options;
    options.framing = find_framing("raw");
    Pair pair(options);
    const std::string alert("\x15\x03\x03\0\2\2\x46", 7);
    SECTION("an echo") {
        pair.client.send(alert);
        pair.server.stream->write(alert);
        pair.until_logged("right " + alert + "=" + alert + ";");
    }
    SECTION("an answer") {
        pair.client.send("hello");
        pair.server.stream->write(alert);
        pair.server.stream->finish();
        pair.until_closed();
        CHECK(pair.client.session.end().text == "the server speaks TLS; use --tls");
    }
}

TEST_CASE("expects a greeting and then every byte plus one with caret, however they are cut") {
    const std::size_t cut = GENERATE(range<std::size_t>(0, 8));
    Session::Options options;
    options.framing = find_framing("caret");
    Pair pair(options);
    pair.client.send("abc");
    pair.client.send("xyz");
    pair.until_server_got("^abc$^xyz$");
    pair.client.session.pause(false);  // looks for input: there is none
    const std::string answer = "*bcdyz{";
    pair.server.stream->write(answer.substr(0, cut));
    pair.loop.settle();
    pair.server.stream->write(answer.substr(cut));
    pair.until_logged("right abc=bcd;right xyz=yz{;");
    CHECK_FALSE(pair.client.session.send(""));
}

TEST_CASE("finds a wrong byte with caret, and refuses a server without its greeting") {
    Session::Options options;
    options.framing = find_framing("caret");
    options.retries = Session::forever;  // retries would not help
    Pair pair(options);
    SECTION("wrong") {
        pair.client.send("abc");
        pair.server.stream->write("*bXd");
        pair.until_logged("wrong@1 abc=bXd;");
    }
    SECTION("no greeting") {
        pair.server.stream->write("welcome");
        pair.until_closed();
        CHECK((pair.client.session.end().reason == Reason::receive));
    }
}

TEST_CASE("counts a message that contains the delimiter as several") {
    Pair pair;
    pair.client.send("a\nb");
    CHECK(pair.client.session.in_flight() == 2);
    pair.server.stream->write("a\nb\n");
    pair.until_logged("right a=a;right b=b;");
}

namespace {

Session::Options coalescing() {
    Session::Options options;
    options.coalesce = true;
    return options;
}

}  // namespace

TEST_CASE("reports messages that were sent together as far as they were echoed together") {
    const std::string lines = "a\n\nbc\nd\n";
    const std::size_t cut = GENERATE_COPY(range<std::size_t>(1, lines.size()));
    Pair pair(coalescing());
    CHECK(pair.client.session.send(lines.substr(0, lines.size() - 1)).count == 4);
    pair.client.session.flush();
    CHECK(pair.client.session.in_flight() == 4);
    pair.until_server_got(lines);
    pair.server.stream->write(lines.substr(0, cut));
    const std::string whole = lines.substr(0, lines.rfind('\n', cut - 1) + 1);
    const auto left =
        std::count(lines.begin(), lines.end(), '\n') -
        std::count(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(cut), '\n');
    turn_until(pair.loop, [&] {
        return pair.client.session.in_flight() == static_cast<std::size_t>(left);
    });
    CHECK(pair.client.reports <= 1);
    pair.server.stream->write(lines.substr(cut));
    pair.until_logged("right a=a;right =;right bc=bc;right d=d;");
    CHECK(pair.client.reports <= 2);
    CHECK(pair.client.ids_in_order);
}

TEST_CASE("times messages that were sent together as the system accepts them") {
    struct Timer : Client {
        using Client::Client;
        void session_answered(const Message& message, const Reply&) override {
            record(message.planned, message.sent, 1);
        }
        void session_echoed(const Batch& batch, std::optional<ev::Duration>) override {
            record(batch.first.planned, batch.first.sent, batch.count);
        }
        void record(ev::Time planned, ev::Time time, std::size_t count) {
            CHECK(time >= planned);
            answered += count;
            if (sent.empty() || sent.back() != time) sent.push_back(time);
        }
        std::uint64_t answered = 0;
        std::vector<ev::Time> sent;  // each time only once
    };
    VirtualLoop loop;
    ManualServer server(loop);
    Timer client(loop, server.port(), coalescing());
    turn_until(loop, [&] { return client.session.state() == State::open && server.stream; });
    server.stream->pause_reading(true);
    constexpr std::size_t count = 16 * 1024;
    std::string lines;
    for (std::size_t i = 0; i < count; ++i) lines += std::string(1023, 'x') + "\n";
    client.send(lines.substr(0, lines.size() - 1));
    CHECK(client.session.pending() > 0);
    server.stream->pause_reading(false);
    const auto all_answered = [&] {
        server.stream->write(std::exchange(server.got, {}));
        return client.answered == count;
    };
    loop.until(all_answered, 1us);
    CHECK(client.sent.size() > 2);
    CHECK(std::is_sorted(client.sent.begin(), client.sent.end()));
}

TEST_CASE("refuses a message that does not fit the framing or the limit") {
    const auto [framing, max_frame, longest] = GENERATE(
        table<const char*, std::size_t, std::size_t>({{"len1", 1000, 255}, {"line", 9, 9}}));
    Session::Options options;
    options.framing = find_framing(framing);
    options.max_frame = max_frame;
    Pair pair(options);
    CHECK_FALSE(pair.client.session.send(std::string(longest + 1, 'x')));
    CHECK(pair.client.session.send(std::string(longest, 'x')));
}

TEST_CASE("sends a message as long as the limit, however long that is") {
    Session::Options options;
    options.max_frame = 65 * 1024 * 1024;
    Pair pair(options);
    pair.client.send(std::string(options.max_frame, 'x'));
    CHECK((pair.client.session.state() == State::open));
}

TEST_CASE("finishes only after the replies have come") {
    Pair pair;
    REQUIRE(pair.client.session.send("a"));
    pair.client.session.finish();
    pair.until_server_got("a\n");
    CHECK_FALSE(pair.server.stream->input_ended());
    pair.server.stream->write("a\n");
    turn_until(pair.loop, [&] { return pair.server.stream->input_ended(); });
    CHECK(pair.client.log == "right a=a;");
    pair.server.stream->finish();
    pair.until_closed();
    CHECK((pair.client.session.end().reason == Reason::clean));
}

TEST_CASE("reports a peer that has answered all but stays open") {
    const bool in_time = GENERATE(true, false);
    Session::Options options;
    options.close_timeout = in_time ? 10s : 1ms;
    if (in_time) options.max_time = 50ms;
    Pair pair(options);
    pair.client.session.finish();
    pair.until_closed();
    CHECK((pair.client.session.end().reason == Reason::unclosed));
    CHECK(pair.client.session.end().text ==
          (in_time ? "the server did not close; not finished within 50ms (--max-time)"
                   : "the server did not close within 1ms (-q)"));
}

TEST_CASE("does not report a peer that stays open if nobody waits for its end") {
    Session::Options options;
    options.close_timeout = 0ms;
    Pair pair(options);
    pair.client.session.finish();
    pair.until_closed();
    CHECK((pair.client.session.end().reason == Reason::clean));
}

TEST_CASE("does not wait for a peer that has answered all but keeps sending") {
    Session::Options options;
    options.close_timeout = 100ms;
    Pair pair(options);
    pair.client.send("a");
    pair.client.session.finish();
    pair.until_server_got("a\n");
    pair.server.stream->write("a\n");
    const auto closed = [&] {
        pair.server.stream->write("tick\n");
        return pair.client.session.state() == State::closed;
    };
    pair.loop.until(closed, 1ms);
    CHECK((pair.client.session.end().reason == Reason::unclosed));
    CHECK(pair.client.log.starts_with("right a=a;unsolicited tick;"));
}

TEST_CASE("leaves a peer that neither answers in time nor closes") {
    Session::Options options;
    options.reply_timeout = options.close_timeout = 1ms;
    Pair pair(options);
    pair.client.send("a");
    pair.client.session.finish();
    pair.until_closed();
    CHECK(pair.client.log == "lost a;");
    CHECK((pair.client.session.end().reason == Reason::unclosed));
}

TEST_CASE("reports a message as truncated if the peer ends inside it") {
    Pair pair;
    pair.client.send("hello");
    pair.server.stream->write("hel");
    pair.server.stream->finish();
    pair.until_closed();
    CHECK((pair.client.session.end().reason == Reason::truncated));
    CHECK(pair.client.log == "unsolicited hel;lost hello;");
}

TEST_CASE("ends the connection if the peer closes its side while replies are expected") {
    Session::Options options;
    options.framing = find_framing(GENERATE("line", "len4", "raw"));
    options.expect = GENERATE(Expect::echo, Expect::any);
    options.closed_early = "closed before the end";
    Pair pair(options);
    const bool in_flight = GENERATE(false, true);
    if (in_flight) pair.client.send("a");
    pair.server.stream->finish();
    pair.until_closed();
    CHECK(pair.client.log == (in_flight ? "lost a;" : ""));
    CHECK((pair.client.session.end().reason == Reason::closed_early));
    CHECK(pair.client.session.end().text ==
          (in_flight ? "the server closed the connection after 0 of 1 replies"
                     : "closed before the end"));
}

TEST_CASE("retries after a peer closed its side, if that is allowed") {
    Session::Options options;
    options.retries = 1;
    options.retry_delay = 1ms;
    Pair pair(options);
    pair.server.stream->finish();
    turn_until(pair.loop, [&] { return pair.client.session.state() == State::waiting; });
    turn_until(pair.loop, [&] { return pair.client.session.state() == State::open; });
}

TEST_CASE("still sends to a peer that closed its side if no reply is expected") {
    Session::Options options;
    options.expect = Expect::none;
    Pair pair(options);
    pair.server.stream->finish();
    turn_until(pair.loop, [&] { return pair.client.session.input_ended(); });
    pair.client.send("a");
    pair.until_server_got("a\n");
    CHECK((pair.client.session.state() == State::open));
}

TEST_CASE("ends gracefully if both sides close in the same turn") {
    Pair pair;
    pair.client.send("a");
    pair.until_server_got("a\n");
    pair.server.stream->write("a\n");
    pair.server.stream->finish();
    turn_until(pair.loop, [&] { return pair.client.session.input_ended(); });
    pair.client.session.finish();
    pair.until_closed();
    CHECK((pair.client.session.end().reason == Reason::clean));
}

TEST_CASE("gives up a peer that takes nothing during the reply timeout") {
    Session::Options options;
    options.expect = GENERATE(Expect::echo, Expect::none);
    options.reply_timeout = 10ms;
    Pair pair(options);
    pair.server.stream->pause_reading(true);
    pair.client.send(std::string(20'000'000, 'x'));
    if (GENERATE(false, true)) pair.client.session.finish();
    pair.until_closed();
    CHECK((pair.client.session.end().reason == Reason::timeout));
    CHECK(pair.client.session.end().text.find("the server has stopped reading") !=
          std::string::npos);
}

TEST_CASE("does not restart the idle timeout when a reply becomes late") {
    Session::Options options;
    options.idle_timeout = 1h;
    options.reply_timeout = 40min;
    Pair pair(options);
    pair.client.send("a");
    pair.until_server_got("a\n");
    pair.loop.pass(40min);
    pair.until_logged("lost a;");
    pair.loop.pass(20min);
    pair.until_closed();
    CHECK((pair.client.session.end().reason == Reason::timeout));
}

TEST_CASE("takes no reply for a greeting if the first message is sent late") {
    Pair pair;
    pair.loop.pass(1s);
    pair.client.send("a");
    pair.server.stream->write("hello\n");
    pair.until_logged("wrong@0 a=hello;");
}

TEST_CASE("holds a wrong first reply as a possible greeting, and then reports it") {
    Pair pair;
    pair.client.send("a");
    pair.server.stream->write("hello\n");
    SECTION("an echo follows") {
        pair.server.stream->write("a\n");
        pair.until_logged("unsolicited hello;right a=a;");
    }
    SECTION("nothing follows") { pair.until_logged("wrong@0 a=hello;"); }
}

TEST_CASE("waits for the peer's end from ours on, however much the peer sends") {
    Session::Options options;
    options.expect = GENERATE(Expect::none, Expect::any);
    options.close_timeout = 50ms;
    Pair pair(options);
    pair.client.session.finish();
    const auto closed = [&] {
        pair.server.stream->write("tick\n");
        return pair.client.session.state() == State::closed;
    };
    pair.loop.until(closed, 1ms);
    CHECK((pair.client.session.end().reason == Reason::unclosed));
}

TEST_CASE("ends the session after a frame over the limit, with both numbers") {
    Session::Options options;
    options.framing = find_framing("len4");
    options.max_frame = 100;
    Pair pair(options);
    pair.server.stream->write(std::string("\0\0\1\0", 4));
    pair.until_closed();
    CHECK((pair.client.session.end().reason == Reason::limit));
    CHECK(pair.client.session.end().text.find("256 bytes exceeds the limit of 100") !=
          std::string::npos);
}

TEST_CASE("leaves replies unread while paused, and reads them afterwards") {
    Pair pair;
    pair.client.send("a");
    pair.client.session.pause(true);
    pair.server.stream->write("a\n");
    pair.loop.settle();
    const bool resets = GENERATE(false, true);
    resets ? pair.server.reset() : pair.server.stream->finish();
    pair.loop.settle();
    CHECK(pair.client.log.empty());
    CHECK((pair.client.session.state() == State::open));
    pair.client.session.pause(false);
    CHECK(pair.client.log.empty());  // nobody is called from inside its own call
    pair.until_closed();
    CHECK(pair.client.log == "right a=a;");
    const Reason reason = pair.client.session.end().reason;
    CHECK((reason == (resets ? Reason::receive : Reason::closed_early)));
}

TEST_CASE("lets no timeout pass while paused") {
    Session::Options options;
    options.reply_timeout = options.close_timeout = 20ms;
    options.idle_timeout = 20ms;
    const auto wait = [](Pair& pair) { pair.loop.pass(60ms); };
    SECTION("for replies") {
        Pair pair(options);
        pair.client.send("a");
        pair.client.session.pause(true);
        pair.server.stream->write("a\n");
        wait(pair);
        CHECK(pair.client.log.empty());
        pair.client.session.pause(false);
        pair.until_logged("right a=a;");
    }
    SECTION("for the peer's end") {
        options.expect = Expect::none;
        Pair pair(options);
        pair.client.session.finish();
        pair.client.session.pause(true);
        pair.server.stream->write("b\n");
        wait(pair);
        CHECK((pair.client.session.state() == State::finishing));
        pair.client.session.pause(false);
        pair.until_logged("unsolicited b;");
        pair.until_closed();
        CHECK((pair.client.session.end().reason == Reason::unclosed));
    }
}

TEST_CASE("adds each pause to the reply timeout") {
    Session::Options options;
    options.reply_timeout = 50ms;
    Pair pair(options);
    pair.client.send("a");
    int stops = 0;
    for (; stops < 20 && pair.client.log != "lost a;"; ++stops) {
        pair.client.session.pause(true);
        pair.loop.pass(30ms);
        pair.client.session.pause(false);
        pair.loop.pass(10ms);
    }
    CHECK(stops == 5);
}

TEST_CASE("extends the wait for the peer's end by the longest pause") {
    Session::Options options;
    options.expect = Expect::none;
    options.close_timeout = 50ms;
    Pair pair(options);
    pair.client.session.finish();
    const ev::Time finished = pair.loop.now();
    const auto stop = [&](ev::Duration length) {
        pair.client.session.pause(true);
        pair.loop.pass(length);
        pair.client.session.pause(false);
        pair.server.stream->write("tick\n");
        pair.loop.pass(1ms);
    };
    stop(400ms);
    for (int i = 0; i < 100 && pair.client.session.state() == State::finishing; ++i) stop(10ms);
    CHECK((pair.client.session.end().reason == Reason::unclosed));
    CHECK(pair.loop.now() - finished >= 450ms);
    CHECK(pair.loop.now() - finished < 480ms);
}

TEST_CASE("ends even if it pauses again as soon as it resumes") {
    Session::Options options;
    options.reply_timeout = options.close_timeout = 5ms;
    const bool awaits = GENERATE(true, false);
    Pair pair(options);
    if (awaits) pair.client.send("a");
    if (!awaits) pair.client.session.finish();
    pair.loop.pass(1ms);
    const auto over = [&] {
        pair.client.session.pause(true);
        pair.server.stream->write("tick\n");
        pair.loop.pass(5ms);
        pair.client.session.pause(false);
        pair.loop.step(0ms);
        return awaits ? !pair.client.log.empty() : pair.client.session.state() == State::closed;
    };
    int stops = 0;
    while (!over() && stops < 50) ++stops;
    CHECK(stops < 50);
}

TEST_CASE("times a round trip from the write to the read, or voids it") {
    struct Timer : Client {
        using Client::Client;
        void session_answered(const Message&, const Reply& reply) override {
            times.push_back(reply.round_trip);
        }
        std::vector<std::optional<ev::Duration>> times;
    };
    VirtualLoop loop;
    ManualServer server(loop);
    Timer client(loop, server.port());
    turn_until(loop, [&] { return client.session.state() == State::open && server.stream; });
    client.send("a");
    loop.pass(1234567ns);
    server.stream->write("a\n");
    turn_until(loop, [&] { return client.times.size() == 1; });
    CHECK(client.times[0] == 1234567ns);
    client.send("b");
    client.session.void_round_trips();
    server.stream->write("b\n");
    turn_until(loop, [&] { return client.times.size() == 2; });
    CHECK_FALSE(client.times[1]);
}

namespace {

// A system with the facts that the test sets. It counts the questions.
struct System {
    static inline std::optional<bufio::TcpFacts> facts;
    static inline int questions;
    static std::optional<bufio::TcpFacts> ask(int) {
        ++questions;
        return facts;
    }
    static Session::Options options() {
        questions = 0;
        facts.emplace();
        facts->min_rtt = 1ms;
        Session::Options made;
        made.mark_resent = true;
        made.tcp_facts = ask;
        return made;
    }
};

struct Marked : Client {
    using Client::Client;
    void session_answered(const Message& message, const Reply&) override {
        log += message.resent ? "resent " : "once ";
    }
    void session_lost(const Message& message) override {
        log += message.resent ? "lost, resent " : "lost ";
    }
};

// Time moves only by the round trips that the test makes.
struct MarkedPair {
    explicit MarkedPair(Session::Options options) : client(loop, server.port(), options) {
        turn_until(loop,
                   [&] { return client.session.state() == State::open && server.stream; });
    }
    // Sends a message, which is answered after `round_trip`.
    void exchange(ev::Duration round_trip) {
        client.send("a");
        turn_until(loop, [&] { return !server.got.empty(); });
        time += round_trip;
        server.stream->write(std::exchange(server.got, {}));
        const std::size_t before = client.log.size();
        turn_until(loop, [&] { return client.log.size() > before; });
    }

    static inline ev::Time time{1h};
    ev::Loop loop{[] { return time; }};
    ManualServer server{loop};
    Marked client;
};

}  // namespace

TEST_CASE("marks only the message during which a segment was retransmitted") {
    MarkedPair pair(System::options());
    pair.exchange(5ms);
    System::facts->retransmits = 1;
    pair.exchange(5ms);
    pair.exchange(5ms);
    CHECK(pair.client.log == "once resent once ");
}

TEST_CASE("asks the system about a connection at its beginning, its end and slow replies") {
    MarkedPair pair(System::options());
    CHECK(System::questions == 1);
    pair.exchange(1ms);
    CHECK(System::questions == 1);
    pair.exchange(2ms);
    CHECK(System::questions == 2);
    pair.client.session.disconnect();
    CHECK(System::questions == 3);
    System::facts.reset();  // the system is not asked about a connection that is gone
    REQUIRE(pair.client.session.tcp());
    CHECK(pair.client.session.tcp()->min_rtt == ev::Duration(1ms));
}

TEST_CASE("asks the system only at the end of a connection without the option") {
    Session::Options options = System::options();
    options.mark_resent = false;
    MarkedPair pair(options);
    System::facts->retransmits = 1;
    pair.exchange(1h);
    CHECK(System::questions == 0);
    CHECK(pair.client.log == "once ");
    pair.client.session.disconnect();
    CHECK(System::questions == 1);
}

TEST_CASE("asks a system without facts about connections only once, and marks nothing") {
    const Session::Options options = System::options();
    System::facts.reset();
    MarkedPair pair(options);
    pair.exchange(5ms);
    pair.exchange(5ms);
    CHECK(pair.client.log == "once once ");
    CHECK(System::questions == 1);
    CHECK_FALSE(pair.client.session.tcp());
}

TEST_CASE("marks a message that is late because its segment was lost") {
    Session::Options options = System::options();
    options.reply_timeout = 40min;
    MarkedPair pair(options);
    pair.client.send("a");
    pair.time += 40min;
    SECTION("resent") {
        System::facts->retransmits = 9;
        turn_until(pair.loop, [&] { return !pair.client.log.empty(); });
        CHECK(pair.client.log == "lost, resent ");
    }
    SECTION("not resent") {
        turn_until(pair.loop, [&] { return !pair.client.log.empty(); });
        CHECK(pair.client.log == "lost ");
    }
}

TEST_CASE("connects again after an end") {
    Pair pair;
    pair.client.session.disconnect();
    CHECK((pair.client.session.end().reason == Reason::aborted));
    pair.client.session.connect();
    turn_until(pair.loop, [&] { return pair.client.session.state() == State::open; });
}

namespace {

// Destroys its session in the first call of one kind.
struct Destroyer final : Session::User {
    enum class Call { opened, answered, echoed, lost, late, unsolicited, received, closed };

    Destroyer(ev::Loop& loop, Session::Options options, Call call)
        : session(std::make_unique<Session>(loop, std::move(options), *this)), at(call) {
        session->connect();
    }
    void session_changed() override {
        if (session->state() == State::open) destroy_at(Call::opened);
        if (session && session->state() == State::closed) destroy_at(Call::closed);
    }
    void session_answered(const Message&, const Reply&) override { destroy_at(Call::answered); }
    void session_echoed(const Batch&, std::optional<ev::Duration>) override {
        destroy_at(Call::echoed);
    }
    void session_lost(const Message& message) override {
        destroy_at(message.late ? Call::late : Call::lost);
    }
    void session_unsolicited(std::string_view) override { destroy_at(Call::unsolicited); }
    void session_received(std::string_view) override { destroy_at(Call::received); }

    void destroy_at(Call call) {
        REQUIRE(session);  // no callback follows once it is destroyed
        if (call == at) session.reset();
    }

    std::unique_ptr<Session> session;
    const Call at;
};

}  // namespace

TEST_CASE("can be destroyed in each of its callbacks") {
    using Call = Destroyer::Call;
    struct Case {
        Call call;
        const char* framing;
        const char* sent;
        const char* answer;
        bool server_closes;
    };
    const auto [call, framing, sent, answer, server_closes] =
        GENERATE(Case{Call::opened, "line", "a", "", false},
                 Case{Call::answered, "len1", "a", "\1a\1b", true},
                 Case{Call::echoed, "line", "a\nb", "a\nb\nc\n", true},
                 Case{Call::lost, "line", "a\nb", "b\n", true},
                 Case{Call::late, "line", "a\nb", "", false},
                 Case{Call::unsolicited, "line", "a", "a\nb\nc\nd", true},
                 Case{Call::unsolicited, "line", "a", "a\nb", true},
                 Case{Call::received, "raw", "a", "ab", true},
                 Case{Call::closed, "line", "a", "a\n", true});
    CAPTURE(int(call), framing);

    VirtualLoop loop;
    ManualServer server(loop);
    Session::Options options = Client::at(impatient(), server.port());
    options.framing = find_framing(framing);
    options.coalesce = call == Call::echoed;
    if (call != Call::late) options.reply_timeout = 1h;
    Destroyer client(loop, options, call);
    turn_until(loop, [&] {
        return server.stream && (!client.session || client.session->state() == State::open);
    });
    if (client.session) {
        client.session->send(sent);
        client.session->flush();
        server.stream->write(answer);
        if (server_closes) server.stream->finish();
    }
    turn_until(loop, [&] { return !client.session; });
    loop.settle();
}

TEST_CASE("reports a failure to connect, and applies the deadline to all phases together") {
    VirtualLoop loop;
    const int port = unused_port(loop);
    Client refused(loop, port);
    turn_until(loop, [&] { return refused.session.state() == State::closed; });
    CHECK((refused.session.end().reason == Reason::connect));

    ManualServer silent(loop);
    Session::Options options;
    options.tls = bufio::TlsContext::client({});
    options.connect_timeout = 20ms;
    Client hanging(loop, silent.port(), options);
    turn_until(loop, [&] { return hanging.session.state() == State::closed; });
    CHECK((hanging.session.end().reason == Reason::timeout));
    CHECK(hanging.session.end().text.find("within 20ms: still in the TLS handshake") !=
          std::string::npos);
}

namespace {

Session::Options persistent(unsigned retries) {
    Session::Options options;
    options.retries = retries;
    options.retry_delay = 1ms;
    return options;
}

}  // namespace

TEST_CASE("retries after a refused connection, as often as allowed") {
    VirtualLoop loop;
    const int port = unused_port(loop);
    Client client(loop, port, persistent(2));
    for (const unsigned number : {1u, 2u}) {
        turn_until(loop, [&] { return client.session.state() == State::waiting; });
        CHECK(client.session.retry() == number);
        CHECK(client.session.retry_time() >= client.session.since());
        CHECK((client.session.end().reason == Reason::connect));
        turn_until(loop, [&] { return client.session.state() != State::waiting; });
    }
    turn_until(loop, [&] { return client.session.state() == State::closed; });
    CHECK((client.session.end().reason == Reason::connect));
    client.session.connect();  // as the first try
    turn_until(loop, [&] { return client.session.state() == State::waiting; });
    CHECK(client.session.retry() == 1);
}

TEST_CASE("counts tries from one again once the service has sent something") {
    const bool talks = GENERATE(false, true);
    Pair pair(persistent(1));
    for (const State expected : {State::waiting, talks ? State::waiting : State::closed}) {
        turn_until(pair.loop, [&] {
            return pair.client.session.state() == State::open && pair.server.stream;
        });
        pair.client.log.clear();
        if (talks) pair.server.stream->write("hello\n");
        if (talks) pair.until_logged("unsolicited hello;");
        pair.server.reset();
        turn_until(pair.loop, [&] { return pair.client.session.state() != State::open; });
        CHECK((pair.client.session.state() == expected));
    }
}

TEST_CASE("continues --max-time over a reconnect by hand") {
    VirtualLoop loop;
    const int port = unused_port(loop);
    Session::Options options = persistent(Session::forever);
    options.max_time = 100ms;
    Client client(loop, port, options);
    const auto closed = [&] {
        if (client.session.state() == State::waiting) client.session.connect();
        return client.session.state() == State::closed;
    };
    loop.until(closed, 1ms);
    CHECK((client.session.end().reason == Reason::timeout));
}

TEST_CASE("counts the time that passed before towards --max-time") {
    Session::Options options;
    options.max_time = 7s;
    options.spent = GENERATE(4s, 6s);
    Pair pair(options);
    const ev::Time begin = pair.loop.now();
    pair.loop.until([&] { return pair.client.session.state() == State::closed; });
    const ev::Duration taken = pair.loop.now() - begin;
    CHECK((taken > 6900ms - options.spent && taken < 7100ms - options.spent));
    CHECK(pair.client.session.end().text == "not finished within 7s (--max-time)");
}

TEST_CASE("keeps the end of the session after --max-time has passed") {
    VirtualLoop loop;
    Session::Options options;
    options.max_time = 20ms;
    Client client(loop, unused_port(loop), options);
    turn_until(loop, [&] { return client.session.state() == State::closed; });
    const std::string end = client.session.end().text;
    loop.pass(2 * *options.max_time);
    CHECK(client.session.end().text == end);
}

TEST_CASE("is not disturbed by messages left over from the last connection") {
    Session::Options options = persistent(Session::forever);
    options.framing = find_framing(GENERATE("line", "caret"));
    const bool caret = options.framing == find_framing("caret");
    Pair pair(options);
    pair.client.send("abc");
    pair.server.stream->write(caret ? "*bX" : "long and not whole");
    turn_until(pair.loop, [&] { return pair.server.stream->pending() == 0; });
    pair.loop.settle();
    pair.server.reset();
    turn_until(pair.loop, [&] { return pair.client.session.state() == State::waiting; });
    turn_until(pair.loop, [&] {
        return pair.client.session.state() == State::open && pair.server.stream;
    });
    pair.client.log.clear();
    pair.client.send("abc");
    pair.server.stream->write(caret ? "*bcd" : "abX\n");
    pair.until_logged(caret ? "right abc=bcd;" : "wrong@2 abc=abX;");
}

TEST_CASE("ends the connect timeout when connected, and input restarts the idle timeout") {
    Session::Options options = persistent(Session::forever);
    options.connect_timeout = 20ms;
    SECTION("connecting") {
        Pair pair(options);
        pair.loop.pass(2 * options.connect_timeout);
        CHECK((pair.client.session.state() == State::open));
    }
    SECTION("idleness") {
        options.idle_timeout = 1h;
        options.retries = 0;
        Pair pair(options);
        pair.loop.pass(40min);
        pair.server.stream->write("hello\n");
        pair.until_logged("unsolicited hello;");
        pair.loop.pass(40min);
        pair.loop.settle();
        CHECK((pair.client.session.state() == State::open));
        pair.loop.pass(20min);
        pair.until_closed();
        CHECK((pair.client.session.end().reason == Reason::timeout));
    }
}

TEST_CASE("loses sent messages once after a reset, and sends the rest again") {
    Pair pair(persistent(Session::forever));
    pair.client.send("sent");
    pair.until_server_got("sent\n");
    // Sends more than the system accepts, and another message after it.
    const std::string big(20'000'000, 'x');
    pair.client.send(big);
    pair.client.send("kept");
    pair.server.reset();
    turn_until(pair.loop, [&] { return pair.client.session.state() == State::waiting; });
    CHECK((pair.client.log == "lost sent;"));
    CHECK(pair.client.session.in_flight() == 2);
    pair.server.got.clear();
    turn_until(pair.loop, [&] { return pair.server.got.size() >= big.size() + 6; });
    CHECK((pair.server.got == big + "\nkept\n"));
    pair.client.log.clear();
    pair.server.stream->write("kept\n");
    turn_until(pair.loop, [&] { return pair.client.log.size() > big.size(); });
    CHECK((pair.client.log.ends_with("right kept=kept;")));
}

TEST_CASE("ends a connection that turns out to be gone, whatever else is sent over it") {
    Pair pair(persistent(Session::forever));
    Session& session = pair.client.session;
    Reason reason = Reason::receive;
    SECTION("by the peer's reset") { pair.server.reset(); }
    SECTION("by a reset after the peer's end") {
        reason = Reason::closed_early;
        pair.server.stream->finish();
        turn_until(pair.loop, [&] { return session.input_ended(); });
        pair.server.reset();
    }
    pair.client.send("this finds it out");
    pair.client.send("before anybody notices");
    REQUIRE(session.send("and this"));
    session.finish();
    turn_until(pair.loop, [&] { return session.state() == State::waiting; });
    CHECK((session.end().reason == reason));
    CHECK(session.in_flight() == 3);
}

TEST_CASE("sends nothing again after a reset with raw") {
    Session::Options options = persistent(Session::forever);
    options.framing = find_framing("raw");
    options.retry_delay = 1h;
    Pair pair(options);
    pair.client.send(std::string(20'000'000, 'x'));
    pair.client.send("behind");
    pair.server.reset();
    turn_until(pair.loop, [&] { return pair.client.session.state() == State::waiting; });
    CHECK(pair.client.session.in_flight() == 0);
}

TEST_CASE("lets no message become late while it waits for the next connection") {
    Session::Options options = persistent(Session::forever);
    options.retry_delay = 1h;
    options.reply_timeout = 20ms;
    Pair pair(options);
    pair.client.send(std::string(20'000'000, 'x'));
    pair.server.reset();
    turn_until(pair.loop, [&] { return pair.client.session.state() == State::waiting; });
    pair.loop.pass(2 * options.reply_timeout);
    CHECK(pair.client.session.in_flight() == 1);
}

TEST_CASE("retries after a connection was lost in the TLS handshake") {
    VirtualLoop loop;
    ManualServer server(loop);
    Session::Options options = persistent(1);
    options.tls = bufio::TlsContext::client({});
    Client client(loop, server.port(), options);
    for (const State next : {State::waiting, State::closed}) {
        turn_until(loop, [&] { return server.stream && !server.got.empty(); });
        server.got.clear();
        server.stream.reset();
        turn_until(loop, [&] { return client.session.state() == next; });
        CHECK((client.session.end().reason == Reason::handshake_interrupted));
    }
}

TEST_CASE("keeps the times of the last connection's messages when it reconnects at once") {
    struct Timed : Client {
        using Client::Client;
        void session_answered(const Message& message, const Reply& reply) override {
            Client::session_answered(message, reply);
            round_trip = reply.round_trip;
        }
        void session_lost(const Message& message) override {
            Client::session_lost(message);
            sent = message.sent;
        }
        std::optional<ev::Duration> round_trip;
        ev::Time sent{};
    };
    VirtualLoop loop;
    ManualServer server(loop);
    Timed client(loop, server.port());
    turn_until(loop, [&] { return client.session.state() == State::open && server.stream; });
    client.send("a");
    client.send("b");
    server.stream->write("X\n");  // kept until the message that it answers is known
    loop.pass(1ms);
    client.session.disconnect();
    client.session.connect();
    turn_until(loop, [&] { return client.session.state() == State::open; });
    CHECK(client.log == "wrong@0 a=X;lost b;");
    REQUIRE(client.round_trip);
    CHECK(*client.round_trip <= 1s);
    CHECK(client.sent >= VirtualLoop::start);
}

TEST_CASE("cuts short or ends the wait for the next try by hand") {
    Session::Options options = persistent(Session::forever);
    options.retry_delay = 1h;
    Pair pair(options);
    pair.server.reset();
    turn_until(pair.loop, [&] { return pair.client.session.state() == State::waiting; });
    SECTION("connect") {
        pair.client.session.connect();
        turn_until(pair.loop, [&] { return pair.client.session.state() == State::open; });
        const ev::Time opened = pair.client.session.since();
        pair.loop.pass(2 * options.retry_delay);
        CHECK(pair.client.session.since() == opened);
    }
    SECTION("disconnect") {
        pair.client.session.disconnect();
        CHECK((pair.client.session.state() == State::closed));
        CHECK((pair.client.session.end().reason == Reason::receive));
    }
}

TEST_CASE("does not retry after a failure that another try can't fix") {
    SECTION("a peer that ended gracefully") {
        Pair pair(persistent(Session::forever));
        pair.server.stream->finish();
        pair.client.session.finish();
        pair.until_closed();
    }
    SECTION("a peer that went when all was sent") {
        Pair pair(persistent(Session::forever));
        pair.client.send("a");
        pair.client.session.finish();
        pair.until_server_got("a\n");
        pair.server.reset();
        pair.until_closed();
        CHECK(pair.client.log == "lost a;");
    }
    SECTION("idleness") {
        VirtualLoop loop;
        ManualServer server(loop);
        Session::Options options = persistent(Session::forever);
        options.idle_timeout = 10ms;
        Client client(loop, server.port(), options);
        turn_until(loop, [&] { return client.session.state() == State::closed; });
        CHECK((client.session.end().reason == Reason::timeout));
    }
    SECTION("a frame over the limit") {
        Session::Options options = persistent(Session::forever);
        options.max_frame = 1;
        Pair pair(options);
        pair.server.stream->write("long\n");
        pair.until_closed();
    }
    SECTION("a certificate") {
        VirtualLoop loop;
        test::SilentTlsServer server(loop);
        Session::Options options = persistent(Session::forever);
        options.tls = bufio::TlsContext::client({});
        Client client(loop, server.port(), options);
        turn_until(loop, [&] { return client.session.state() == State::closed; });
        CHECK((client.session.end().reason == Reason::certificate));
    }
}
