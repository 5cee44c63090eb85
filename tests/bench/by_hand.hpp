// The parts of the benchmarks, and their hand-written limits: servers and clients without any
// library but OpenSSL.
#pragma once

#include "tests/bench/measure.hpp"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <string>
#include <string_view>

namespace bench {

void compare_events();
void measure_timers();
void compare_servers();
void compare_clients();
void compare_loads();
void compare_queues();

inline constexpr std::size_t message = 64;           // bytes
inline constexpr std::size_t in_flight = 64 * 1024;  // bytes of a bulk transfer

// Runs what the words name, in a process of its own:
//     by-hand serve [CERTIFICATE KEY]     echoes, with one loop around epoll
//     by-hand datagrams                   echoes datagrams, with recvfrom and sendto
//     by-hand queue                       see queue_bench.cpp
//     by-hand relay PORT [AUTHORITY]      relays standard input to a port and back, over
//                                         verified TLS if an authority is named
// Servers print their port.
int by_hand(const std::vector<std::string>& words);
// Returns the command that does this.
Command by_hand_command(const std::string& name, const Command& arguments = {});

// Prints the port of a new socket on the loopback, which listens if it is a stream.
int bound_socket(int type);
// Returns the next connection, without delays by Nagle's algorithm.
int accepted(int listener, int flags = 0);

[[noreturn]] void serve_queue();

// A blocking client.
class Client {
public:
    explicit Client(const std::string& port, int type = SOCK_STREAM, SSL_CTX* ctx = nullptr);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void write(std::string_view bytes);
    // Returns the next bytes, which are valid until another client reads.
    std::string_view read(std::size_t size);
    int descriptor() const { return fd_; }

private:
    int fd_;
    SSL* ssl_ = nullptr;
};

}  // namespace bench
