// The servers of yodeld for connections and datagrams: on the caller's loop, and on additional
// threads, each with a loop and servers of its own.
//
// All threads listen on the same addresses, and the system distributes connections and
// datagrams over them. All traffic from one port of a peer goes to one thread. Connections to a
// unix-domain path all go to the caller's thread. All threads share one limit on connections.
// The faults of thread n, from 0, are drawn from the seed plus n.
#pragma once

#include "app/server/datagram_server.hpp"
#include "app/server/echo_server.hpp"
#include "bufio/address.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"
#include "ev/threads/crew.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace yodel {

class ServerThreads {
public:
    struct Options {
        EchoServer::Options streams = {};
        DatagramServer::Options datagrams = {};
        bool udp = false;  // each port also answers datagrams
        std::size_t threads = 1;
        bool busy = false;  // other threads never sleep while they have a connection
    };
    // `log` is called on the caller's thread. Lines of other threads reach it a moment later;
    // if too many wait, the others are only counted. Throws std::system_error if no descriptors
    // are left.
    ServerThreads(ev::Loop& loop, const Options& options, EchoServer::Log log);
    ~ServerThreads();
    ServerThreads(const ServerThreads&) = delete;

    // Returns the listening address. Call it before start(). Throws std::system_error.
    bufio::Address listen(const bufio::Address& wanted);
    // Starts the other threads. The caller's loop rethrows their exceptions.
    void start();

    // Applies to connections that are accepted from now on.
    void set_tls(const bufio::TlsContext& tls);
    // Calls back once when all servers have delivered their output, or after the grace.
    void drain(ev::Duration grace, std::function<void()> drained);
    // Calls back with the counters of all threads, once each of them has reported. A call
    // before that replaces the callback.
    void count(std::function<void(const Counters&)> counted);
    // True if the caller's thread has a connection.
    bool has_open_connection() const;

private:
    struct Servers;

    void server_drained();
    void gather();

    ev::Loop& loop_;
    Options options_;  // with the limit that all threads share
    const EchoServer::Log log_;
    std::unique_ptr<ev::Crew<Servers>> servers_;
    std::size_t undrained_ = 0;  // servers
    std::function<void()> on_drained_;
    ev::Timer count_timer_;                            // due at once; calls gather()
    std::function<void(const Counters&)> on_counted_;  // set while counting
};

}  // namespace yodel
