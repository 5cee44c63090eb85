// Sessions with datagrams, as scripts (see tests/app/session_script.hpp).

#include "tests/app/session_script.hpp"

using namespace yodel;
using test::SessionScript;

namespace {

struct DatagramScript : SessionScript {
    void play(const std::string& script) { SessionScript::play("over datagrams; " + script); }
};

}  // namespace

TEST_CASE("each message is a datagram") {
    test::play_each<DatagramScript>({
        {"with text", R"(send hello; peer got hello\n; in flight 1; peer sends hello
                         reports right hello=hello; in flight 0)"},
        {"without", R"(send ; peer got \n; peer sends ; reports right =)"},
        {"at most as long as UDP allows", "refuse x{65508}; in flight 0; send x{65507}"},
        {"and at most as long as the limit", "--max-frame 9; refuse x{10}; send x{9}"},
        {"in any order", R"(send a; send b; peer got a\nb\n; peer sends b; peer sends a
                            reports right b=b, right a=a reordered)"},
        {"and a datagram that answers nothing is unsolicited",
         "send a; peer got a\\n; peer sends hello there; peer sends a\n"
         "reports unsolicited hello there, right a=a"},
        {"any reply is right with expect any",
         "--expect any; send a; peer got a\\n; peer sends b; reports right a=b"},
        {"nothing is awaited with expect none", "--expect none; send a; in flight 0; peer got "
                                                "a\\n; peer sends a; reports unsolicited a"},
    });
    SessionScript script;
    script.play("over datagrams; open");
    CHECK(script.session->is_udp());
    CHECK(script.session->options().framing->uses_datagrams);
}

TEST_CASE("each datagram is awaited for a time") {
    test::play_each<DatagramScript>({
        {"a late reply counts once",
         R"(send a; peer got a\n; +4999ms; reports nothing; +1ms; reports late a; peer sends a
            reports right a=a in 5s late; peer sends a; reports duplicate a)"},
        {"replies to later messages do not extend it",
         R"(-W 3ms; send a; peer got a\n; +1ms; send b; peer got b\n; +1ms; peer sends b
            reports right b=b in 1ms; +999us; reports nothing; +1us; reports late a)"},
    });
}

TEST_CASE("after finish() late and duplicate replies are awaited for a moment") {
    test::play_each<DatagramScript>({
        {"at least 100 ms", R"(send a; peer got a\n; peer sends a; reports right a=a; finish
                               +99ms; finishing; +1ms; closed clean "closed")"},
        {"four round trips",
         R"(send a; peer got a\n; +50ms; peer sends a; reports right a=a in 50ms
                                finish; +199ms; finishing; +1ms; closed clean)"},
        {"the longest of them",
         R"(send a; peer got a\n; +50ms; peer sends a; reports right a=a in 50ms; send b
            peer got b\n; +1ms; peer sends b; reports right b=b in 1ms; finish; +199ms; finishing
            +1ms; closed clean)"},
        {"at most a second",
         R"(send a; peer got a\n; +2s; peer sends a; reports right a=a in 2s
                                finish; +999ms; finishing; +1ms; closed clean)"},
        {"and not longer than -q", R"(-q 60ms; send a; peer got a\n; peer sends a
                                      reports right a=a; finish; +59ms; finishing; +1ms
                                      closed clean)"},
        {"again after each datagram",
         R"(send a; peer got a\n; peer sends a; reports right a=a
            finish; +60ms; peer sends a; reports duplicate a; +99ms; finishing; +1ms; closed clean)"},
        {"but not beyond -q",
         R"(-q 150ms; send a; peer got a\n; peer sends a; reports right a=a
            finish; +90ms; peer sends a; reports duplicate a; +59ms; finishing; +1ms; closed clean)"},
        {"once the replies in flight have arrived or are late",
         R"(send a; send b; peer got a\nb\n; finish; peer sends b; reports right b=b; +4999ms
            reports nothing; +1ms; reports late a; finishing; peer sends a
            reports right a=a in 5s late reordered; +999ms; finishing; +1ms; closed clean)"},
        {"again on the next connection",
         "finish; +100ms; closed clean; connect; open; +1h; finish; +99ms; finishing; +1ms\n"
         "closed clean"},
        {"in time although reading pauses",
         R"(-q 50ms; send a; peer got a\n; peer sends a; reports right a=a; finish
            6 times ( pause; peer sends b; +10ms; resume; +1ms ); +50ms; closed clean
            reports ... unsolicited b)"},
    });
}

TEST_CASE("a refusal ends the socket") {
    test::play_each<DatagramScript>({
        {"with the sentence of a refused connection",
         R"(peer leaves; send a; reports lost a
            closed refused "cannot connect to 127.0.0.1:PORT: Connection refused")"},
        {"and is tried again",
         R"(--retry 1; --retry-delay 1s; peer leaves; send a; reports lost a
            waiting refused; try 1; +1s; open; send b; reports lost b; closed refused)"},
        {"and a socket without replies proves nothing, however long it lasts",
         R"(--retry 1; --retry-delay 1s; peer leaves; +1h; send a; reports lost a; waiting; try 1
            +1s; open; +1h; send b; reports lost b; closed refused)"},
    });
}

TEST_CASE("the peer is known once a reply has arrived, and until then a refusal is the end") {
    const std::string refused =
        R"(--retry forever; --retry-delay 1s; peer is unknown; end none; send a; peer got a\n
           peer sends a; reports right a=a; peer is known; peer leaves; send b; reports lost b
           waiting; +1s; open; peer is unknown; end refused
        )";
    for (const std::string rest : {
             "finish; +100ms; closed refused",
             "disconnect; closed refused",
             "disconnect; connect; open; end none",
             "peer comes back; send c; peer got c\\n; peer sends c; reports right c=c\n"
             "peer is known; end none",
         })
        DYNAMIC_SECTION(rest) { DatagramScript().play(refused + rest); }
}
