// Tests the opening handshake as texts. For its way through a transport see transport_test.cpp.
#include "app/websocket/opening.hpp"

#include "tests/app/websocket/frames.hpp"
#include "tests/support/table.hpp"
#include "tests/support/text.hpp"

using namespace test;
using namespace yodel::websocket;
using bufio::End;
using bufio::Reason;

namespace {

// The example of RFC 6455, section 1.3.
const std::string key = "dGhlIHNhbXBsZSBub25jZQ==";
const std::string accepted = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

using Lines = std::vector<std::string>;

std::string text_of(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\r\n";
    return text + "\r\n";
}

// Applies changes, separated by " | ", to the lines. "Name: value" replaces the header with
// this name, "+line" adds a line, "-Name" removes a header, and "=line" replaces the first
// line.
std::string changed(Lines lines, const std::string& changes) {
    for (std::size_t at = 0; at < changes.size();) {
        const std::size_t end = std::min(changes.find(" | ", at), changes.size());
        const std::string change = test::bytes(changes.substr(at, end - at));
        const std::string name = change.substr(change[0] == '-', change.find(':'));
        at = end + 3;
        const auto line =
            std::find_if(lines.begin(), lines.end(), [&](const std::string& each) {
                return each.starts_with(name) && each[name.size()] == ':';
            });
        if (change[0] == '=') {
            lines[0] = change.substr(1);
        } else if (change[0] == '+') {
            lines.push_back(change.substr(1));
        } else {
            REQUIRE(line != lines.end());
            *line = change;
            if (change[0] == '-') lines.erase(line);
        }
    }
    return text_of(lines);
}

std::string response(const std::string& changes = {}) {
    return changed({"HTTP/1.1 101 Switching Protocols", "Upgrade: websocket",
                    "Connection: Upgrade", "Sec-WebSocket-Accept: " + accepted},
                   changes);
}

std::string request(const std::string& changes = {}) {
    return changed({"GET / HTTP/1.1", "Host: h", "Upgrade: websocket", "Connection: Upgrade",
                    "Sec-WebSocket-Key: " + key, "Sec-WebSocket-Version: 13"},
                   changes);
}

std::string checked(const std::string& text, const Lines& offered = {"a", "b"}) {
    const End end = check_response(text, Request{.host = "h", .subprotocols = offered}, key);
    CHECK((end.reason == Reason::none || end.reason == Reason::refused));
    return end.text();
}

}  // namespace

TEST_CASE("the request has the fields of the handshake, then the user's") {
    CHECK(Request{.host = "example.com:8080", .path = "/chat?x=1"}.text(key) ==
          text_of({"GET /chat?x=1 HTTP/1.1", "Host: example.com:8080", "Upgrade: websocket",
                   "Connection: Upgrade", "Sec-WebSocket-Key: " + key,
                   "Sec-WebSocket-Version: 13"}));
    CHECK(Request{.host = "h",
                  .headers = {"Origin: https://example.com", "X: y"},
                  .subprotocols = {"chat", "superchat"}}
              .text(key) ==
          text_of({"GET / HTTP/1.1", "Host: h", "Upgrade: websocket", "Connection: Upgrade",
                   "Sec-WebSocket-Key: " + key, "Sec-WebSocket-Version: 13",
                   "Sec-WebSocket-Protocol: chat, superchat", "Origin: https://example.com",
                   "X: y"}));
    const std::string own = Request{.host = "h", .headers = {"hOST: other"}}.text(key);
    CHECK(contains(own, "hOST: other\r\n"));
    CHECK_FALSE(contains(own, "Host: h"));
}

TEST_CASE("recognizes lines that can be fields of the request") {
    for (const std::string line :
         {"Origin: https://example.com", "X:", "X:y", "X: a:b",
          "Authorization: Basic abc==", "x!#$%&'*+-.^_`|~9: \t\x80", "Host: other"})
        CHECK(is_allowed_header(line));
    for (const std::string line :
         {"", ":", ": x", "Origin", "Or igin: x", "X : y", " X: y", "X: a\r\nY: b", "X: a\nb",
          "X: \x7f", "X: \x01", "X\x80: y", "Upgrade: x", "CONNECTION: x",
          "Sec-WebSocket-Key: x", "sec-websocket-protocol: x", "Content-Length: 1",
          "Transfer-Encoding: chunked"})
        CHECK_FALSE(is_allowed_header(line));
    CHECK_FALSE(is_allowed_header(std::string("X: a\0b", 6)));
    CHECK(is_token("graphql-ws"));
    CHECK_FALSE(is_token(""));
    CHECK_FALSE(is_token("a b"));
    CHECK_FALSE(is_token("a,b"));
    CHECK_FALSE(is_token("\xc3\xa9"));
}

