// Sends back what it receives. Used by yodeld, and by yodel itself when it is started without a
// target.
#pragma once

#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

class EchoServer {
public:
    struct Options {
        std::optional<bufio::TlsContext> tls;
        std::size_t max_connections = 1024;    // one more is accepted and closed at once
        std::size_t max_buffer = 1024 * 1024;  // bytes of a connection; above, it is not read
        std::optional<ev::Duration> idle_timeout;
        ev::Duration handshake_timeout = std::chrono::seconds(10);
    };
    // One line of text, without its end, on what went wrong with a connection. It may hold
    // bytes that the peer chose.
    using Log = std::function<void(const std::string&)>;

    EchoServer(ev::Loop& loop, Options options, Log log);
    ~EchoServer();

    // The address that it got. Throws std::system_error.
    const bufio::Address& listen(const bufio::Address& address);
    // Stops accepting, lets the connections get what is on its way to them for at most `grace`,
    // and calls back when none is left.
    void drain(ev::Duration grace, std::function<void()> drained);

    std::size_t connections() const { return connections_.size(); }

private:
    class Connection;

    void accept(bufio::Fd socket, const bufio::Address& peer);
    void remove(Connection& connection);
    void finish_all();

    ev::Loop& loop_;
    Options options_;
    Log log_;
    std::vector<std::unique_ptr<bufio::Listener>> listeners_;
    std::vector<std::unique_ptr<Connection>> connections_;  // each knows its place
    std::function<void()> drained_;                         // set while draining
    ev::Duration grace_{};
    ev::Timer drain_;  // after a turn that has still echoed what had already come
};

}  // namespace yodel
