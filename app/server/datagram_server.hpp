// Answers datagrams with the same bytes (RFC 862), with faults on demand. Used by yodeld
// alongside the EchoServer.
//
// Anybody can forge the source address of a datagram. So an answer is never longer than the
// question. It never goes to a privileged port (used by another service), to this server
// itself, or to a broadcast or multicast address. A question sent to a broadcast or multicast
// address gets no answer. If the same bytes come from the same address more than 64 times in a
// second, they count as a loop between two services, and are not answered until they have
// stopped for a second. Otherwise one forged datagram could make two servers answer each other
// for ever (CVE-2024-2169).
//
// The faults of a datagram depend only on the seed and on its number, which counts the
// datagrams of a port in order of arrival.
#pragma once

#include "app/server/counters.hpp"
#include "app/server/echo_server.hpp"
#include "app/server/faults.hpp"
#include "app/server/loop_guard.hpp"
#include "bufio/address.hpp"
#include "bufio/packets.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace yodel {

class DatagramServer {
public:
    struct Options {
        Faults faults;             // only the faults of messages apply
        bool reflect_any = false;  // answer every datagram, whatever its sender
        bool verbose = false;      // also log datagrams that are answered
        // Bytes of memory for answers that faults hold back; more are dropped.
        std::size_t max_held = 16 * 1024 * 1024;
    };
    DatagramServer(ev::Loop& loop, Options options, EchoServer::Log log);
    ~DatagramServer();

    // Returns the listening address. Throws std::system_error.
    const bufio::Address& listen(const bufio::Address& address);
    // Closes the port that listen() opened last.
    void close_last();
    // Stops receiving. Calls back once, when all answers held back by faults are sent, or after
    // the grace.
    void drain(ev::Duration grace, std::function<void()> drained);

    const Counters& counters() const { return counters_; }

private:
    class Port;

    // Returns why the datagram must not be answered; null if it may be.
    const char* refusal(const bufio::Datagram& datagram);
    bool from_itself(const bufio::Datagram& datagram) const;
    const char* loop_refusal(const bufio::Datagram& datagram);
    void report_drained();

    ev::Loop& loop_;
    const Options options_;
    const EchoServer::Log log_;
    Counters counters_;
    LoopGuard loop_guard_;
    std::vector<std::unique_ptr<Port>> ports_;
    std::function<void()> on_drained_;  // empty unless draining
    ev::Timer drain_timer_;
    ev::Timer grace_timer_;
};

}  // namespace yodel
