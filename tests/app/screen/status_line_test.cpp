// Every state of a connection has its words in the status line.

#include "app/screen/status_line.hpp"

#include "bufio/listen.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"
#include "ui/glyphs.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using State = Session::State;
using test::turn_until;

namespace {

// A session with a server that accepts connections and sends nothing.
struct Line final : test::NoUser {
    explicit Line(Session::Options options = {})
        : listener(
              loop, test::any_loopback_port(),
              [this](bufio::Fd socket, const bufio::Address&) { held = std::move(socket); }),
          session(loop, target(std::move(options), listener.address().port()), *this) {}

    static Session::Options target(Session::Options options, int port) {
        if (options.endpoint.host.empty()) options.endpoint.host = "127.0.0.1";
        if (options.endpoint.service.empty()) options.endpoint.service = std::to_string(port);
        return options;
    }

    void until(State state) {
        turn_until(loop, [&] { return session.state() == state; });
    }
    void open() {
        session.connect();
        turn_until(loop, [&] { return session.state() == State::open && held; });
    }
    std::string words(ev::Duration later = 400ms) const {
        return state_words(session, session.since() + later);
    }

    ev::Loop loop;
    bufio::Fd held;
    bufio::Listener listener;
    Session session;
};

// A port with a full queue of connections, so that another one waits.
class Backlog {
public:
    Backlog() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        name_.sin_family = AF_INET;
        name_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof name_;
        ::bind(listener_.get(), name(), size);
        ::listen(listener_.get(), 0);
        ::getsockname(listener_.get(), name(), &size);
        for (bufio::Fd& socket : waiting_) {
            socket = bufio::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
            ::connect(socket.get(), name(), size);
        }
    }
    std::string port() const { return std::to_string(ntohs(name_.sin_port)); }

private:
    sockaddr* name() { return reinterpret_cast<sockaddr*>(&name_); }

    sockaddr_in name_{};
    bufio::Fd listener_;
    bufio::Fd waiting_[4];
};

Session::Options with_tls(const bufio::TlsClientOptions& tls) {
    Session::Options options;
    options.tls = bufio::TlsContext::client(tls);
    return options;
}

std::string text_of(const std::vector<Part>& parts) {
    std::string text;
    for (const Part& part : parts) text += part.text;
    return text;
}

}  // namespace

TEST_CASE("the words before and while connecting") {
    Backlog backlog;
    Session::Options options;
    options.endpoint.service = backlog.port();
    Line line(std::move(options));
    CHECK(line.words() == "idle");
    line.session.connect();
    const std::string expected = "connecting 127.0.0.1:" + backlog.port() + " 3.2s/10s";
    turn_until(line.loop, [&] { return line.words(3200ms) == expected; });
}

TEST_CASE("the words while a name is looked up") {
    Session::Options options;
    options.endpoint.host = "localhost";
    Line line(std::move(options));
    line.session.connect();
    CHECK(line.words() == "resolving 0.4s/10s");
}

TEST_CASE("the words during the TLS handshake") {
    Line line(with_tls({}));
    line.session.connect();
    line.until(State::handshaking);
    CHECK(line.words() == "handshake 0.4s");
}

TEST_CASE("the words while the connection is open and while it closes") {
    Line line;
    line.open();
    CHECK(line.words(12s) == "up 00:12");
    CHECK(line.words(1h + 2min + 3s) == "up 1:02:03");
    line.session.send("hello");
    line.session.finish();
    CHECK(line.words() == "closing 0.4s");
}

TEST_CASE("a datagram session is only ready until a reply has come") {
    ev::Loop loop;
    test::NoUser user;
    Session::Options options;
    options.endpoint.host = "127.0.0.1";
    options.endpoint.service = "9";
    options.endpoint.datagrams = true;
    options.framing = datagram_framing();
    const auto session = std::make_unique<Session>(loop, std::move(options), user);
    session->connect();
    turn_until(loop, [&] { return session->state() == State::open; });
    CHECK(state_words(*session, session->since() + 12s) == "ready 00:12");
    CHECK(text_of(status_parts(*session, {}, {}, session->since()))
              .starts_with(ui::glyph::disconnected.text() + " ready"));
}

TEST_CASE("a half-close by the server shows only if no replies are expected") {
    Session::Options options;
    options.expect = GENERATE(Expect::none, Expect::echo);
    const bool half = options.expect == Expect::none;
    Line line(std::move(options));
    line.open();
    ::shutdown(line.held.get(), SHUT_WR);
    turn_until(line.loop, [&] { return line.session.input_ended(); });
    CHECK(line.words(0s) == (half ? "half-closed (server)" : "up 00:00"));
}