TEST_CASE("accepts responses that follow RFC 6455, and refuses all others") {
    CHECK(checked(text_of({"HTTP/1.1 101", "UPGRADE:WebSocket",
                           "connection:  keep-alive, UPGRADE\t",
                           "sec-websocket-accept:" + accepted})) == "");
    const std::string invalid = "the server's WebSocket upgrade is invalid: ";
    const std::string refused = "the peer refused the WebSocket upgrade: ";
    const std::string no_http = "the server's response is not valid HTTP";
    const auto outcome = [&](const std::string& changes) {
        std::string text = checked(response(changes));
        if (text.starts_with(invalid)) text.replace(0, invalid.size(), "invalid: ");
        if (text.starts_with(refused)) text.replace(0, refused.size(), "refused: ");
        return text == no_http ? "no HTTP" : text;
    };
    check_table(R"( =>
=HTTP/1.1 101 =>
=HTTP/1.1 101\x20 =>
Connection: close | +Connection: upgrade =>
+Server: x | +Server: y | +X: =>
+Sec-WebSocket-Protocol: b =>
+Sec-WebSocket-Extensions: =>
=HTTP/1.1 404 Not Found => refused: 404 Not Found
=HTTP/1.0 404 File not found => refused: 404 File not found
=HTTP/1.1 200 => refused: 200
=HTTP/1.1 100 Continue => refused: 100 Continue
=HTTP/1.1 301 Moved | +Location: wss://example.com/ => refused: 301 Moved, to wss://example.com/
=HTTP/1.1 301 Moved => refused: 301 Moved
=HTTP/1.1 426 Upgrade Required | +Location: /x => refused: 426 Upgrade Required
=HTTP/1.0 101 Switching Protocols => invalid: it is not HTTP/1.1
-Upgrade => invalid: it does not switch to WebSocket
-Connection => invalid: it does not switch to WebSocket
Upgrade: h2c => invalid: it does not switch to WebSocket
Upgrade: websockets => invalid: it does not switch to WebSocket
Upgrade: websocket, h2c => invalid: it does not switch to WebSocket
+Upgrade: h2c => invalid: it does not switch to WebSocket
Connection: close => invalid: it does not switch to WebSocket
-Sec-WebSocket-Accept => invalid: Sec-WebSocket-Accept does not match the key
Sec-WebSocket-Accept: dGhlIHNhbXBsZSBub25jZQ== => invalid: Sec-WebSocket-Accept does not match the key
Sec-WebSocket-Accept: S3PPLMBITXAQ9KYGZZHZRBK+XOO= => invalid: Sec-WebSocket-Accept does not match the key
+Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo= => invalid: Sec-WebSocket-Accept does not match the key
+Sec-WebSocket-Extensions: permessage-deflate => invalid: it selects an extension that was not offered
+Sec-WebSocket-Protocol: c => invalid: it selects a subprotocol that was not offered
+Sec-WebSocket-Protocol: A => invalid: it selects a subprotocol that was not offered
+Sec-WebSocket-Protocol: a, b => invalid: it selects a subprotocol that was not offered
+Sec-WebSocket-Protocol: a | +Sec-WebSocket-Protocol: a => invalid: it selects a subprotocol that was not offered
+Sec-WebSocket-Protocol: => invalid: it selects a subprotocol that was not offered
=HTTP/1.1 => no HTTP
=HTTP/1.1\x20 => no HTTP
=HTTP/1.1 1 => no HTTP
=HTTP/1.1 1010 x => no HTTP
=HTTP/1.1 101x => no HTTP
=HTTP/1.1 abc => no HTTP
=HTTP/1.1\x09101 x => no HTTP
=HTTP/1.10 101 x => no HTTP
=HTTP/1.1 101 \x01 => no HTTP
+no colon => no HTTP
+: no name => no HTTP
+Space : before the colon => no HTTP
+X: y | + continued => no HTTP
+X: y | +\x09continued => no HTTP
+X: a\x0ab => no HTTP
+X: a\x0db => no HTTP
+X: a\x00b => no HTTP
+X: \x1b[2J => no HTTP
)",
                outcome);
    CHECK(checked("\r\n\r\n") == no_http);
}

TEST_CASE("looks at the first bytes of a response that is not whole") {
    const std::string start = response();
    for (std::size_t size = 0; size <= start.size(); ++size)
        CHECK_FALSE(check_start(start.substr(0, size)));
    CHECK_FALSE(check_start("\x15"));  // may begin a TLS alert
    CHECK(check_start("\x15\x03").text() == "the peer speaks TLS; use wss://");
    CHECK(check_start("\x15\x03\x01\x00\x02\x02\x46").reason == Reason::tls);
    for (const std::string garbage : {"\x16", "\x15\x04", "h", "HTTQ", "HTTP/2", "SSH-2.0-x",
                                      "* OK IMAP", "\r\n", "220 mail ESMTP"}) {
        const End end = check_start(garbage);
        CHECK(end.reason == Reason::refused);
        CHECK(end.text() == "the peer does not speak HTTP, which WebSocket needs");
    }
    const std::string longest = "HTTP/1.1 200 " + std::string(max_opening_size - 13, 'x');
    CHECK_FALSE(check_start(longest));
    CHECK(check_start(longest + "x").text() == "the server's response exceeds 16384 bytes");
}

