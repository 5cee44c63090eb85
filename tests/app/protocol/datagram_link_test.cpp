// Sessions with datagrams, in virtual time; the test itself answers them.

#include "app/protocol/session.hpp"
#include "bufio/datagram.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/virtual_time.hpp"

#include <functional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;
using bufio::Reason;
using State = Session::State;
using test::turn_until;
using test::VirtualLoop;

namespace {

// Records the datagrams that it receives, and answers only when the test makes it.
struct Server final : bufio::DatagramSocket::User {
    explicit Server(ev::Loop& loop, const bufio::Address& address = test::any_loopback_port())
        : socket(loop, address, user()) {}
    void datagrams_received(std::span<const bufio::Datagram> datagrams) override {
        for (const bufio::Datagram& each : datagrams) {
            got.emplace_back(each.bytes);
            peer = each.peer;
        }
    }
    void send(std::string_view bytes) {
        REQUIRE(socket.send(bytes, peer));
        socket.flush();
    }
    bufio::DatagramSocket::User& user() { return *this; }

    std::vector<std::string> got;
    bufio::Address peer;
    bufio::DatagramSocket socket;
};

struct Client final : Session::User {
    Client(ev::Loop& loop, int port, Session::Options options)
        : session(std::make_unique<Session>(loop, at(std::move(options), port), *this)) {
        session->connect();
    }
    static Session::Options at(Session::Options options, int port) {
        options.endpoint.host = "127.0.0.1";
        options.endpoint.service = std::to_string(port);
        options.endpoint.datagrams = true;
        options.framing = datagram_framing();
        return options;
    }
    void session_changed() override {
        if (on_change) on_change();
    }
    void session_answered(const Message& message, const Reply& reply) override {
        log += std::string(reply.right ? "right " : "wrong ") + std::string(message.payload) +
               (message.late ? " late;" : ";");
        if (on_answer) on_answer();
    }
    void session_lost(const Message& message) override {
        log += "lost " + std::string(message.payload) + ";";
    }
    void session_unsolicited(std::string_view payload) override {
        log += "unsolicited " + std::string(payload) + ";";
    }
    void session_duplicate(std::string_view payload) override {
        log += "repeated " + std::string(payload) + ";";
    }
    void send(const std::string& text) {
        REQUIRE(session->send(text));
        session->flush();
    }

    std::string log;
    std::function<void()> on_change;
    std::function<void()> on_answer;
    std::unique_ptr<Session> session;
};

struct Pair {
    explicit Pair(Session::Options options = {})
        : client(loop, server.socket.address().port(), std::move(options)) {
        turn_until(loop, [&] { return client.session->state() == State::open; });
    }
    void send(const std::string& text) {
        const std::size_t before = server.got.size();
        client.send(text);
        turn_until(loop, [&] { return server.got.size() > before; });
        CHECK(server.got.back() == text);
    }
    void until_logged(const std::string& log) {
        turn_until(loop, [&] { return client.log.size() >= log.size(); });
        CHECK(client.log == log);
    }
    void until_closed() {
        turn_until(loop, [&] { return client.session->state() == State::closed; });
    }

    VirtualLoop loop;
    Server server{loop};
    Client client;
};

}  // namespace

TEST_CASE("replies to later datagrams do not extend the reply timeout of an earlier one") {
    Session::Options options;
    options.reply_timeout = 20ms;
    Pair pair(options);
    pair.send("a");
    int turns = 0;
    const auto talk = [&] {
        const std::string text = "b" + std::to_string(turns);
        pair.client.send(text);
        pair.server.send(text);
        return pair.client.log.find("lost a;") != std::string::npos || ++turns == 100;
    };
    pair.loop.until(talk, 1ms);
    CHECK(turns < 30);
}

TEST_CASE("sends each message, even an empty one, as a datagram, and matches its reply") {
    Pair pair;
    for (const std::string text : {"hello", ""}) {
        pair.client.log.clear();
        pair.send(text);
        CHECK(pair.client.session->in_flight() == 1);
        pair.server.send(text);
        pair.until_logged("right " + text + ";");
        CHECK(pair.client.session->in_flight() == 0);
    }
    CHECK(pair.client.session->options().framing->datagrams);
    CHECK_FALSE(pair.client.session->has_back_pressure());
}

