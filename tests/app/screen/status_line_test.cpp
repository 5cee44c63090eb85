// The status line and the hints in every state of a connection.

#include "app/screen/status_line.hpp"

#include "tests/app/session_script.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/text.hpp"
#include "tests/ui/locale.hpp"
#include "tests/ui/plain_text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::play_each;

namespace {

// A script with these verbs. X contains PORT for the port of the peer.
//
//     words X                waits for the state in words; X may be in double quotes
//     retries after X        the words while waiting for the first retry
//     hint X                 the hints contain X; `no hint`: there is none
//     a line was sent        shortens the hints
//     row 40 X               the status line in a terminal of 40 columns
//     shows X, hides X       the status line in a wide terminal contains X, or does not
//     counts 7 bad,12 lost   sets counts
//     round trips 9ms,12ms   adds round trips
class StatusScript : public test::SessionScript {
public:
    StatusScript() {
        on("words", [this](const std::string& words) {
            const std::string expected = filled(words);
            const auto found = [this] { return state_words(*session, loop.now()); };
            for (int i = 0; i < 500 && found() != expected; ++i) loop.step(0s);
            REQUIRE(found() == expected);
        });
        on("retries after", [this](const std::string& reason) {
            REQUIRE(state_words(*session, session->retry_time() - 4100ms) ==
                    reason + "; retry 1 in 4.1s (F5 now)");
        });
        on("hint", [this](const std::string& hint) {
            const std::string hints(connection_hints(*session, sent_));
            CAPTURE(hints);
            REQUIRE(contains(hints, hint));
        });
        on("no hint",
           [this](const std::string&) { REQUIRE(connection_hints(*session, sent_) == ""); });
        on("a line was sent", [this](const std::string&) { sent_ = true; });
        on("row", [this](const std::string& text) {
            const int width = std::stoi(text);
            const std::string found = row(width);
            const std::string expected = filled(text.substr(text.find(' ') + 1));
            REQUIRE(found ==
                    expected +
                        std::string(static_cast<std::size_t>(width) - expected.size(), ' '));
        });
        for (const bool wanted : {true, false})
            on(wanted ? "shows" : "hides", [this, wanted](const std::string& part) {
                const std::string found = row(200);
                CAPTURE(found);
                REQUIRE(contains(found, filled(part)) == wanted);
            });
        on("counts", [this](const std::string& list) { results_ = test::counted(list); });
        on("round trips", [this](const std::string& list) {
            for (const std::string& time : comma_separated(list)) {
                recent_.push_back(test::duration(time));
                results_.round_trips.record(recent_.back());
            }
        });
        setting("to a missing socket",
                [this](const std::string&) { options.endpoint.path = "/missing"; });
        setting("to a missing host", [this](const std::string&) { host_ = "no.such"; });
    }

private:
    void make(const Session::Options& target) override {
        Session::Options changed = target;
        changed.endpoint.numeric = true;
        if (!host_.empty()) changed.endpoint.host = host_;
        SessionScript::make(changed);
    }
    std::string filled(std::string text) const {
        std::erase(text, '"');
        const std::size_t at = text.find("PORT");
        if (at != text.npos) text.replace(at, 4, session->options().endpoint.service);
        return text;
    }
    std::string row(int width) {
        const auto parts = status_parts(*session, results_, recent_, loop.now());
        return test::plain_text(fit_status(parts, width));
    }

    std::string host_;
    Results results_;
    std::deque<ev::Duration> recent_;
    bool sent_ = false;
};

}  // namespace

