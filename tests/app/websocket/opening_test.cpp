// Tests the opening handshake as texts. For its way through a transport see transport_test.cpp.
#include "app/websocket/opening.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace test;
using namespace yodel::websocket;
using bufio::End;
using bufio::Reason;

namespace {

// The example of RFC 6455, section 1.3.
const std::string key = "dGhlIHNhbXBsZSBub25jZQ==";
const std::string accept_line = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const std::string switching = "HTTP/1.1 101 Switching Protocols";

using Lines = std::vector<std::string>;

std::string joined(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\r\n";
    return text + "\r\n";
}

// A valid response with more fields.
std::string response(Lines more = {}) {
    Lines lines = {switching, "Upgrade: websocket", "Connection: Upgrade", accept_line};
    lines.insert(lines.end(), more.begin(), more.end());
    return joined(lines);
}

std::string checked(const std::string& text, const Lines& offered = {}) {
    const End end = check_response(text, Request{.host = "h", .subprotocols = offered}, key);
    CHECK((end.reason == Reason::none || end.reason == Reason::connect));
    return end.text;
}

// A valid request, in which lines that begin with the name of another are replaced.
std::string request(const Lines& changes = {}, const std::string& first = "GET / HTTP/1.1") {
    Lines lines = {"Host: h", "Upgrade: websocket", "Connection: Upgrade",
                   "Sec-WebSocket-Key: " + key, "Sec-WebSocket-Version: 13"};
    for (std::string change : changes) {
        const std::string name = change.substr(0, change.find(':') + 1);
        for (std::string& line : lines)
            if (line.starts_with(name)) line.swap(change);
        if (change.starts_with("+")) lines.push_back(change.substr(1));
    }
    lines.insert(lines.begin(), first);
    return joined(lines);
}

}  // namespace

TEST_CASE("the request has the fields of the handshake, then the user's") {
    CHECK(request_text({.host = "example.com:8080", .path = "/chat?x=1"}, key) ==
          joined({"GET /chat?x=1 HTTP/1.1", "Host: example.com:8080", "Upgrade: websocket",
                  "Connection: Upgrade", "Sec-WebSocket-Key: " + key,
                  "Sec-WebSocket-Version: 13"}));
    CHECK(request_text({.host = "h",
                        .headers = {"Origin: https://example.com", "X: y"},
                        .subprotocols = {"chat", "superchat"}},
                       key) ==
          joined({"GET / HTTP/1.1", "Host: h", "Upgrade: websocket", "Connection: Upgrade",
                  "Sec-WebSocket-Key: " + key, "Sec-WebSocket-Version: 13",
                  "Sec-WebSocket-Protocol: chat, superchat", "Origin: https://example.com",
                  "X: y"}));
    const std::string own = request_text({.host = "h", .headers = {"hOST: other"}}, key);
    CHECK(contains(own, "hOST: other\r\n"));
    CHECK_FALSE(contains(own, "Host: h"));
}

TEST_CASE("recognizes lines that can be fields of the request") {
    for (const std::string line :
         {"Origin: https://example.com", "X:", "X:y", "X: a:b",
          "Authorization: Basic abc==", "x!#$%&'*+-.^_`|~9: \t\x80", "Host: other"})
        CHECK(is_header(line));
    for (const std::string line :
         {"", ":", ": x", "Origin", "Or igin: x", "X : y", " X: y", "X: a\r\nY: b", "X: a\nb",
          "X: \x7f", "X: \x01", "X\x80: y", "Upgrade: x", "CONNECTION: x",
          "Sec-WebSocket-Key: x", "sec-websocket-protocol: x", "Content-Length: 1",
          "Transfer-Encoding: chunked"})
        CHECK_FALSE(is_header(line));
    CHECK_FALSE(is_header(std::string("X: a\0b", 6)));
    CHECK(is_token("graphql-ws"));
    CHECK_FALSE(is_token(""));
    CHECK_FALSE(is_token("a b"));
    CHECK_FALSE(is_token("a,b"));
    CHECK_FALSE(is_token("\xc3\xa9"));
}

