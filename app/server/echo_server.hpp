// Sends back what it receives, or what it is told to send back wrongly. Used by yodeld, and by
// yodel itself when it is started without a target.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/server/faults.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <cstdint>
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
        std::size_t max_connections = 1024;  // one more is accepted and closed at once
        // The bytes that may wait to be sent on a connection; while more wait, nothing is
        // answered, and soon nothing read. Empty: 1 MiB, or one message of a framing by lengths
        // if that is more. A message of such a framing is answered once it is whole: while it
        // arrives, its bytes are not counted here.
        std::optional<std::size_t> max_buffer;
        std::size_t max_frame = 32 * 1024 * 1024;
        std::optional<ev::Duration> idle_timeout;
        // From the first byte of a message to its last; not for `raw`, which has none.
        std::optional<ev::Duration> message_timeout;
        ev::Duration handshake_timeout = std::chrono::seconds(10);
        const Framing* framing = find_framing("raw");
        Faults faults;
        bool verbose = false;  // also log what is in order

        std::size_t buffer() const;  // max_buffer, or what it is when empty
    };

    // What happened to a connection: one line of text, without its end. It may hold bytes that
    // the peer chose.
    struct Event {
        std::string peer;  // its address, or what is going on without one
        std::string text;
    };
    using Log = std::function<void(const Event&)>;

    struct Counters {
        std::uint64_t accepted = 0;
        std::uint64_t turned_away = 0;  // of these: closed at once
        std::uint64_t failed = 0;       // of these: ended otherwise than in order
        std::uint64_t bytes_in = 0;
        std::uint64_t bytes_out = 0;
    };

    EchoServer(ev::Loop& loop, Options options, Log log);
    ~EchoServer();

    // The address that it got. Throws std::system_error.
    const bufio::Address& listen(const bufio::Address& address);
    // Takes over a connection; listen() does so with each that comes.
    void accept(bufio::Fd socket, const bufio::Address& peer);
    // For the connections from now on.
    void set_tls(bufio::TlsContext tls) { options_.tls = std::move(tls); }
    // Stops accepting, lets the connections get what is under way to them for at most `grace`,
    // and calls back once, when none is left or time is up. A connection with nothing under way
    // is ended at once, whether its peer closes its side or not.
    void drain(ev::Duration grace, std::function<void()> drained);

    std::size_t connections() const { return connections_.size(); }
    Counters counters() const;

private:
    class Connection;

    std::unique_ptr<bufio::Transport> transport(bufio::Fd socket) const;
    std::unique_ptr<Responder> make_responder();
    void remove(Connection& connection);
    void tidy_soon();
    void cut_off();
    void report_drained();

    ev::Loop& loop_;
    Options options_;
    Log log_;
    Counters counters_;  // the bytes: of connections that are no more
    std::vector<std::unique_ptr<bufio::Listener>> listeners_;
    std::vector<std::unique_ptr<Connection>> connections_;  // each knows its place
    std::function<void()> drained_;                         // empty unless draining
    ev::Timer drain_;  // after a turn that has still echoed what had already come
    ev::Timer grace_;
    ev::Timer tidy_;  // at most once a second, and only when something happened
};

}  // namespace yodel
