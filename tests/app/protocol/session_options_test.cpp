#include "app/protocol/session_options.hpp"

#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"

#include <climits>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

ev::Time at(ev::Duration time) { return ev::Time(1h + time); }

// Returns the deadlines that are set, in milliseconds.
std::map<std::string, long> shown(Deadlines all) {
    static const char* const names[] = {"attempt", "run",      "idle",  "ping", "output",
                                        "reply",   "greeting", "quiet", "end",  "early_close"};
    std::map<std::string, long> set;
    for (std::size_t i = 0; i < deadline_count; ++i)
        if (all.at(i) != ev::Time::max()) set[names[i]] = (all.at(i) - at(0ms)) / 1ms;
    return set;
}

SessionOptions all_options() {
    SessionOptions options;
    options.idle_timeout = 60s;
    options.ping = 20s;
    options.reply_timeout = 2s;
    options.close_timeout = 3s;
    return options;
}

Situation connected(SessionState state) {
    return {.state = state, .entered = at(0ms), .connected = true, .active = at(1ms)};
}

// A situation, and all deadlines that it has.
struct Row {
    const char* name;
    SessionState state;
    std::function<void(Situation&)> change;
    std::map<std::string, long> expected;
};

}  // namespace

TEST_CASE("the deadlines follow from the situation") {
    using S = Situation;
    using enum SessionState;
    const Row rows[] = {
        {"an attempt",
         dialing,
         [](S& s) { s = {.state = dialing, .attempt = at(9s)}; },
         {{"attempt", 9000}}},
        {"without a connection, nothing else counts",
         closed,
         [](S& s) {
             s.connected = false;
             s.run = at(99s);
             s.awaited = s.greeted = s.peer_ended = at(1s);
         },
         {{"run", 99000}}},
        {"a handshake",
         handshaking,
         [](S& s) { s.attempt = at(10s); },
         {{"attempt", 10000}, {"idle", 60001}}},
        {"an open connection", open, [](S&) {}, {{"idle", 60001}, {"ping", 20001}}},
        {"a ping postpones the next",
         open,
         [](S& s) { s.pinged = at(5s); },
         {{"idle", 60001}, {"ping", 25000}}},
        {"a pong is awaited",
         open,
         [](S& s) {
             s.pinged = at(5s);
             s.pong_awaited = true;
         },
         {{"idle", 60001}, {"ping", 7000}}},
        {"a reply is awaited",
         open,
         [](S& s) {
             s.in_flight = true;
             s.awaited = at(7ms);
         },
         {{"idle", 60001}, {"ping", 20001}, {"reply", 2007}}},
        {"the first reply may be a greeting",
         open,
         [](S& s) { s.greeted = at(8ms); },
         {{"idle", 60001}, {"ping", 20001}, {"greeting", 508}}},
        {"the peer accepts no output",
         open,
         [](S& s) {
             s.unsent = true;
             s.accepted = at(9ms);
         },
         {{"idle", 60001}, {"ping", 20001}, {"output", 2009}}},
        {"the peer closes early",
         open,
         [](S& s) { s.peer_ended = at(10ms); },
         {{"idle", 60001}, {"ping", 20001}, {"early_close", 10}}},
        {"replies are missing at the end",
         finishing,
         [](S& s) {
             s.in_flight = true;
             s.awaited = at(1ms);
             s.heard = at(2ms);
         },
         {{"idle", 60001}, {"reply", 2001}, {"quiet", 502}}},
        {"they are missing after our end",
         finishing,
         [](S& s) {
             s.in_flight = s.closing = true;
             s.awaited = at(1ms);
         },
         {{"idle", 60001}, {"reply", 2001}}},
        {"the end of the peer",
         finishing,
         [](S& s) { s.max_pause = 5ms; },
         {{"idle", 60001}, {"end", 3005}}},
        {"a pause suspends what was not due before it",
         open,
         [](S& s) {
             s.attempt = s.run = at(5s);
             s.awaited = at(1s);
             s.greeted = at(3s);
             s.paused_at = at(3s);
         },
         {{"attempt", 5000}, {"run", 5000}, {"reply", 3000}}},
        {"after a pause, the remaining time runs",
         open,
         [](S& s) {
             s.awaited = at(1s);
             s.paused_at = at(2s);
             s.greeted = at(4s);  // during the pause
             s.resume(at(12s));
         },
         {{"idle", 70001}, {"ping", 30001}, {"reply", 13000}, {"greeting", 12500}}},
    };
    for (const Row& row : rows) DYNAMIC_SECTION(row.name) {
            Situation situation = connected(row.state);
            row.change(situation);
            CHECK(shown(deadlines(situation, all_options())) == row.expected);
        }
}

TEST_CASE("a client that has closed its side is waited for while it can be answered") {
    ev::Loop loop;
    test::ManualClient client(loop);
    SessionOptions options;
    options.endpoint.acceptor = &client.acceptor;
    Situation s = connected(SessionState::open);
    s.peer_ended = at(10ms);
    const auto early_close = [&] { return shown(deadlines(s, options)).at("early_close"); };
    CHECK(early_close() == 510);
    options.websocket.emplace();
    CHECK(early_close() == 10);
    s.unsent = true;
    CHECK(early_close() == 510);
}

