// The interface of the compared echo servers. Each serves the connections of a listening socket
// forever, in its own process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct Certificate {
    std::string file;  // PEM; empty: without TLS
    std::string key;   // PEM
};

struct EchoEntrant {
    std::string name;
    void (*serve)(int listening, const Certificate& certificate);
    bool tls;  // supports TLS
};

// The baselines: a hand-written loop around poll, with TLS by direct calls of OpenSSL, and a
// loop around epoll without TLS.
void add_raw_poll_server(std::vector<EchoEntrant>& entrants);
void add_raw_epoll_server(std::vector<EchoEntrant>& entrants);
// A one-page echo server on bufio::Stream.
void add_stream_server(std::vector<EchoEntrant>& entrants);
void add_yodeld_poll(std::vector<EchoEntrant>& entrants);
void add_yodeld_epoll(std::vector<EchoEntrant>& entrants);
// Adds nothing if the build did not find the library.
void add_libuv_server(std::vector<EchoEntrant>& entrants);