// Checks the reply. Returns its status, with the subprotocol or the error.
std::string answer(const std::string& text) {
    const Reply reply = reply_to(text);
    const std::string status = reply.text.substr(9, 3);
    if (reply.error.empty()) {
        const std::string name = "Sec-WebSocket-Protocol: ";
        const std::size_t at = reply.text.find(name);
        const std::string chosen =
            at == reply.text.npos ? "" : reply.text.substr(at, reply.text.find('\r', at) - at);
        CHECK(reply.text == response(chosen.empty() ? "" : "+" + chosen));
        return chosen.empty() ? status : status + " " + chosen.substr(name.size());
    }
    const bool upgrade = status == "426";
    CHECK(reply.text.substr(*opening_size(reply.text)) == reply.error + "\n");
    CHECK(contains(reply.text,
                   "Content-Length: " + std::to_string(reply.error.size() + 1) + "\r\n"));
    CHECK(contains(reply.text,
                   upgrade ? "Connection: Upgrade, close\r\n" : "Connection: close\r\n"));
    CHECK(contains(reply.text, "Upgrade: websocket\r\n") == upgrade);
    CHECK(contains(reply.text, "Sec-WebSocket-Version: 13\r\n") == upgrade);
    return status + " " + reply.error;
}

TEST_CASE("answers every valid request, and explains why it refuses another") {
    check_table(R"( => 101
=GET /a/b?c=d HTTP/1.1 => 101
=GET http://h/a HTTP/1.1 => 101
Connection: keep-alive, Upgrade => 101
Connection: keep-alive,Upgrade, => 101
Connection: keep-alive | +Connection: upgrade => 101
Upgrade:\x09WebSocket\x20 => 101
+Sec-WebSocket-Extensions: permessage-deflate => 101
+Content-Length: 0 => 101
+Sec-WebSocket-Protocol: a => 101 a
+Sec-WebSocket-Protocol: a, b => 101 a
+Sec-WebSocket-Protocol: b | +Sec-WebSocket-Protocol: a => 101 b
+sec-websocket-protocol:\x09graphql-ws\x09,x => 101 graphql-ws
+Sec-WebSocket-Protocol: a,, b => 101 a
+Sec-WebSocket-Protocol: => 400 Sec-WebSocket-Protocol is not a list of tokens
+Sec-WebSocket-Protocol: a b => 400 Sec-WebSocket-Protocol is not a list of tokens
+Sec-WebSocket-Protocol: a, b c => 400 Sec-WebSocket-Protocol is not a list of tokens
=POST / HTTP/1.1 => 400 the request is not a valid HTTP/1.1 GET request
=GETS / HTTP/1.1 => 400 the request is not a valid HTTP/1.1 GET request
=GET / HTTP/1.0 => 400 the request is not a valid HTTP/1.1 GET request
=GET / HTTP/2 => 400 the request is not a valid HTTP/1.1 GET request
=GET HTTP/1.1 => 400 the request is not a valid HTTP/1.1 GET request
=GET /a b HTTP/1.1 => 400 the request is not a valid HTTP/1.1 GET request
=GET / => 400 the request is not a valid HTTP/1.1 GET request
=GET => 400 the request is not a valid HTTP/1.1 GET request
= => 400 the request is not a valid HTTP/1.1 GET request
+Host: h => 400 the request is not a valid HTTP/1.1 GET request
-Host => 400 the request is not a valid HTTP/1.1 GET request
Host:h\x01 => 400 the request is not a valid HTTP/1.1 GET request
+X: y | + folded => 400 the request is not a valid HTTP/1.1 GET request
-Upgrade | -Connection | +Accept: x/y => 426 the request is not a WebSocket upgrade
Upgrade: h2c => 426 the request is not a WebSocket upgrade
Connection: keep-alive => 426 the request is not a WebSocket upgrade
Sec-WebSocket-Version: 8 => 426 the WebSocket version is not 13
Sec-WebSocket-Version: => 426 the WebSocket version is not 13
+Sec-WebSocket-Version: 8 => 426 the WebSocket version is not 13
Sec-WebSocket-Key: => 400 Sec-WebSocket-Key is invalid
Sec-WebSocket-Key: dGhl => 400 Sec-WebSocket-Key is invalid
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=== => 400 Sec-WebSocket-Key is invalid
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZSE= => 400 Sec-WebSocket-Key is invalid
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j(Q== => 400 Sec-WebSocket-Key is invalid
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\x20 => 400 Sec-WebSocket-Key is invalid
+Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ== => 400 Sec-WebSocket-Key is invalid
+X: *{16384} => 431 the request's header exceeds 16 KiB
)",
                [](const std::string& changes) { return answer(request(changes)); });
    CHECK(answer("\x16\x03\x01\x02") == "400 the client speaks TLS, but this port does not");
    CHECK(answer("PRI * HTTP/2.0") == "400 the request is not a valid HTTP/1.1 GET request");
    CHECK(answer(std::string(max_opening_size + 1, 'G')) ==
          "431 the request's header exceeds 16 KiB");
}
