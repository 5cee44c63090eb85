// One interface for all echo servers that are compared. Each serves the connections of a
// listening socket for ever, in a process of its own.
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
    bool tls;                   // true if it can serve TLS
    std::size_t processor = 0;  // where it runs; see bench::stay_on()
};

// The raw server is the standard of comparison: a hand-written loop around poll, without TLS or
// with direct calls of OpenSSL.
void add_raw_server(std::vector<EchoEntrant>& entrants);
void add_our_server(std::vector<EchoEntrant>& entrants);
// Each of these adds nothing if its library was not found by the build.
void add_libevent_server(std::vector<EchoEntrant>& entrants);
void add_libuv_server(std::vector<EchoEntrant>& entrants);