TEST_CASE("a header ends with its blank line") {
    const std::string text = response();
    for (std::size_t size = 0; size < text.size(); ++size)
        CHECK_FALSE(opening_size(text.substr(0, size)));
    CHECK(opening_size(text) == text.size());
    CHECK(opening_size(text + "\r\n\r\n") == text.size());
    CHECK_FALSE(opening_size("HTTP/1.1 101\n\n"));
}

TEST_CASE("accepts responses that follow RFC 6455") {
    CHECK(checked(response()) == "");
    CHECK(checked(joined({switching, "UPGRADE:WebSocket", "connection:  keep-alive, UPGRADE\t",
                          "sec-websocket-accept:" + accept_line.substr(21)})) == "");
    CHECK(checked(joined({"HTTP/1.1 101", "Upgrade: websocket", "Connection: Upgrade",
                          accept_line})) == "");
    CHECK(checked(joined({"HTTP/1.1 101 ", "Upgrade: websocket", "Connection: close",
                          "Connection: upgrade", accept_line})) == "");
    CHECK(checked(response({"Server: x", "Server: y", "X:"})) == "");
    CHECK(checked(response({"Sec-WebSocket-Protocol: b"}), {"a", "b"}) == "");
    CHECK(checked(response(), {"a", "b"}) == "");  // the server chooses none
}

TEST_CASE("refuses all other responses") {
    const std::string invalid = "the server's upgrade is invalid: ";
    const std::string refused = "the server refused the upgrade: ";
    const std::string no_http = "the server's response is not HTTP";
    const std::string upgrade = "Upgrade: websocket";
    const std::string connection = "Connection: Upgrade";
    const struct {
        std::string response;
        std::string text;
    } cases[] = {
        {joined({"HTTP/1.1 404 Not Found"}), refused + "404 Not Found"},
        {joined({"HTTP/1.0 404 File not found"}), refused + "404 File not found"},
        {joined({"HTTP/1.1 200"}), refused + "200"},
        {joined({"HTTP/1.1 100 Continue", upgrade, connection, accept_line}),
         refused + "100 Continue"},
        {joined({"HTTP/1.1 301 Moved", "Location: wss://example.com/"}),
         refused + "301 Moved, to wss://example.com/"},
        {joined({"HTTP/1.1 301 Moved"}), refused + "301 Moved"},
        {joined({"HTTP/1.1 426 Upgrade Required", "Location: /x"}),
         refused + "426 Upgrade Required"},
        {joined({"HTTP/1.0 101 Switching Protocols", upgrade, connection, accept_line}),
         invalid + "it is not HTTP/1.1"},
        {joined({switching, connection, accept_line}),
         invalid + "it does not switch to WebSocket"},
        {joined({switching, upgrade, accept_line}),
         invalid + "it does not switch to WebSocket"},
        {joined({switching, "Upgrade: h2c", connection, accept_line}),
         invalid + "it does not switch to WebSocket"},
        {joined({switching, "Upgrade: websockets", connection, accept_line}),
         invalid + "it does not switch to WebSocket"},
        {joined({switching, upgrade, "Connection: close", accept_line}),
         invalid + "it does not switch to WebSocket"},
        {joined({switching, upgrade, connection}),
         invalid + "Sec-WebSocket-Accept does not match the key"},
        {joined({switching, upgrade, connection, "Sec-WebSocket-Accept: " + key}),
         invalid + "Sec-WebSocket-Accept does not match the key"},
        {joined({switching, upgrade, connection,
                 "Sec-WebSocket-Accept: S3PPLMBITXAQ9KYGZZHZRBK+XOO="}),
         invalid + "Sec-WebSocket-Accept does not match the key"},
        {response({accept_line}), invalid + "Sec-WebSocket-Accept does not match the key"},
        {response({"Sec-WebSocket-Extensions: permessage-deflate"}),
         invalid + "it selects an extension that was not offered"},
        {response({"Sec-WebSocket-Protocol: c"}),
         invalid + "it selects a subprotocol that was not offered"},
        {response({"Sec-WebSocket-Protocol: A"}),
         invalid + "it selects a subprotocol that was not offered"},
        {response({"Sec-WebSocket-Protocol: a, b"}),
         invalid + "it selects a subprotocol that was not offered"},
        {response({"Sec-WebSocket-Protocol: a", "Sec-WebSocket-Protocol: a"}),
         invalid + "it selects a subprotocol that was not offered"},
        {response({"Sec-WebSocket-Protocol:"}),
         invalid + "it selects a subprotocol that was not offered"},
        {joined({"HTTP/1.1"}), no_http},
        {joined({"HTTP/1.1 "}), no_http},
        {joined({"HTTP/1.1 1"}), no_http},
        {joined({"HTTP/1.1 1010 x"}), no_http},
        {joined({"HTTP/1.1 101x"}), no_http},
        {joined({"HTTP/1.1 abc"}), no_http},
        {joined({"HTTP/1.1\t101 x"}), no_http},
        {joined({"HTTP/1.10 101 x"}), no_http},
        {joined({"HTTP/1.1 101 \x01"}), no_http},
        {response({"no colon"}), no_http},
        {response({": no name"}), no_http},
        {response({"Space : before the colon"}), no_http},
        {response({"X: y", " continued"}), no_http},
        {response({"X: y", "\tcontinued"}), no_http},
        {response({"X: a\nb"}), no_http},
        {response({"X: a\rb"}), no_http},
        {response({std::string("X: a\0b", 6)}), no_http},
        {response({"X: \x1b[2J"}), no_http},
        {"\r\n\r\n", no_http},
    };
    for (const auto& each : cases) {
        CAPTURE(each.response);
        CHECK(checked(each.response, {"a", "b"}) == each.text);
    }
}

