// The status line and the hints in every state of a connection.

#include "app/screen/status_line.hpp"

#include "tests/app/screen/screen_script.hpp"
#include "tests/ui/plain_text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::play_each;

namespace {

struct StatusScript final : test::ScreenScript {
    StatusScript() : ScreenScript("C") {}
};

}  // namespace

TEST_CASE("each state of a connection has its words and its hints") {
    play_each<StatusScript>({
        {"listening", R"(listening; row 22 - listening 127.0.0.1:PORT line | 0^ 0v
            peer connects; row 22 * up 00:00 tcp://127.0.0.1:PORT line | 0^ 0v; peer ends; hides half)"},
        {"a TLS handshake",
         R"(--tls; +400ms; row 22 - handshake 0.
            last "F1 help; ^D quits; ^C cancels; lines are sent once connected")"},
        {"open and closing",
         R"(last "F1 help; ^D quits; Enter sends a line; its echo is timed"; row 22 * up 00:00
            +12s; row 22 * up 00:12; +10min; row 22 * up 10:12; +49min; +48s; row 22 * up 1:00:00
            keys hello Enter; last ; keys ^D; +400ms; row 22 - closing 0.
            last "F1 help; ^D quits now; F8 disconnects; F5 reconnects"
            keys F8; row 22 - closed: disconnected tcp://127.0.0.1:PORT
            last "F1 help; ^D quits; F5 reconnects; lines are sent once connected")"},
        {"a reply of any kind",
         R"(--expect any; last "F1 help; ^D quits; Enter sends a line; its reply is timed")"},
        {"no reply", R"(--expect none; last "F1 help; ^D quits; Enter sends a line"; row 22 * up
                        peer ends; row 22 * half-closed (server))"},
        {"a half-close with replies", "-q 1h; keys a Enter; peer ends; row 22 * up 00:00"},
        {"datagrams",
         R"(over datagrams; --retry forever; +12s; row 22 - ready 00:12
            peer leaves; keys a Enter; row 22 "- refused; retry "
            row 22 "- refused; send to try again"; peer comes back; keys b Enter; peer got b\n
            peer sends b; row 22 * up 00:0)"},
        {"a refusal", R"(to nobody; --retry forever; --retry-delay 9s
            row 22 "- refused; retry 1 in "; shows s (F5 now)
            last "F1 help; ^D quits; F5 retries now; lines are sent once connected")"},
        {"an unreachable server",
         R"(to a missing socket; --retry forever; row 22 "- unreachable; retry")"},
        {"a timeout", R"(--tls; --retry forever; +9500ms; row 22 "- timed out; retry ")"},
        {"a failed look-up",
         R"(to a missing host; --retry forever; row 22 "- unknown host; retry")"},
        {"a loss", R"(--retry forever; peer resets; row 22 "- connection lost; retry ")"},
        {"an early end", R"(--retry forever; peer ends; shows (F5 now)
                            row 22 "- server closed; retry ")"},
        {"an end without a retry", R"(peer ends; row 22 - closed: the server closed
            last "F1 help; ^D quits; Enter sends a line, and connects again")"},
        {"a refused certificate",
         R"(to a TLS server; --tls; row 22 - CERT REFUSED (M-i shows it)
            last "F1 help; ^D quits; F3 shows why; F5 reconnects")"},
    });
}

TEST_CASE("parts are dropped by their priority as the width shrinks, the state never") {
    play_each<StatusScript>({
        {"counts come before the address",
         R"(+12s; width 80 * up 00:12 tcp://127.0.0.1:PORT line | 0^ 0v 0~ 0x 0?
            width 40 * up 00:12 | 0^ 0v 0~ 0x 0?; width 30 * up 00:12 | 0^ 0v 0~ 0x 0?
            width 20 * up 00:12 | 0^ 0v; width 6 * up 0)"},
        {"so does the last round trip", R"(+12s; keys a Enter; peer echoes
            width 40 * up 00:12 | 1^ 1v 0~ 0x 0? |   60ms
            width 90 * up 00:12 tcp://127.0.0.1:PORT line | 1^ 1v 0~ 0x 0? |   60ms p50   60 p95   60 p99   60)"},
        {"failures come before everything else",
         R"(keys a Enter; peer answers b; +1s; keys c Enter; +5s; width 20 * up 00:06 | 1x 1?
            width 40 * up 00:06 | 2^ 0v 0~ 1x 1? |   60ms; width 16 * up 00:06 | 1x)"},
        {"the version of TLS comes before the group",
         R"(to a TLS server; -k; width 72 * up 00:00 tls://127.0.0.1:PORT TLS1.3 UNVERIFIED (-k) | 0^ 0v 0~ 0x 0?
            width 71 * up 00:00 tls://127.0.0.1:PORT UNVERIFIED (-k) | 0^ 0v 0~ 0x 0?)"},
    });
}

TEST_CASE("round trips are drawn as bars relative to the longest") {
    const test::Locale utf8("C.UTF-8");
    CHECK(sparkline({0ms, 1ms, 2ms, 8ms, 6ms}) == "▁▂▃█▇");
    CHECK(sparkline({0ms}) == "▁");
}

TEST_CASE("hints that do not fit are dropped whole, and the first is truncated") {
    const std::tuple<int, std::string, const char*> rows[] = {
        {34, "", "F1 keys; ^D quits; F5 connects now"},
        {33, "", "F1 keys; ^D quits"},
        {17, "", "F1 keys; ^D quits"},
        {16, "", "F1 keys"},
        {3, "", "F1 "},
        {13, "find: ", "find: F1 keys"},
        {12, "find: ", "find: "},
        {3, "find: ", "fin"}};
    for (const auto& [width, label, shown] : rows) {
        ui::Row row;
        ui::append(row, label);
        append_hints(row, "F1 keys; ^D quits; F5 connects now", width);
        CHECK(test::plain_text(row) == shown);
    }
}