TEST_CASE("with datagrams the end is the linger time, which datagrams restart up to -q") {
    SessionOptions options;
    options.endpoint.udp = true;
    options.close_timeout = 300ms;
    Situation s = connected(SessionState::finishing);
    const auto end = [&] { return shown(deadlines(s, options)).at("end"); };
    s.all_answered = at(10ms);
    CHECK(end() == 110);
    s.max_round_trip = 50ms;
    CHECK(end() == 210);
    s.max_round_trip = 1h;
    CHECK(end() == 310);
    s.active = at(250ms);
    CHECK(end() == 310);
    s.max_round_trip = {};
    CHECK(end() == 300);
}

TEST_CASE(
    "the waits between attempts double up to half a minute, each shortened by at most half") {
    const struct {
        ev::Duration first;
        std::vector<ev::Duration> whole;
    } rows[] = {
        {500ms, {500ms, 1s, 2s, 4s, 8s, 16s, 30s, 30s}},
        {60s, {60s, 60s}},
        {0s, {0s, 0s}},
    };
    for (const auto& [first, whole] : rows)
        for (unsigned i = 0; i < whole.size(); ++i)
            for (unsigned seed = 0; seed < 100; ++seed) {
                std::minstd_rand random(seed);
                const ev::Duration wait = retry_wait(first, i, random);
                CHECK(wait >= whole[i] / 2);
                CHECK(wait <= whole[i]);
            }
    std::minstd_rand random(1);
    CHECK(retry_wait(0s, UINT_MAX, random) == 0s);
    CHECK(retry_wait(1s, 0, random) != retry_wait(1s, 0, random));
}

TEST_CASE("a target is named with its scheme and path") {
    SessionOptions options;
    options.endpoint.host = "::1";
    options.endpoint.service = "7";
    CHECK(options.target() == "tcp://[::1]:7");
    options.websocket.emplace().path = "/chat?x";
    CHECK(options.target() == "ws://[::1]:7/chat?x");
    CHECK(options.handshake() == "WebSocket");
    options.tls = bufio::TlsContext::client(bufio::TlsClientOptions());
    CHECK(options.target() == "wss://[::1]:7/chat?x");
    CHECK(options.handshake() == "TLS and WebSocket");
    options.websocket.reset();
    CHECK(options.target() == "tls://[::1]:7");
    CHECK(options.handshake() == "TLS");
    options.tls.reset();
    options.endpoint.udp = true;
    CHECK(options.target() == "udp://[::1]:7");
    options.endpoint.path = "/run/echo";
    CHECK(options.target() == "unix:/run/echo");
}

TEST_CASE("explains an end with the option that may help") {
    const std::string hello =
        "; the server did not answer a ClientHello of 1449 bytes, which exceeds "
        "one TCP segment and is too large for some servers and "
        "middleboxes";
    using Facts = bufio::TlsFacts;
    struct Row {
        bufio::Reason reason;
        void (*set)(Facts& facts);
        std::string remark;
    };
    const Row rows[] = {
        {bufio::Reason::timeout, [](Facts&) {}, ""},
        {bufio::Reason::timeout, [](Facts& tls) { tls.unanswered_hello_size = 1448; }, ""},
        {bufio::Reason::timeout, [](Facts& tls) { tls.unanswered_hello_size = 1449; },
         hello + "; --groups X25519 makes it smaller"},
        {bufio::Reason::handshake_interrupted,
         [](Facts& tls) {
             tls.unanswered_hello_size = 1449;
             tls.default_groups = false;
         },
         hello},
        {bufio::Reason::tls, [](Facts& tls) { tls.unanswered_hello_size = 1449; }, ""},
        {bufio::Reason::own_certificate, [](Facts&) {}, ""},
        {bufio::Reason::own_certificate, [](Facts& tls) { tls.subject = "CN=a"; },
         "; use --cert FILE and --key FILE"},
        {bufio::Reason::certificate, [](Facts& tls) { tls.untrusted = true; },
         "; to accept it: --cacert FILE, --pinnedpubkey P, or -k"},
        {bufio::Reason::certificate,
         [](Facts& tls) {
             tls.untrusted = true;
             tls.fault_count = 2;
         },
         "; to accept it: --pinnedpubkey P, or -k"},
        {bufio::Reason::certificate, [](Facts& tls) { tls.incomplete_chain = true; },
         "; the server should send its intermediate certificate; to accept it: "
         "--pinnedpubkey P, or -k"},
    };
    for (const auto& [reason, set, remark] : rows) {
        Facts tls;
        tls.pin = "P";
        tls.fault_count = 1;
        set(tls);
        CHECK(end_text({reason, bufio::By::us, "it ended"}, {}, &tls) == "it ended" + remark);
        CHECK(end_text({reason, bufio::By::us, "it ended"}, {}, nullptr) == "it ended");
    }
}
