// The opening handshake of the WebSocket protocol (RFC 6455, section 4), for both sides. These
// functions use no socket.
#pragma once

#include "bufio/transport.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel::websocket {

// Longer requests and responses are refused.
constexpr std::size_t max_opening_size = 16 * 1024;  // bytes

struct Request {
    std::string host;        // the Host field: HOST or HOST:PORT
    std::string path = "/";  // with its query
    // Additional fields as whole lines, such as "Origin: https://example.com".
    std::vector<std::string> headers = {};
    std::vector<std::string> subprotocols = {};  // the preferred first

    // Returns the request, with its final blank line. Each request needs a new `key` of 24
    // base64 characters.
    std::string text(std::string_view key) const;
};

// Returns true if the user may add this line to a request: a name, a colon and a value whose
// only control characters are tabs. The fields that the handshake sets are excluded, except
// Host, and so are fields that announce a body.
bool is_allowed_header(std::string_view line);
bool is_token(std::string_view text);  // a token of RFC 9110, such as a subprotocol

// Returns the size of the header at the front, including its blank line, or none while it is
// incomplete.
std::optional<std::size_t> opening_size(std::string_view bytes);

// Returns true if another response follows, as after 103 Early Hints.
bool is_interim(std::string_view response);
// Return why the server does not open a WebSocket, or Reason::none if nothing is wrong.
// check_start() checks the bytes received so far, and check_response() a whole final response.
bufio::End check_start(std::string_view bytes);
bufio::End check_response(std::string_view response, const Request& request,
                          std::string_view key);

struct Reply {
    std::string text;        // the response to send
    std::string error = {};  // reason for a refusal; empty if the WebSocket is open
};
// Answers a whole request, or refuses an incomplete request that is too long or already
// invalid.
Reply reply_to(std::string_view request);

}  // namespace yodel::websocket
