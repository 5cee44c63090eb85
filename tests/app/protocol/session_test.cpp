// Sessions, as scripts (see tests/app/session_script.hpp).

#include "app/protocol/session.hpp"
#include "tests/app/session_script.hpp"
#include "tests/app/websocket/upgrade.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::play_each;
using test::SessionScript;

namespace {

// A WebSocket client whose peer is a TCP server. `upgrade` connects and answers the request;
// `peer got ping N` waits for this ping, and `peer got N bytes` for other frames.
class WebSocketScript : public SessionScript {
public:
    WebSocketScript() {
        options.websocket.emplace().host = "h";
        options.framing = websocket_framing();
        on("upgrade", [this](const std::string&) {
            play_steps("connect");
            await([&] { return peer->got.ends_with("\r\n\r\n"); });
            peer->send(test::response_to(std::exchange(peer->got, {})));
            play_steps("open");
        });
        on("peer got ping", [this](const std::string& number) {
            await([&] { return peer->got.size() >= 7; });
            const std::string got = std::exchange(peer->got, {});
            REQUIRE(got.substr(0, 2) == "\x89\x81");
            REQUIRE(std::string(1, static_cast<char>(got[6] ^ got[2])) == number);
        });
        for (const std::size_t size : {6U, 7U, 8U})
            on("peer got " + std::to_string(size) + " bytes", [this, size](const std::string&) {
                await([&] { return peer->got.size() >= size; });
                REQUIRE(std::exchange(peer->got, {}).size() == size);
            });
        play_steps("unconnected");
    }
};

}  // namespace