TEST_CASE("refuses a message that is too long for a datagram, and sends nothing") {
    Pair pair;
    CHECK_FALSE(pair.client.session->send(std::string(65508, 'x')));
    CHECK(pair.client.session->in_flight() == 0);
    CHECK(pair.client.session->send(std::string(65507, 'x')));
}

TEST_CASE("counts a reply after the reply timeout as late instead of lost") {
    Pair pair;
    pair.send("a");
    pair.loop.pass(4999ms);
    CHECK(pair.client.log.empty());
    pair.loop.pass(1ms);
    CHECK(pair.client.log == "lost a;");
    pair.server.send("a");
    pair.until_logged("lost a;right a late;");
    pair.server.send("a");
    pair.until_logged("lost a;right a late;repeated a;");
}

TEST_CASE("waits after finish() for replies in flight, and a moment for late replies") {
    Pair pair;
    pair.send("a");
    pair.send("b");
    pair.client.session->finish();
    pair.server.send("b");
    pair.until_logged("right b;");
    pair.loop.pass(4s);
    CHECK(pair.client.session->state() == State::finishing);
    pair.loop.pass(1s);
    CHECK(pair.client.log == "right b;lost a;");
    CHECK(pair.client.session->state() == State::finishing);
    pair.server.send("a");
    pair.until_logged("right b;lost a;right a late;");
    pair.until_closed();
    CHECK(pair.client.session->end().reason == Reason::clean);
}

TEST_CASE("reports an unused port with the sentence of a refused connection") {
    VirtualLoop loop;
    const int port = Server(loop).socket.address().port();
    Client client(loop, port, {});
    turn_until(loop, [&] { return client.session->state() == State::open; });
    client.send("a");
    turn_until(loop, [&] { return client.session->state() == State::closed; });
    CHECK(client.log == "lost a;");
    CHECK(client.session->end().reason == Reason::connect);
    CHECK(client.session->end().text ==
          "cannot connect to 127.0.0.1:" + std::to_string(port) + ": Connection refused");
}

TEST_CASE("retries after a refusal if that is allowed") {
    Session::Options options;
    options.retries = 1;
    VirtualLoop loop;
    const int port = Server(loop).socket.address().port();
    Client client(loop, port, options);
    turn_until(loop, [&] { return client.session->state() == State::open; });
    client.send("a");
    turn_until(loop, [&] { return client.session->state() == State::waiting; });
    CHECK(client.session->retry() == 1);
    turn_until(loop, [&] { return client.session->state() == State::open; });
    client.send("b");
    turn_until(loop, [&] { return client.session->state() == State::closed; });
    CHECK(client.log == "lost a;lost b;");
}

TEST_CASE("knows the peer once a reply has come, and until then reports a refusal as the end") {
    Session::Options options;
    options.retries = Session::forever;
    VirtualLoop loop;
    auto server = std::make_unique<Server>(loop);
    const bufio::Address address = server->socket.address();
    Client client(loop, address.port(), options);
    const Session& session = *client.session;
    const auto until = [&](State state) {
        turn_until(loop, [&] { return session.state() == state; });
    };
    until(State::open);
    CHECK_FALSE(session.peer_known());
    CHECK_FALSE(session.end());
    client.send("a");
    turn_until(loop, [&] { return server->got.size() == 1; });
    server->send("a");
    turn_until(loop, [&] { return session.peer_known(); });
    server.reset();
    client.send("b");
    until(State::waiting);
    until(State::open);
    CHECK_FALSE(session.peer_known());
    CHECK(session.end().reason == Reason::connect);
    SECTION("finishing keeps it") {
        client.session->finish();
        until(State::closed);
        CHECK(session.end().reason == Reason::connect);
    }
    SECTION("disconnecting keeps it") {
        client.session->disconnect();
        until(State::closed);
        CHECK(session.end().reason == Reason::connect);
    }
    SECTION("connecting again forgets it") {
        client.session->disconnect();
        client.session->connect();
        until(State::open);
        CHECK_FALSE(session.end());
    }
    SECTION("a reply revokes it") {
        Server again(loop, address);
        client.send("c");
        turn_until(loop, [&] { return again.got.size() == 1; });
        again.send("c");
        turn_until(loop, [&] { return session.peer_known(); });
        CHECK_FALSE(session.end());
    }
}

