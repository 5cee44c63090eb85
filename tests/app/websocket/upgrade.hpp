// The server's part of the opening handshake, made without the code under test.
#pragma once

#include "app/text/units.hpp"
#include "bufio/tls.hpp"

#include <string>

namespace test {

// Returns the response to the request that a client has sent.
inline std::string response_to(const std::string& request) {
    const std::string name = "Sec-WebSocket-Key: ";
    const std::string key = request.substr(request.find(name) + name.size(), 24);
    return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           "Sec-WebSocket-Accept: " +
           ui::base64(bufio::sha1(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) + "\r\n\r\n";
}

}  // namespace test
