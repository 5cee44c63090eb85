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

// The baseline: a hand-written loop around epoll, with TLS by direct calls of OpenSSL.
void add_raw_server(std::vector<EchoEntrant>& entrants);
void add_yodeld(std::vector<EchoEntrant>& entrants);
// Adds nothing if the build did not find the library.
void add_libuv_server(std::vector<EchoEntrant>& entrants);