TEST_CASE("each state of a connection has its words and its hints") {
    play_each<StatusScript>({
        {"listening", R"(listening; words listening 127.0.0.1:PORT; counts 1 sent,2 unsolicited
            hides tcp://; hides ?; peer connects; open; words up 00:00; shows tcp://127.0.0.1:PORT
            peer ends; +1ms; words up 00:00; hides half)"},
        {"connecting",
         R"(unconnected; words idle; hint ^C cancels; a line was sent; hint ^C cancels
            connect; words connecting 127.0.0.1:PORT 0.0s/10s; hint ^C cancels
            row 40 - connecting 127.0.0.1:PORT 0.0s/10s)"},
        {"a TLS handshake",
         "--tls; handshaking; +400ms; words handshake 0.4s; hint ^C cancels"},
        {"open and closing",
         R"(hint its echo is timed; words up 00:00; a line was sent; no hint
            +12s; words up 00:12; +10min; words up 10:12; +49min; +48s; words up 1:00:00
            send hello; finish; words closing 0.0s; +400ms; words closing 0.4s
            hint ^D quits now; disconnect; reports lost hello
            words closed: disconnected; hint F5 reconnects
            row 48 - closed: disconnected tcp://127.0.0.1:PORT)"},
        {"a reply of any kind", "--expect any; hint its reply is timed"},
        {"no reply", R"(--expect none; hint Enter sends a line; words up 00:00
                        peer ends; words half-closed (server))"},
        {"a half-close with replies",
         "-q 1h; send a; peer ends; words up 00:00; disconnect; reports lost a"},
        {"datagrams",
         R"(over datagrams; --retry forever; +12s; words ready 00:12; shows - ready 00:12
            peer leaves; send a; waiting; retries after refused
            +1s; words "refused; send to try again"; reports lost a
            peer comes back; send b; peer got b\n; peer sends b; reports right b=b
            shows * up 00:00)"},
        {"a refusal", R"(to nobody; --retry forever; waiting
                         retries after refused; hint F5 retries now)"},
        {"an unreachable server", R"(to a missing socket; to nobody; --retry forever; waiting
                                     retries after unreachable)"},
        {"a timeout", R"(--tls; --retry forever; handshaking; +10s; waiting timeout
                         retries after timed out)"},
        {"a failed look-up", R"(to a missing host; to nobody; --retry forever; waiting lookup
                                retries after unknown host)"},
        {"a loss", R"(--retry forever; peer resets; waiting reset
                      retries after connection lost)"},
        {"an early end", R"(--retry forever; peer ends; waiting closed_early
                            retries after server closed)"},
        {"a refused certificate", R"(to a TLS server; --tls; closed certificate
                                     words CERT REFUSED (M-i shows it); hint F3 shows why)"},
        {"an unverified certificate",
         R"(to a TLS server; -k; open; shows TLS1.3 ; shows UNVERIFIED (-k))"},
    });
}

TEST_CASE("parts are dropped by their priority as the width shrinks, the state never") {
    play_each<StatusScript>({
        {"counts come before the address",
         R"(+12s; row 80 * up 00:12 tcp://127.0.0.1:PORT line | 0^ 0v 0~ 0x 0?
            row 40 * up 00:12 | 0^ 0v 0~ 0x 0?; row 30 * up 00:12 | 0^ 0v 0~ 0x 0?
            row 20 * up 00:12 | 0^ 0v; row 6 * up 0; row 1 *)"},
        {"so does the last round trip", R"(+12s; round trips 210us
            row 40 * up 00:12 | 0^ 0v 0~ 0x 0? | 0.21ms; round trips 12ms
            row 40 * up 00:12 | 0^ 0v 0~ 0x 0? |   12ms
            shows |   12ms p50 0.21 p95   12 p99   12)"},
        {"failures come before everything else",
         R"(+12s; counts 7 bad,12 lost
            row 40 * up 00:12 | 0^ 0v 0~ 7x 12?
            row 20 * up 00:12 | 7x 12?; row 16 * up 00:12 | 7x)"},
        {"rare counts only above 0",
         R"(hides <<; counts 1 sent,2 unsolicited,3 duplicates,4 reordered
            shows 1^ 0v 0~ 0x 0? 2<< 3 duplicate 4 reordered)"},
        {"the version of TLS comes before the times",
         R"(to a TLS server; -k; open; counts 20 sent,20 echoed; round trips 5200us
            row 74 * up 00:00 tls://127.0.0.1:PORT TLS1.3 UNVERIFIED (-k) | 20^ 20v 0~ 0x 0?
            row 73 * up 00:00 tls://127.0.0.1:PORT UNVERIFIED (-k) | 20^ 20v 0~ 0x 0?)"},
    });
}

TEST_CASE("round trips are drawn as bars relative to the longest") {
    const test::Locale utf8("C.UTF-8");
    CHECK(sparkline({0ms, 1ms, 2ms, 8ms, 6ms}) == "▁▂▃█▇");
    CHECK(sparkline({0ms}) == "▁");
    StatusScript().play("round trips 1ms,8ms; shows  8.0ms ▂█ p50");
}

TEST_CASE("hints that do not fit are dropped whole, and the first is truncated") {
    struct Row {
        int width;
        const char* label;
        const char* shown;
    };
    const Row rows[] = {{80, "", "F1 keys; ^D quits; F5 connects now"},
                        {34, "", "F1 keys; ^D quits; F5 connects now"},
                        {33, "", "F1 keys; ^D quits"},
                        {17, "", "F1 keys; ^D quits"},
                        {16, "", "F1 keys"},
                        {7, "", "F1 keys"},
                        {3, "", "F1 "},
                        {13, "find: ", "find: F1 keys"},
                        {12, "find: ", "find: "},
                        {3, "find: ", "fin"}};
    for (const auto& [width, label, shown] : rows) {
        ui::Row row;
        if (*label != '\0') row = {{label}};
        append_hints(row, "F1 keys; ^D quits; F5 connects now", width);
        CHECK(test::plain_text(row) == shown);
    }
}
