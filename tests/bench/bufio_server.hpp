// One face for every echo server that is compared. Each serves what comes to a listening
// socket, for ever, in a process of its own.
#pragma once

#include <string>
#include <vector>

struct Certificate {
    std::string file;  // PEM; empty: without TLS
    std::string key;   // PEM
};

struct EchoEntrant {
    std::string name;
    void (*serve)(int listening, const Certificate& certificate);
    bool tls;  // whether it can
};

// The raw one is the measure: a hand-written loop in poll, without TLS or with OpenSSL's calls.
void add_raw_server(std::vector<EchoEntrant>& entrants);
void add_our_server(std::vector<EchoEntrant>& entrants);
// Each adds nothing where it was not there to be built.
void add_libevent_server(std::vector<EchoEntrant>& entrants);
void add_libuv_server(std::vector<EchoEntrant>& entrants);