TEST_CASE("looks at the first bytes of a response that is not whole") {
    const std::string start = response();
    for (std::size_t size = 0; size <= start.size(); ++size)
        CHECK_FALSE(check_start(start.substr(0, size)));
    CHECK_FALSE(check_start("\x15"));  // perhaps an alert
    CHECK(check_start("\x15\x03").text == "the server speaks TLS; use wss://");
    CHECK(check_start("\x15\x03\x01\x00\x02\x02\x46").reason == Reason::tls);
    for (const std::string garbage : {"\x16", "\x15\x04", "h", "HTTQ", "HTTP/2", "SSH-2.0-x",
                                      "* OK IMAP", "\r\n", "220 mail ESMTP"}) {
        const End end = check_start(garbage);
        CHECK(end.reason == Reason::connect);
        CHECK(end.text == "the server does not speak HTTP, which WebSocket needs");
    }
    const std::string longest = "HTTP/1.1 200 " + std::string(max_opening - 13, 'x');
    CHECK_FALSE(check_start(longest));
    CHECK(check_start(longest + "x").text == "the server's response exceeds 16384 bytes");
}

TEST_CASE("answers the request of RFC 6455, section 1.3") {
    const Reply reply = reply_to(joined(
        {"GET /chat HTTP/1.1", "Host: server.example.com", "Upgrade: websocket",
         "Connection: Upgrade", "Sec-WebSocket-Key: " + key, "Origin: http://example.com",
         "Sec-WebSocket-Protocol: chat, superchat", "Sec-WebSocket-Version: 13"}));
    CHECK(reply.error == "");
    CHECK(reply.text == response({"Sec-WebSocket-Protocol: chat"}));
    CHECK(checked(reply.text, {"superchat", "chat"}) == "");
}

