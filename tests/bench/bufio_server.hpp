// The interface of the compared echo servers. Each serves the connections of a listening
// socket for ever, in its own process.
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
    bool tls;                   // supports TLS
    std::size_t processor = 0;  // see bench::stay_on()
};

// The raw server is the baseline: a hand-written loop around poll, without TLS or with direct
// calls of OpenSSL.
void add_raw_server(std::vector<EchoEntrant>& entrants);
void add_our_server(std::vector<EchoEntrant>& entrants);
// These add nothing if the build did not find the library.
void add_libevent_server(std::vector<EchoEntrant>& entrants);
void add_libuv_server(std::vector<EchoEntrant>& entrants);