TEST_CASE("the words while waiting for the next try") {
    Session::Options options;
    options.retries = Session::forever;
    SECTION("after a refusal") {
        options.endpoint.service = "1";
        Line line(std::move(options));
        line.session.connect();
        line.until(State::waiting);
        CHECK(state_words(line.session, line.session.retry_time() - 4100ms) ==
              "refused; retry 1 in 4.1s (M-r now)");
    }
    SECTION("after a time-out") {
        options.tls = bufio::TlsContext::client({});
        options.connect_timeout = 30ms;
        Line line(std::move(options));
        line.session.connect();
        line.until(State::waiting);
        CHECK(line.words(0s).starts_with("timed out; retry 1 in "));
    }
    SECTION("after a failed look-up") {
        options.endpoint.host = "no.such";
        options.endpoint.numeric = true;
        Line line(std::move(options));
        line.session.connect();
        line.until(State::waiting);
        CHECK(line.words(0s).starts_with("unknown host; retry 1 in "));
    }
    SECTION("after a loss") {
        Line line(std::move(options));
        line.open();
        const linger reset{1, 0};
        ::setsockopt(line.held.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        line.held = {};
        line.until(State::waiting);
        CHECK(line.words(0s).starts_with("connection lost; retry 1 in "));
    }
}

TEST_CASE("the words when the connection is closed") {
    Line line;
    line.open();
    line.session.disconnect();
    CHECK(line.words() == "closed: disconnected");
}

TEST_CASE("the words for a certificate that is not trusted") {
    ev::Loop loop;
    test::SilentTlsServer server(loop);
    bufio::TlsClientOptions tls;
    tls.verify = GENERATE(true, false);
    Session::Options options = with_tls(tls);
    options.endpoint.service = std::to_string(server.port());
    Line line(std::move(options));
    line.session.connect();
    turn_until(loop, [&] {
        line.loop.step(1ms);
        return line.session.state() == State::open || line.session.state() == State::closed;
    });
    if (tls.verify) {
        CHECK(line.words() == "CERT REFUSED (M-i shows it)");
    } else {
        const auto parts = status_parts(line.session, {}, {}, line.session.since());
        CHECK(text_of(parts).find("UNVERIFIED (-k)") != std::string::npos);
    }
}

TEST_CASE("the target and the version of TLS come before the times") {
    ev::Loop loop;
    test::SilentTlsServer server(loop);
    bufio::TlsClientOptions tls;
    tls.verify = false;
    Session::Options options = with_tls(tls);
    options.endpoint.service = std::to_string(server.port());
    Line line(std::move(options));
    line.session.connect();
    turn_until(loop, [&] {
        line.loop.step(1ms);
        return line.session.state() == State::open;
    });
    Results tally;
    tally.sent = tally.echoed = 20;
    const ev::Duration time = GENERATE(210us, 5200us, 12ms, 1400ms);
    tally.round_trips.record(time);
    const auto parts = status_parts(line.session, tally, {time}, line.session.since());
    const std::string target = " tls://127.0.0.1:" + std::to_string(server.port());
    const std::size_t needed =
        ("* up 00:00" + target + " TLS1.3 UNVERIFIED (-k) | 20^ 20v 0~ 0x 0?").size();
    for (std::size_t width = 40; width < 160; ++width) {
        const std::string text = ui::plain_text(fit_status(parts, static_cast<int>(width)));
        CAPTURE(text);
        CHECK((text.find(target + " TLS1.3 ") != text.npos) == (width >= needed));
    }
}

TEST_CASE("a round trip of any length takes the same columns") {
    Line line;
    line.open();
    const auto width = [&](ev::Duration time) {
        Results tally;
        tally.round_trips.record(time);
        return text_of(status_parts(line.session, tally, {time}, line.session.since())).size();
    };
    CHECK(width(9ms) == width(210us));
    CHECK(width(99ms) == width(210us));
    CHECK(width(1400ms) == width(210us));
}

TEST_CASE("unsolicited messages are counted if there are any") {
    Line line;
    line.open();
    Results tally;
    const auto text = [&] {
        return text_of(status_parts(line.session, tally, {}, line.session.since()));
    };
    CHECK(text().ends_with("0?"));
    tally.unsolicited = 2;
    CHECK(text().ends_with("0?2<<"));
}

TEST_CASE("parts are dropped by their priority as the width shrinks, the state never") {
    Line line;
    line.open();
    Results tally;
    const std::string port = std::to_string(line.listener.address().port());
    const std::string address = "tcp://127.0.0.1:" + port;
    const auto fitted = [&](int width, std::deque<ev::Duration> times = {}) {
        for (const ev::Duration time : times) tally.round_trips.record(time);
        const auto parts = status_parts(line.session, tally, times, line.session.since() + 12s);
        const ui::Row row = fit_status(parts, width);
        CHECK(ui::display_width(row) == width);
        const std::string text = ui::plain_text(row);
        return text.substr(0, text.find_last_not_of(' ') + 1);
    };
    SECTION("counts come before the address") {
        CHECK(fitted(80) == "* up 00:12 " + address + " line | 0^ 0v 0~ 0x 0?");
        CHECK(fitted(40) == "* up 00:12 | 0^ 0v 0~ 0x 0?");
        CHECK(fitted(30) == "* up 00:12 | 0^ 0v 0~ 0x 0?");
        CHECK(fitted(20) == "* up 00:12 | 0^ 0v");
        CHECK(fitted(6) == "* up 0");
        CHECK(fitted(1) == "*");
    }
    SECTION("but without a connection the address comes first") {
        line.session.disconnect();
        CHECK(fitted(48) == "- closed: disconnected " + address);
    }
    SECTION("so does the last round trip") {
        CHECK(fitted(40, {210us}) == "* up 00:12 | 0^ 0v 0~ 0x 0? | 0.21ms");
        CHECK(fitted(40, {12ms}) == "* up 00:12 | 0^ 0v 0~ 0x 0? |   12ms");
    }
    SECTION("failures come before everything else") {
        tally.bad = 7;
        tally.lost = 12;
        CHECK(fitted(40) == "* up 00:12 | 0^ 0v 0~ 7x 12?");
        CHECK(fitted(20) == "* up 00:12 | 7x 12?");
        CHECK(fitted(16) == "* up 00:12 | 7x");
    }
}