TEST_CASE("replies are matched with messages") {
    play_each<SessionScript>({
        {"all flushed messages are written together, and answered in order",
         R"(queue a; queue b; peer got nothing; flush; peer got a\nb\n; in flight 2
            peer sends a\nb; reports right a=a; peer sends \n; reports right b=b; in flight 0)"},
        {"a message that answers nothing is unsolicited",
         R"(peer answers welcome; reports unsolicited welcome
            send a; peer sends a\na\nb\n; reports right a=a, duplicate a, stale b)"},
        {"a message that contains the delimiter counts as several",
         R"(send a\nb; in flight 2; peer sends a\nb\n; reports right a=a, right b=b)"},
        {"a bad reply without a successor is reported when the connection ends",
         R"(send a; send b; peer answers X; peer ends; reports bad@0 a=X, lost b
            closed closed_early "the server closed the connection after 0 of 2 replies")"},
        {"nothing is awaited with expect none",
         R"(--expect none; send a; in flight 0; peer answers a; reports unsolicited a)"},
        {"unframed replies are matched by their place",
         R"(-f raw; send hello; send world; peer sends hel; +0ms; peer sends loworXd!
            reports right hello=hello, bad@3 world=worXd, stale !)"},
        {"replies of caret are compared with the next bytes",
         R"(-f caret; queue abc; queue xyz; flush; peer got ^abc$^xyz$; peer sends *bc; +0ms
            peer sends dyz{; reports right abc=bcd, right xyz=yz{)"},
        {"messages that were sent together are answered together",
         R"(--coalesce; send a\n\nbc\nd; in flight 4; peer got a\n\nbc\nd\n; peer sends a\n\nb
            +0ms; peer sends c\nd\n; reports right a=a, right =, right bc=bc, right d=d
            in flight 0)"},
        {"raw has no empty message", "-f raw; refuse "},
        {"a message is as long as the limit", R"(--max-frame 9; refuse x{10}; send x{9})"},
        {"the limit may exceed all buffers", "--max-frame 68157440; send x{68157440}; open"},
    });
}

TEST_CASE("sends raw bytes from the reserved space, as a message of their own") {
    SessionScript script;
    script.play("-f raw; --max-frame 100; open");
    Session& session = *script.session;
    session.reserve(101);
    CHECK_FALSE(session.send_reserved(101));
    CHECK_FALSE(session.send_reserved(0));
    for (const std::string_view text : {"hello", "world"}) {
        std::copy(text.begin(), text.end(), session.reserve(100));
        CHECK(session.send_reserved(text.size()));
    }
    script.play(R"(flush; in flight 2; peer sends helloworXd
                   reports right hello=hello, bad@3 world=worXd; disconnect)");
    session.reserve(1);
    CHECK_FALSE(session.send_reserved(1));
}

TEST_CASE("the first reply may be a greeting") {
    play_each<SessionScript>({
        {"a bad reply is held until nothing can follow it",
         "send a; peer answers hello; +499ms; reports nothing; +1ms; reports bad@0 a=hello"},
        {"an echo follows it", "send a; peer answers hello; +499ms; peer answers a\n"
                               "reports unsolicited hello, right a=a in 499ms"},
        {"not if the first message is sent late",
         "+501ms; send a; peer answers hello; reports bad@0 a=hello"},
        {"but if it is sent in time", "+500ms; send a; peer answers hello; peer answers a\n"
                                      "reports unsolicited hello, right a=a"},
        {"not while reading pauses", "send a; peer answers hello; +100ms; pause; +1s; resume; "
                                     "+399ms; reports nothing; +1ms\n"
                                     "reports bad@0 a=hello untimed"},
        {"part of it arrived before the message",
         R"(peer sends a; +0ms; send a; send b; peer sends \n\n; +500ms
            reports right a=a, bad@0 b=)"},
        {"after the end of the messages the reply timeout decides",
         "-W 2s; send a; send b; finish; peer answers hello; +1999ms; reports nothing; +1ms\n"
         "reports bad@0 a=hello, late b; disconnect"},
        {"caret must begin with its greeting",
         R"(-f caret; --retry forever; peer sends welcome
            closed receive "the server did not send the greeting * of -f caret")"},
    });
}

TEST_CASE("each reply is awaited for a time") {
    play_each<SessionScript>({
        {"a late reply counts", R"(-W 1ms; send a; +1ms; reports late a; in flight 0; +1ms
                                   peer answers a; reports right a=a in 2ms late)"},
        {"each message is timed separately",
         "-W 20ms; send a; +10ms; send b; +10ms; reports late a; +9ms; reports nothing; +1ms\n"
         "reports late b"},
        {"other bytes do not extend it",
         "-W 20ms; send a; 19 times ( +1ms; peer sends a ); +0ms; in flight 1; +1ms\n"
         "reports ... late a"},
        {"a late message is reported before the end of the connection, and once",
         "-W 1ms; send a; +1ms; reports late a; peer resets; closed reset"},
        {"once, though there is another connection",
         "-W 1ms; --retry 1; --retry-delay 1h; send a; +1ms; reports late a; peer resets\n"
         "waiting reset"},
        {"a reply that becomes whole afterwards is compared from its start",
         R"(-W 1ms; send ab; send cb; peer sends X\na; +1ms; reports bad@0 ab=X, late cb
            peer sends b\n; reports unsolicited ab)"},
        {"it does not restart the idle timeout",
         "--idle-timeout 1h; -W 40min; send a; peer got a\\n; +40min; reports late a; +20min\n"
         "closed timeout \"nothing was sent or received for 3600s (--idle-timeout)\""},
        {"a round trip lasts from the write to the read",
         "send a; +1234567ns; peer answers a; reports right a=a in 1234567ns"},
        {"round trips can be voided",
         "send a; void round trips; peer answers a; reports right a=a untimed"},
        {"messages that were sent together are timed as the system accepts them",
         R"(--coalesce; peer stops reading; send a\nb\nx{20000000}; +5ms; peer reads
            peer got a\nb\nx{20000000}\n; peer sends a\nb\nx{20000000}\n
            reports right a=a in 5ms, right b=b in 5ms, right x{20000000}=x{20000000})"},
        {"an immediate reconnect keeps the times of the last connection",
         "send a; send b; peer answers X; +1ms; disconnect; connect; open\n"
         "reports bad@0 a=X, lost b"},
    });
}

TEST_CASE("shows how much of a late or bad reply has arrived") {
    const std::string right = "send b; peer answers b; reports right b=b; ";
    play_each<SessionScript>({
        {"a later message was answered",
         R"(send a; send b; peer answers b; reports lost a, right b=b
            no reply "; a later message was answered")"},
        {"the end", R"(send a; peer ends; finish; reports lost a
                       no reply " before the connection ended")"},
        {"nothing", R"(send a; +5s; reports late a; no reply " within 5s")"},
        {"a part", R"(send hello; peer sends hel; +5s; reports late hello
                      no reply " within 5s; 3 of 5 bytes received, without a newline")"},
        {"all but the newline", R"(send hello; peer sends hello; +5s; reports late hello
                                   no reply " within 5s; 5 of 5 bytes received, without a newline")"},
        {"too much",
         R"(send a; peer sends aaa
            +5s; reports late a
            no reply " within 5s; the incomplete reply differs at byte 1; 3 bytes received, without a newline")"},
        {"something else, with a hint for the first reply",
         R"(send hello; peer sends hi there; +5s; reports ... late hello
            no reply " within 5s; the incomplete reply differs at byte 1; 8 bytes received, without a newline; if the service does not echo, use --expect any")"},
        {"something else, without a hint for the others",
         right + R"(send hello; peer sends hi there; +5s; reports ... late hello
            no reply " within 5s; the incomplete reply differs at byte 1; 8 bytes received, without a newline")"},
        {"to an older message", R"(send a; +1s; send b; peer sends c; +5s
                                   reports ... late b; no reply " within 5s")"},
        {"any reply", R"(--expect any; send a; peer sends hel; +5s; reports late a
                         no reply " within 5s; 3 bytes received, without a newline")"},
        {"any reply with a length",
         R"(-f len2; --expect any; send a; peer sends \x00\x05he; +5s
                                       reports late a; no reply " within 5s; 2 of 5 bytes received")"},
        {"a reply with another length",
         R"(-f len1; send abc; peer sends \x05abc; +5s; reports ... late abc
            no reply " within 5s; the incomplete reply differs at byte 3; 3 of 5 bytes received")"},
        {"a length that is misread",
         R"(-f len2; send abc; peer sends \x03\x00abc; +5s; reports ... late abc
            no reply " within 5s; the incomplete reply differs at byte 3; 3 of 768 bytes received; the length prefix reads 768; as little-endian it reads 3: use -f len2le")"},
        {"a length after a right reply",
         R"(-f len2; send b; peer sends \x00\x01b; reports right b=b; send abc
            peer sends \x03\x00abc; +5s; reports ... late abc
            no reply " within 5s; the incomplete reply differs at byte 3; 3 of 768 bytes received")"},
        {"of caret", R"(-f caret; send abc; peer sends *b; +5s; reports late abc
                        no reply " within 5s; 1 of 3 bytes received")"},
        {"with a pattern", R"(--expect any; --match ^[+]; send a; peer sends -; +5s
                              reports late a; no reply " within 5s; 1 byte received, without a newline")"},
    });
}

TEST_CASE("a TLS server is recognized by its alert, but not by an echoed alert") {
    play_each<SessionScript>({
        {"an echo", R"(-f raw; send \x15\x03\x03\x00\x02\x02\x46; peer echoes
                       reports right \x15\x03\x03\x00\x02\x02F=\x15\x03\x03\x00\x02\x02F)"},
        {"an alert", R"(-f raw; send hello; peer sends \x15\x03\x03\x00\x02\x02\x46; peer ends
                        reports bad@0 hello=\x15\x03\x03\x00\x02, unsolicited \x02F
                        closed tls "the server speaks TLS; use --tls")"},
        {"a warning", R"(send hello; peer sends \x15\x03\x04\x00\x02\x01\x00; peer ends
                         reports lost hello; closed tls "the server speaks TLS; use --tls")"},
        {"more than an alert",
         R"(-f raw; send hello; peer sends \x15\x03\x03\x00\x02\x02\x46!; peer ends
            reports bad@0 hello=\x15\x03\x03\x00\x02, unsolicited \x02F!
            closed closed_early "the server closed the connection")"},
    });
    for (const std::string other :
         {R"(\x14\x03\x03\x00\x02\x02F)", R"(\x15\x02\x03\x00\x02\x02F)",
          R"(\x15\x03\x05\x00\x02\x02F)", R"(\x15\x03\x03\x01\x02\x02F)",
          R"(\x15\x03\x03\x00\x03\x02F)", R"(\x15\x03\x03\x00\x02\x03F)"})
        DYNAMIC_SECTION("no alert: " << other) {
            SessionScript().play("send hello; peer sends " + other +
                                 "; peer ends; closed truncated; reports unsolicited " + other +
                                 ", lost hello");
        }
}

TEST_CASE("finishes only after the replies, and waits for the end of the server") {
    play_each<SessionScript>({
        {"nothing is sent any more", R"(finish; refuse a; disconnect; refuse a)"},
        {"a peer that ends", R"(queue a; finish; peer got a\n; peer got no end; peer answers a
                                peer got the end; reports right a=a; peer ends; closed clean "closed")"},
        {"both sides end together",
         R"(send a; peer answers a; peer ends; reports right a=a; finish
                                       closed clean "closed")"},
        {"a peer that answers only after our end",
         R"(send a; finish; +499ms; peer got no end; +1ms; peer got the end; peer answers a
            peer ends; reports right a=a in 500ms; closed clean "closed")"},
        {"replies restart the wait for it",
         R"(send a; send b; finish; +300ms; peer answers a; +0ms; reports right a=a in 300ms
            +499ms; peer got no end; +1ms; peer got the end; disconnect; reports lost b)"},
        {"a reply that arrives slowly",
         R"(send a; finish; +400ms; peer sends a; +499ms; peer got no end; +1ms; peer got the end
            peer sends \n; peer ends; reports right a=a in 900ms; closed clean)"},
        {"a peer that stays open", R"_(-q 1ms; finish; +1ms
                                      closed unclosed "the server did not close within 1ms (-q)")_"},
        {"and is not awaited", R"(-q 0ms; finish; closed clean "closed")"},
        {"a peer that stays open until the session has no more time",
         R"_(--max-time 50ms; finish; +50ms
            closed unclosed "the server did not close; the run did not finish within 50ms (--max-time)")_"},
        {"a peer that has answered all but keeps sending",
         R"(-q 100ms; send a; finish; peer answers a; 99 times ( +1ms; peer answers b )
            finishing; +1ms; closed unclosed; reports ... stale b)"},
        {"a peer that keeps sending without replies",
         R"(-q 50ms; --expect none; finish; 49 times ( +1ms; peer answers b )
            finishing; +1ms; closed unclosed; reports ... unsolicited b)"},
        {"a peer that neither answers nor ends",
         R"(-W 1ms; -q 2ms; send a; finish; +1ms; reports late a; +1ms; closed unclosed)"},
        {"a peer that ends before it answers",
         R"(send a; send b; finish; peer answers a; peer ends
            reports right a=a, lost b
            closed closed_early "the server closed the connection after 1 of 2 replies")"},
        {"a peer that ends inside a message",
         "finish; peer got the end; peer sends a; peer ends; closed truncated\n"
         "reports unsolicited a"},
        {"a peer that cuts TLS",
         "to a TLS server; -k; open; finish; TLS server cuts; closed clean"},
        {"a peer that cuts TLS, with unknown replies",
         "to a TLS server; -k; --expect any; open; finish; TLS server cuts; closed truncated"},
        {"a peer that resets", "finish; peer got the end; peer resets; closed reset"},
    });
}

TEST_CASE("ends if the peer closes its side while replies are expected") {
    for (const std::string framing : {"line", "len4", "raw"})
        for (const std::string expect : {"echo", "any"}) {
            const std::string options = "-f " + framing + "; --expect " + expect + "; ";
            SessionScript().play(
                options +
                R"(peer ends; closed closed_early "the server closed the connection")");
            SessionScript().play(options + R"(send a; peer ends; reports lost a; closed
                end closed_early "the server closed the connection after 0 of 1 replies")");
        }
    Session::Options options;
    options.early_close = "closed before the end";
    SessionScript(options).play(
        R"(peer ends; closed closed_early "the server closed before the end")");
}

TEST_CASE("a connection that ends too early is reported with its cause") {
    play_each<SessionScript>({
        {"inside a message", R"(send hello; peer sends hel; peer ends
            reports unsolicited hel, lost hello
            closed truncated "the server closed the connection inside a message, after 3 bytes")"},
        {"inside a message whose length is misread",
         R"(-f len2; send abc; peer sends \x03\x00abc; peer ends; closed truncated "the server closed the connection inside a message, after 3 of 768 bytes; the length prefix reads 768; as little-endian it reads 3: use -f len2le"
            reports unsolicited \x03\x00abc, lost abc)"},
        {"by a reset inside a message", R"(send hello; peer sends hel; +0ms; peer resets
            reports lost hello; closed reset "the server reset the connection in the middle of the reply to message 1, after 3 bytes")"},
        {"by a frame over the limit",
         R"_(-f len4; --max-frame 100; peer sends \x00\x00\x01\x00
            closed limit "a message of 256 bytes exceeds the limit of 100 (--max-frame)")_"},
        {"by a peer that accepts nothing",
         R"(-W 1s; peer stops reading; send x{20000000}; +999ms; open; +1ms
            closed timeout "the server has stopped reading; unsent: ..."; reports lost x{20000000})"},
        {"by a peer that accepts nothing while finishing",
         R"(-W 10ms; --expect none; peer stops reading; send x{20000000}; finish; +999ms; finishing
            +1ms; closed timeout)"},
        {"by a send buffer that is full",
         R"(--max-frame 1000000; peer stops reading; until lost ( queue x{1000000}; flush )
            closed limit "the server has stopped reading, and the send buffer is full")"},
        {"by us", R"(disconnect; closed aborted "disconnected"; connect; open; end none)"},
        {"but takes many messages while the peer reads nothing",
         "--max-frame 1000; peer stops reading; 20000 times ( queue x{1000} ); flush; open"},
        {"but still takes messages if no reply is expected",
         R"(--expect none; peer ends; +0ms; half closed; send a; peer got a\n; open)"},
    });
}

TEST_CASE("reads nothing while paused, and no timeout passes") {
    play_each<SessionScript>({
        {"replies wait, and then the end",
         R"(send a; pause; peer answers a; +0ms; peer ends; +0ms; open; reports nothing; resume
            reports right a=a untimed; closed closed_early)"},
        {"replies wait, and then the reset",
         R"(send a; pause; peer answers a; +0ms; peer resets; +0ms; open; reports nothing; resume
            reports right a=a untimed; closed reset)"},
        {"the reply timeout",
         R"(-W 20ms; --idle-timeout 20ms; send a; pause; peer answers a; +60ms
                                 reports nothing; resume; reports right a=a untimed; open)"},
        {"the wait for the peer's end",
         R"(-q 20ms; --idle-timeout 20ms; --expect none; finish; pause; peer answers b; +60ms
            finishing; resume; reports unsolicited b; +19ms; finishing; +1ms; closed unclosed)"},
        {"the wait for a peer that accepts nothing",
         R"(-W 1s; --expect none; peer stops reading; send x{20000000}; +400ms; pause; +1h; resume
            +599ms; open; +1ms; closed timeout)"},
        {"each pause is added to the reply timeout",
         R"(-W 50ms; send a; 4 times ( pause; +30ms; resume; +10ms ); pause; +30ms; resume; +9ms
            reports nothing; +1ms; reports late a)"},
        {"the longest pause is added to the wait for the end",
         R"(-q 50ms; --expect none; finish; pause; +400ms; resume; 4 times ( pause; +10ms; resume )
            +9ms; finishing; +1ms; closed unclosed)"},
        {"a pause before the end is not added",
         R"(-q 50ms; --expect none; pause; +400ms; resume; finish; +50ms; closed unclosed)"},
        {"replies that were read before a pause are reported after it",
         R"(pause when right; send a; send b; peer sends a\nb\n; reports right a=a; +1ms
            reports nothing; resume; reports right b=b untimed)"},
        {"a message that is sent during a pause has its whole time after it",
         R"(-W 50ms; pause; +30ms; send a; +30ms; resume; +49ms; reports nothing; +1ms
            reports late a)"},
        {"it may pause again as soon as it resumes, and still get replies",
         "-W 5ms; send a; until bad@0 a=b ( pause; peer answers b; +5ms; resume )"},
        {"it may pause again as soon as it resumes, and still end",
         "-q 5ms; finish; 9 times ( pause; peer answers b; +5ms; resume; turn ); pause\n"
         "closed unclosed; reports ... unsolicited b"},
        {"the idle timeout",
         "--idle-timeout 20ms; +10ms; pause; +60ms; resume; +9ms; open; +1ms; closed timeout"},
        {"--max-time passes", R"_(--max-time 1s; pause; +1s
                                 closed timeout "the run did not finish within 1s (--max-time)")_"},
    });
}

TEST_CASE("can be destroyed or disconnected in each of its callbacks") {
    for (const std::string action : {"destroy", "disconnect"}) {
        const std::string over = action == "destroy" ? "; destroyed" : "; closed";
        const auto play = [&](const std::string& when, const std::string& script) {
            DYNAMIC_SECTION(action << " when " << when) {
                SessionScript().play(action + " when " + when + "; " + script + over);
            }
        };
        play("dialing", "unconnected; connect");
        play("opened", "unconnected; connect");
        play("right", R"(-f len1; send a; peer sends \x01a\x01b; reports right a=a)");
        play("echoed", R"(--coalesce; send a\nb; peer sends a\nb\nc\n
                          reports right a=a, right b=b)");
        play("lost", R"(send a; peer ends; reports lost a)");
        play("late", R"(-W 1ms; send a; +1ms; reports late a)");
        play("unsolicited", R"(peer sends b\nc; reports unsolicited b)");
        play("read", R"(-f raw; peer sends a)");
        play("closed", R"(peer ends)");
    }
}

TEST_CASE("a failure to connect is tried again, as often as allowed") {
    play_each<SessionScript>({
        {"through all states",
         R"(unconnected; disconnect; idle; refuse a; connect; dialing; refuse a
                                  open; finish; finishing; disconnect; closed)"},
        {"never",
         R"(to nobody; closed refused "cannot connect to 127.0.0.1:PORT: Connection refused")"},
        {"twice, and from the start by hand",
         R"(to nobody; --retry 2; --retry-delay 1s; waiting refused; try 1; +1s; waiting; try 2; +2s
            closed refused; connect; waiting refused; try 1)"},
        {"the waits double",
         R"(to nobody; --retry forever; --retry-delay 1s; waiting; +1s; try 2
                                +2s; try 3; +4s; try 4; peer comes back; +8s; open)"},
        {"not before half of the wait",
         R"(to nobody; --retry 1; --retry-delay 1s; waiting; peer comes back
                                           +499ms; waiting; +501ms; open)"},
        {"from one again after a right reply",
         R"(--retry 1; --retry-delay 1s; send a; peer answers a; reports right a=a; peer resets
            waiting reset; +1s; open; send a; peer answers a; reports right a=a; peer resets
            waiting reset; +1s; open; peer resets; closed reset)"},
        {"not after a greeting",
         R"(--retry 2; --retry-delay 1s; peer answers hello; reports unsolicited hello; peer resets
            waiting reset; try 1; +1s; open; peer answers hello; reports unsolicited hello
            +29s; peer resets; waiting reset; try 2; +2s; open; peer answers hello
            reports unsolicited hello; peer resets; closed reset)"},
        {"nor after a bad reply",
         R"(--retry 1; --retry-delay 1s; send a; peer answers b; peer resets; reports bad@0 a=b
            waiting reset; +1s; open; peer resets; closed reset)"},
        {"but after a connection that lasted",
         R"(--retry 1; --retry-delay 1s; peer resets; waiting reset; +1s; open; +30s; peer resets
            waiting reset; try 1; +1s; open; peer resets; closed reset)"},
        {"a handshake that lasts is no connection",
         R"(--tls; --retry 1; --connect-timeout 1h; handshaking; +1min; peer resets; waiting; try 1
            +500ms; handshaking; +1min; peer resets; closed handshake_interrupted)"},
        {"after a peer that ended too early",
         R"(--retry 1; --retry-delay 1s; peer ends
                                                  waiting closed_early; +1s; open)"},
        {"after a peer that ended inside a message",
         R"(--retry 1; --retry-delay 1s; peer sends hel; peer ends; waiting truncated
            reports unsolicited hel; +1s; open)"},
        {"after a handshake that took too long",
         R"(--tls; --retry 1; --connect-timeout 20ms; handshaking; +20ms; waiting timeout)"},
        {"after the connection was lost in the handshake",
         R"(--tls; --retry 1; --retry-delay 1s; peer resets; waiting handshake_interrupted
            +1s; peer resets; closed handshake_interrupted)"},
        {"after finish(), if it stays open",
         R"(stays open; --retry forever; --retry-delay 1h; finish; peer resets; waiting reset)"},
        {"cut short by hand",
         R"(--retry forever; --retry-delay 1h; peer resets; waiting reset; connect
                                  open; +2h; open)"},
        {"ended by hand, with the end of the last try",
         R"(--retry forever; --retry-delay 1h; peer resets; waiting reset; disconnect; closed reset)"},
    });
}

TEST_CASE("a server that closes after its last reply has announced its end") {
    play_each<SessionScript>({
        {"once all messages are answered",
         R"(--retry forever; no retry after answers; --expect any; send QUIT; peer answers BYE
            peer ends; closed clean "the server closed the connection"
            reports right QUIT=BYE)"},
        {"not before the first reply",
         R"(--retry forever; no retry after answers; peer answers hello; peer ends
            waiting closed_early; reports unsolicited hello)"},
        {"nor on the next connection",
         R"(--retry forever; no retry after answers; send a; peer answers a; peer resets
            waiting reset; reports right a=a; connect; open; peer ends
            waiting closed_early)"},
        {"not while a reply is missing",
         R"(--retry forever; no retry after answers; send a; send b; peer answers a; peer ends
            waiting closed_early; reports right a=a, lost b)"},
        {"not after a lost message",
         R"(--retry forever; no retry after answers; send a; peer answers a; send b; +5s; peer ends
            waiting closed_early; reports right a=a, late b)"},
        {"not inside a message",
         R"(--retry forever; no retry after answers; send a; peer answers a; peer sends b
            peer ends; waiting truncated; reports right a=a, unsolicited b)"},
        {"not with --retry",
         R"(--retry forever; send a; peer answers a; peer ends; waiting closed_early
            reports right a=a)"},
    });
}

TEST_CASE("the phases of connecting have one deadline") {
    play_each<SessionScript>({
        {"a silent server of TLS",
         R"(--tls; --connect-timeout 20ms; handshaking; +19ms; handshaking; +1ms
            closed timeout "no connection to 127.0.0.1:PORT within 20ms (-w): still in the TLS handshake with 127.0.0.1:PORT")"},
        {"no greeting of caret",
         R"(unconnected; -f smtp; --connect-timeout 20ms; connect; handshaking; +20ms
            closed timeout "no connection to 127.0.0.1:PORT within 20ms (-w): still waiting for the greeting from 127.0.0.1:PORT")"},
        {"it ends when connected", R"(--connect-timeout 20ms; --retry forever; +40ms; open)"},
    });
}

TEST_CASE("the lines of --on-connect precede the messages of each connection") {
    const auto play = [](const std::vector<std::string>& lines, const std::string& script) {
        INFO(script);
        SessionScript session;
        session.options.on_connect = lines;
        session.play("unconnected; --retry 1; --retry-delay 1s; " + script);
    };
    const std::vector<std::string> two{"AUTH secret", "PING"};
    const std::string first =
        R"(peer got AUTH secret\r\n; peer sends +OK\r\n; peer got PING\r\n; )";
    const std::string opened = first + R"(peer sends +OK\r\n; open; )";
    play(two, "--retry 0; -f resp; connect; " + first + R"(peer ends
        closed closed_early "the server closed the connection before it answered --on-connect 2")");
    // Answers to them are no success.
    play(two, "-f resp; connect; " + opened + "peer resets; waiting reset; +1s; " + opened +
                  "peer resets; closed reset");
    // Reading pauses only afterwards.
    play(two, "-f resp; pause; connect; " + first + R"(resume; pause; peer sends +OK\r\n; open
        peer sends +a\r\n; +1s; reports nothing; resume; reports unsolicited +a; disconnect)");
    // Their bytes are not those of a message.
    play({std::string(20000000, 'x')}, R"(connect; open; peer got x{20000000}\n
        peer stops reading; send x{15000000}; peer resets; waiting reset; in flight 1)");
    const std::string kept = "-f resp; --expect any; connect; " + opened + R"(peer stops reading
        send x{15000000}; peer resets; waiting reset; in flight 1; connect; )";
    play(two, kept + R"(peer got AUTH secret\r\n; flush; peer got nothing
        peer sends +OK\r\n+OK\r\n; peer got PING\r\nx{15000000}\r\n; disconnect
        reports lost x{15000000})");
    play(two, kept + R"(peer got AUTH secret\r\n; peer sends +; +0ms; peer resets
        waiting reset "receiving failed: Connection reset by peer")");
}

TEST_CASE("traffic postpones a ping, and its pong must arrive in time") {
    play_each<WebSocketScript>({
        {"after a pong, the next ping follows",
         R"(--ping 1min; upgrade; +59s; peer got nothing; +1s; peer got ping 1; +20ms
            peer sends \x8a\x011; +59s; peer got nothing; +1s
            peer got ping 2; peer sends \x8a\x012; +59s; open)"},
        {"a missing pong ends the connection",
         "--ping 1min; -W 2s; upgrade; +1min; peer got ping 1; +1999ms; open; +1ms\n"
         "closed timeout \"the server did not answer a ping within 2s (-W)\""},
        {"traffic does not replace a pong", R"(--ping 1min; -W 2s; --expect none; upgrade; +1min
            peer got ping 1; +1s; peer sends \x81\x01a; reports unsolicited a; +1s; closed timeout)"},
        {"a received message postpones the ping", R"(--ping 1min; upgrade; +59s
            peer sends \x81\x01a; reports unsolicited a; +59s; peer got nothing; +1s; peer got ping 1
            disconnect)"},
        {"a sent message postpones the ping",
         R"(--ping 1min; --expect none; upgrade; +59s; send a
            peer got 7 bytes; +59s; peer got nothing; +1s; peer got ping 1; disconnect)"},
        {"the ping of the peer is no traffic",
         R"(--ping 1min; upgrade; +59s; peer sends \x89\x00
            peer got 6 bytes; +1s; peer got ping 1; disconnect)"},
        {"a pause interrupts the wait",
         R"(--ping 1min; -W 2s; upgrade; +1min
            peer got ping 1; +1s; pause; +1h; resume; +999ms; peer sends \x8a\x011; +1min
            peer got ping 2; disconnect)"},
        {"no ping is sent after the end of the messages",
         R"(--ping 1min; -q 1h; upgrade; finish; peer got 8 bytes; +59min; peer got nothing; disconnect)"},
        {"the end contains the close frame of the peer",
         R"_(upgrade; peer sends \x88\x02\x03\xe8; peer ends
            closed closed_early "the server closed the connection (1000 normal closure)")_"},
        {"none is sent without --ping", "upgrade; +24h; peer got nothing; disconnect"},
        {"a client whose side is closed needs no more answers",
         R"(listening; --max-time 400ms; connect; peer connects; peer sends GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n
            open; peer sends \x88\x82\x00\x00\x00\x00\x03\xe8; closed clean)"},
    });
}

TEST_CASE("a session that listens answers one client") {
    play_each<SessionScript>({
        {"messages go both ways, and are not awaited",
         R"(listening; --connect-timeout 1s; -W 1s; +1h; dialing; peer connects; open
            peer sends hello\n; reports unsolicited hello; send hi; peer got hi\n; +1h; open
            peer sends bye\n; reports unsolicited bye; disconnect; peer got the end
            closed aborted)"},
        {"it has left soon after it has closed its side",
         R"(listening; peer connects; open; peer ends; +499ms; open; +1ms
            closed clean "the client closed the connection")"},
        {"unless it is still answered",
         R"(listening; peer connects; open; peer ends; +400ms; send a; +499ms; open
            peer got a\n; +1ms; closed clean)"},
        {"or has not read all", R"(listening; -W 1h; peer connects; open; peer stops reading
            send x{9000000}; peer ends; +1min; open; peer reads; +0ms; +1s; closed clean)"},
        {"it resets the connection", R"(listening; peer connects; open; peer resets
            closed reset "receiving failed: Connection reset by peer")"},
        {"it leaves inside a message", R"(listening; peer connects; open; peer sends hel
            peer ends; reports unsolicited hel
            closed truncated "the client closed the connection inside a message, after 3 bytes")"},
        {"its end is awaited after ours", R"(listening; -q 1s; peer connects; open; finish
            peer got the end; +999ms; finishing; peer ends; closed clean)"},
        {"it does not close its side",
         "listening; -q 1s; peer connects; open; finish; +1s\n"
         "closed unclosed \"the client did not close within 1s (-q)\""},
    });
}

TEST_CASE("a session that listens awaits the next client, however the last one has left") {
    for (const std::string end : {"peer ends; +500ms", "peer resets",
                                  "peer sends hel; peer ends; reports unsolicited hel"})
        SessionScript().play("listening; --retry forever; peer connects; open; " + end +
                             "; dialing; peer connects; open; disconnect; closed aborted");
}

TEST_CASE("input restarts the idle timeout") {
    play_each<SessionScript>({
        {"bytes",
         R"_(--idle-timeout 1h; +40min; peer answers hello; reports unsolicited hello; +40min
                     open; +20min; closed timeout "nothing was sent or received for 3600s (--idle-timeout)")_"},
        {"output",
         R"(--idle-timeout 1h; --expect none; +40min; send a; +59min; open; +1min; closed timeout)"},
    });
}

TEST_CASE("a time limit of the run includes all connections, and time spent earlier") {
    play_each<SessionScript>({
        {"a reconnect by hand",
         R"(to nobody; --retry forever; --max-time 100ms; --retry-delay 30ms
                                   waiting; +60ms; connect; +39ms; waiting; +1ms; closed timeout)"},
        {"time that passed before", R"_(--max-time 7s; --spent 4s; +2999ms; open; +1ms
                                       closed timeout "the run did not finish within 7s (--max-time)")_"},
        {"a handshake is not tried again",
         R"(--tls; --retry forever; --max-time 20ms; handshaking; +20ms; closed timeout)"},
        {"a closed session keeps its end",
         R"(to nobody; --max-time 20ms; closed refused; +40ms; closed refused)"},
    });
}

TEST_CASE("a message survives its connection, unless it was written") {
    play_each<SessionScript>({
        {"a partial reply is forgotten",
         R"(--retry forever; --retry-delay 1s; send abc; peer sends long; +0ms
            peer resets; waiting reset; reports lost abc; +1s; open; send abc; peer answers abX
            +500ms; reports bad@2 abc=abX)"},
        {"a partial reply of caret is forgotten",
         R"(-f caret; --retry forever; --retry-delay 1s; peer sends *; send abc
            peer sends bX
            peer resets; waiting reset; reports lost abc; +1s; peer sends *; open
            send abc; peer sends bcd; reports right abc=bcd)"},
        {"the rest is sent again",
         R"(--retry forever; --retry-delay 1s; send sent; peer got sent\n; send x{20000000}; send kept
            peer resets; waiting reset; reports lost sent; in flight 2; connect; open
            peer got x{20000000}\nkept\n; peer sends x{20000000}\nkept\n
            reports right x{20000000}=x{20000000}, right kept=kept)"},
        {"but not with raw",
         R"(-f raw; --retry forever; --retry-delay 1h; send x{20000000}; send behind; peer resets
            waiting; reports lost x{20000000}, lost behind; in flight 0)"},
        {"it does not become late before it is sent",
         R"(--retry forever; --retry-delay 1h; -W 20ms; send x{20000000}; peer resets; waiting; +40ms
            in flight 1; reports nothing)"},
        {"a connection that is gone is not written to",
         R"(--retry forever; peer resets; send this; send that; queue more; finish; waiting reset
            in flight 3)"},
        {"a connection that is gone after the peer's end",
         R"(--retry forever; peer ends; peer resets; send this; send that; queue more; finish
            waiting closed_early; in flight 3)"},
    });
}

TEST_CASE("does not retry after a failure that another try can't fix") {
    play_each<SessionScript>({
        {"a peer that ended gracefully", "--retry forever; peer ends; finish; closed clean"},
        {"a peer that went when all was sent",
         "--retry forever; send a; finish; peer got a\\n; peer resets; closed "
         "reset; reports lost a"},
        {"idleness", "--retry forever; --idle-timeout 10ms; +10ms; closed timeout"},
        {"a frame over the limit",
         "--retry forever; --max-frame 1; peer answers long; closed limit"},
        {"a certificate", "--retry forever; --tls; to a TLS server; closed certificate"},
    });
}