TEST_CASE("answers every valid request, and explains why it refuses another") {
    const std::string no_get = "the request is not a GET of HTTP/1.1";
    const std::string no_upgrade = "this is a WebSocket echo server";
    const std::string no_version = "the WebSocket version is not 13";
    const std::string no_key = "Sec-WebSocket-Key is invalid";
    const std::string too_long = "the request's header exceeds 16 KiB";
    const struct {
        std::string request;
        const char* status;
        std::string error = {};
    } cases[] = {
        {request(), "101"},
        {request({}, "GET /a/b?c=d HTTP/1.1"), "101"},
        {request({}, "GET http://h/a HTTP/1.1"), "101"},
        {request({"Connection: keep-alive, Upgrade"}), "101"},
        {request({"Connection: keep-alive,Upgrade,"}), "101"},
        {request({"Connection: keep-alive", "+Connection: upgrade"}), "101"},
        {request({"Upgrade:\tWebSocket "}), "101"},
        {request({"+Sec-WebSocket-Extensions: permessage-deflate"}), "101"},
        {request({"+Content-Length: 0"}), "101"},
        {request({}, "POST / HTTP/1.1"), "400", no_get},
        {request({}, "GETS / HTTP/1.1"), "400", no_get},
        {request({}, "GET / HTTP/1.0"), "400", no_get},
        {request({}, "GET / HTTP/2"), "400", no_get},
        {request({}, "GET HTTP/1.1"), "400", no_get},
        {request({}, "GET /a b HTTP/1.1"), "400", no_get},
        {request({}, "GET /"), "400", no_get},
        {request({}, "GET"), "400", no_get},
        {request({}, ""), "400", no_get},
        {request({"Host: h", "+Host: h"}), "400", no_get},
        {request({"Host:h\x01"}), "400", no_get},
        {request({"+X: y", "+ folded"}), "400", no_get},
        {joined({"GET / HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade"}), "400",
         no_get},
        {joined({"GET / HTTP/1.1", "Host: h", "User-Agent: curl/8", "Accept: */*"}), "426",
         no_upgrade},
        {request({"Upgrade: h2c"}), "426", no_upgrade},
        {request({"Connection: keep-alive"}), "426", no_upgrade},
        {request({"Sec-WebSocket-Version: 8"}), "426", no_version},
        {request({"Sec-WebSocket-Version:"}), "426", no_version},
        {request({"+Sec-WebSocket-Version: 8"}), "426", no_version},
        {request({"Sec-WebSocket-Key:"}), "400", no_key},
        {request({"Sec-WebSocket-Key: dGhl"}), "400", no_key},
        {request({"Sec-WebSocket-Key: " + key + "="}), "400", no_key},
        {request({"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZSE="}), "400", no_key},
        {request({"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j*Q=="}), "400", no_key},
        {request({"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ= "}), "400", no_key},
        {request({"+Sec-WebSocket-Key: " + key}), "400", no_key},
        {"\x16\x03\x01\x02", "400", "the client speaks TLS, and this port does not"},
        {"PRI * HTTP/2.0", "400", no_get},
        {std::string(max_opening + 1, 'G'), "431", too_long},
        {request({"+X: " + std::string(max_opening, 'x')}), "431", too_long},
    };
    for (const auto& each : cases) {
        CAPTURE(each.request.substr(0, 300));
        const Reply reply = reply_to(each.request);
        CHECK(reply.text.starts_with("HTTP/1.1 " + std::string(each.status) + " "));
        CHECK(reply.error == each.error);
        if (reply.error.empty()) {
            CHECK(reply.text == response());
            continue;
        }
        // The body states the error, and its length is right.
        const std::size_t body = *opening_size(reply.text);
        CHECK(reply.text.substr(body) == each.error + "\n");
        CHECK(contains(reply.text,
                       "Content-Length: " + std::to_string(each.error.size() + 1) + "\r\n"));
        const bool upgrade = std::string(each.status) == "426";
        CHECK(contains(reply.text,
                       upgrade ? "Connection: Upgrade, close\r\n" : "Connection: close\r\n"));
        CHECK(contains(reply.text, "Upgrade: websocket\r\n") == upgrade);
        CHECK(contains(reply.text, "Sec-WebSocket-Version: 13\r\n") == upgrade);
    }
}

TEST_CASE("chooses the first subprotocol that was offered") {
    const struct {
        Lines offers;
        const char* chosen;
    } cases[] = {
        {{"+Sec-WebSocket-Protocol: a"}, "a"},
        {{"+Sec-WebSocket-Protocol: a, b"}, "a"},
        {{"+Sec-WebSocket-Protocol: b", "+Sec-WebSocket-Protocol: a"}, "b"},
        {{"+sec-websocket-protocol:\tgraphql-ws\t,x"}, "graphql-ws"},
        {{"+Sec-WebSocket-Protocol:"}, ""},
        {{"+Sec-WebSocket-Protocol: a b"}, ""},
    };
    for (const auto& each : cases) {
        const Reply reply = reply_to(request(each.offers));
        const std::string chosen = each.chosen;
        CHECK(reply.text ==
              (chosen.empty() ? response() : response({"Sec-WebSocket-Protocol: " + chosen})));
    }
}