TEST_CASE("ends the wait for the next try once it is cut short") {
    Session::Options options;
    options.retries = 1;
    options.retry_delay = 1h;
    VirtualLoop loop;
    Client client(loop, Server(loop).socket.address().port(), options);
    turn_until(loop, [&] { return client.session->state() == State::open; });
    client.send("a");
    turn_until(loop, [&] { return client.session->state() == State::waiting; });
    client.session->connect();
    turn_until(loop, [&] { return client.session->state() == State::open; });
    bool changed = false;
    client.on_change = [&] { changed = true; };
    loop.pass(2 * options.retry_delay);
    CHECK_FALSE(changed);
}

TEST_CASE("reads nothing while paused, and lets no reply become late meanwhile") {
    Pair pair;
    pair.send("a");
    pair.client.session->pause(true);
    pair.server.send("a");
    pair.loop.pass(1h);
    CHECK(pair.client.log.empty());
    pair.client.session->pause(false);
    pair.until_logged("right a;");
}

TEST_CASE("adds pauses of reading to the reply timeout of a datagram") {
    Session::Options options;
    options.reply_timeout = 50ms;
    Pair pair(options);
    pair.send("a");
    int stops = 0;
    for (; stops < 20 && pair.client.log != "lost a;"; ++stops) {
        pair.client.session->pause(true);
        pair.loop.pass(30ms);
        pair.client.session->pause(false);
        pair.loop.pass(10ms);
    }
    CHECK(stops == 5);
}

TEST_CASE("ends in time although the server keeps sending and reading pauses") {
    Session::Options options;
    options.close_timeout = 50ms;
    const ev::Duration stop = GENERATE(0ms, 10ms);
    Pair pair(options);
    pair.send("a");
    pair.server.send("a");
    pair.until_logged("right a;");
    pair.client.session->finish();
    const ev::Time finished = pair.loop.now();
    int turns = 0;
    while (pair.client.session->state() == State::finishing && ++turns < 200) {
        pair.client.session->pause(true);
        pair.loop.pass(stop);
        pair.client.session->pause(false);
        pair.server.send("tick");
        pair.loop.pass(1ms);
    }
    CHECK(pair.loop.now() - finished <= 50ms + stop + 2 * (stop + 1ms));
    CHECK(pair.client.session->end().reason == Reason::clean);
}

TEST_CASE("applies the timeouts to datagrams") {
    Session::Options options;
    const bool idle = GENERATE(true, false);
    (idle ? options.idle_timeout : options.max_time) = 3s;
    if (const bool spent = GENERATE(false, true); spent && !idle) {
        options.max_time = 7s;
        options.spent = 4s;
    }
    Pair pair(options);
    pair.send("a");
    pair.loop.pass(2s);
    CHECK(pair.client.session->state() == State::open);
    pair.loop.pass(1s);
    CHECK(pair.client.session->state() == State::closed);
    CHECK(pair.client.session->end().reason == Reason::timeout);
    CHECK(pair.client.log == "lost a;");
    CHECK(pair.client.session->out_of_time() == !idle);
}

TEST_CASE("lets the user close or destroy the session in each callback") {
    const int what = GENERATE(0, 1, 2, 3);
    Pair pair;
    const auto act = [&] {
        if (what % 2 == 0) pair.client.session.reset();
        if (pair.client.session) pair.client.session->disconnect();
    };
    pair.send("a");
    pair.send("b");
    (what < 2 ? pair.client.on_answer : pair.client.on_change) = act;
    pair.server.send("a");
    pair.server.send("b");
    turn_until(pair.loop, [&] {
        return !pair.client.session || pair.client.session->state() == State::closed;
    });
    pair.loop.settle();
    CHECK(pair.client.log.starts_with("right a;"));
}
