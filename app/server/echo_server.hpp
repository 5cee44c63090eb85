// Sends back everything that it receives, with faults on demand. Used by yodeld, and by the
// clients when they are started without a target.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/server/counters.hpp"
#include "app/server/faults.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <cstddef>
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
        std::size_t max_connections = 1024;  // more are closed at once
        // Upper limit of the bytes that wait to be sent on a connection. Above it nothing is
        // answered, and soon nothing is read. Empty: 1 MiB, or one message of a length-prefixed
        // framing if that is more. Such a message is answered once it is whole; until then its
        // bytes do not count here.
        std::optional<std::size_t> max_buffer;
        std::size_t max_frame = 32 * 1024 * 1024;
        std::optional<ev::Duration> idle_timeout;
        ev::Duration handshake_timeout = std::chrono::seconds(10);
        // With websocket_framing() the server speaks WebSocket, and counts each message with
        // its 5-byte internal prefix.
        const Framing* framing = find_framing("raw");
        Faults faults;
        bool verbose = false;  // log connections and reads, not only failures

        std::size_t buffer() const;  // max_buffer, or its default
    };

    // An event of a connection, as one line of text without a newline. The text may contain
    // bytes that the peer chose.
    struct Event {
        std::string peer;  // the peer's address, or a word such as "accepting" without a peer
        std::string text;
    };
    using Log = std::function<void(const Event&)>;

    EchoServer(ev::Loop& loop, Options options, Log log);
    ~EchoServer();

    // Returns the listening address. Throws std::system_error.
    const bufio::Address& listen(const bufio::Address& address);
    // Serves a connection that was accepted elsewhere.
    void accept(bufio::Fd socket, const bufio::Address& peer);
    // Applies to connections that are accepted from now on.
    void set_tls(bufio::TlsContext tls) { options_.tls = std::move(tls); }
    // Stops accepting, and ends each connection as soon as nothing is left to send to its peer,
    // whether the peer closes its side or not. Calls back once, when no connection is left, or
    // when `grace` has passed.
    void drain(ev::Duration grace, std::function<void()> drained);

    Counters counters() const;

private:
    class Connection;

    void refuse(const bufio::Fd& socket, const bufio::Address& peer, const std::string& why);
    std::unique_ptr<bufio::Transport> make_transport(bufio::Fd socket) const;
    std::unique_ptr<Responder> make_responder();
    void remove(Connection& connection);
    void cut_off();
    void report_drained();

    ev::Loop& loop_;
    Options options_;
    Log log_;
    Counters counters_;  // without the bytes of open connections
    std::vector<std::unique_ptr<bufio::Listener>> listeners_;
    std::vector<std::unique_ptr<Connection>> connections_;  // each stores its own index
    std::size_t crowd_ = 0;             // most connections since there were none
    std::function<void()> on_drained_;  // empty unless draining
    ev::Timer drain_timer_;  // due after one more turn, which echoes the bytes received so far
    ev::Timer grace_timer_;
};

}  // namespace yodel
