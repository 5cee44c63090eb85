#include "app/protocol/session_options.hpp"

#include "tests/support/catch.hpp"

#include <climits>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

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
    options.endpoint.is_udp = true;
    CHECK(options.target() == "udp://[::1]:7");
    options.endpoint.path = "/run/echo";
    CHECK(options.target() == "unix:/run/echo");
}

TEST_CASE("explains an end with the option that may help") {
    const std::string hello =
        "; the server did not answer a ClientHello of 1449 bytes, which exceeds "
        "a usual TCP segment and is too large for some servers and "
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
             tls.has_default_groups = false;
         },
         hello},
        {bufio::Reason::tls, [](Facts& tls) { tls.unanswered_hello_size = 1449; }, ""},
        {bufio::Reason::own_certificate, [](Facts&) {}, ""},
        {bufio::Reason::own_certificate, [](Facts& tls) { tls.subject = "CN=a"; },
         "; choose one that it accepts with --cert FILE and --key FILE"},
        {bufio::Reason::certificate, [](Facts& tls) { tls.is_untrusted = true; },
         "; to accept it: --cacert FILE, --pinnedpubkey P, or -k"},
        {bufio::Reason::certificate,
         [](Facts& tls) {
             tls.is_untrusted = true;
             tls.fault_count = 2;
         },
         "; to accept it: --pinnedpubkey P, or -k"},
        {bufio::Reason::certificate, [](Facts& tls) { tls.has_incomplete_chain = true; },
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
