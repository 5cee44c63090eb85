// The echo server of yodeld, and of clients without a target. Echoes connections and datagrams,
// with faults on demand.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/server/responder.hpp"
#include "bufio/dial.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yodel {

struct Counters {
    std::uint64_t connections = 0;  // open now
    std::uint64_t accepted = 0;
    std::uint64_t turned_away = 0;  // accepted, and closed immediately
    std::uint64_t failed = 0;       // ended by an error, a limit or a timeout
    std::uint64_t bytes_in = 0;     // received on stream connections
    std::uint64_t bytes_out = 0;
    std::uint64_t datagrams_in = 0;
    std::uint64_t datagrams_out = 0;
    std::uint64_t datagrams_unanswered = 0;  // refused, see datagram_port.hpp
    std::uint64_t datagrams_dropped = 0;     // by a fault, by the system, or at max_buffer
    std::uint64_t datagram_bytes_in = 0;
    std::uint64_t datagram_bytes_out = 0;
};

// The names are those in JSON; in text, spaces replace the underscores.
inline constexpr std::pair<std::string_view, std::uint64_t Counters::*> counter_rows[] = {
    {"connections", &Counters::connections},
    {"accepted", &Counters::accepted},
    {"turned_away", &Counters::turned_away},
    {"failed", &Counters::failed},
    {"bytes_in", &Counters::bytes_in},
    {"bytes_out", &Counters::bytes_out},
    {"datagrams_in", &Counters::datagrams_in},
    {"datagrams_out", &Counters::datagrams_out},
    {"datagrams_unanswered", &Counters::datagrams_unanswered},
    {"datagrams_dropped", &Counters::datagrams_dropped},
    {"datagram_bytes_in", &Counters::datagram_bytes_in},
    {"datagram_bytes_out", &Counters::datagram_bytes_out},
};

class EchoServer {
public:
    struct Options {
        std::optional<bufio::TlsContext> tls;
        std::size_t max_connections = 1024;  // more are closed immediately
        // Limits the unsent bytes of a connection. At the limit, the server stops answering,
        // and soon stops reading. The default is 1 MiB, or the size of the longest
        // length-prefixed message if that is more. Also limits the memory of answers to
        // datagrams that faults hold back, by default to 16 MiB.
        std::optional<std::size_t> max_buffer;
        std::size_t max_frame = 32 * 1024 * 1024;
        std::optional<ev::Duration> idle_timeout;
        ev::Duration handshake_timeout = std::chrono::seconds(10);
        // With websocket_framing(), the server speaks WebSocket. Byte counts then include 5
        // internal bytes for each message.
        const Framing* framing = find_framing("raw");
        Faults faults;
        bool may_answer_all = false;  // answer every datagram, whatever its sender
        bool is_verbose = false;      // log connections, reads and datagrams, not only failures

        std::size_t effective_max_buffer() const;
    };

    // Takes a line without the newline. The text may contain bytes that the peer chose.
    // `peer` is the peer's address or, if the line is about no peer, a word such as
    // "accepting".
    using Log = std::function<void(const std::string& peer, const std::string& text)>;

    EchoServer(ev::Loop& loop, Options options, Log log);
    ~EchoServer();

    // Return the address with the actual port. Throw std::system_error.
    const bufio::Address& listen(const bufio::Address& address);
    const bufio::Address& listen_datagrams(const bufio::Address& address);
    void close_last_datagram_port();
    void accept(bufio::Fd socket, const bufio::Address& peer);  // serves or refuses it
    // Affects only later connections.
    void set_tls(bufio::TlsContext tls) { options_.tls = std::move(tls); }
    // Stops accepting connections and receiving datagrams. Finishes each connection once
    // nothing is left to answer or to send. After `grace`, cuts off those that are left. Calls
    // back once, when no connection and no answer is left.
    void drain(ev::Duration grace, std::function<void()> on_drained);

    Counters counters() const;

private:
    class Connection;
    class DatagramPort;

    void refuse(const bufio::Fd& socket, const bufio::Address& peer, const std::string& why);
    void remove(Connection& connection);
    void cut_off();
    void report_drained();

    ev::Loop& loop_;
    Options options_;
    Log log_;
    Counters counters_;  // counters() adds the open connections and their bytes
    std::vector<std::unique_ptr<bufio::Listener>> listeners_;
    std::list<Connection> connections_;
    std::vector<std::unique_ptr<DatagramPort>> datagram_ports_;
    std::size_t peak_connections_ = 0;  // most connections since there were none
    std::function<void()> on_drained_;  // empty unless draining
    ev::Timer drain_timer_;             // lets the loop first read the bytes that have arrived
    ev::Timer grace_timer_;
};

// Starts a client's own echo server on a free loopback port, and stores its address in
// `endpoint`. The server can serve at least `connections` clients at a time. If `tls` is not
// null, the server uses TLS, and `tls` is changed to trust it. The loop must outlive the
// server. Throws UsageError if the framing cannot be echoed, or std::runtime_error if listening
// fails.
std::unique_ptr<EchoServer> start_own_server(ev::Loop& loop, bufio::Endpoint& endpoint,
                                             const Framing& framing, std::size_t connections,
                                             bufio::TlsClientOptions* tls);

}  // namespace yodel
