// The servers to compare with yodeld's.
#pragma once

#include "tests/bench/bufio_server.hpp"

void add_yodeld(std::vector<EchoEntrant>& entrants);
void add_yodeld_epoll(std::vector<EchoEntrant>& entrants);
// A hand-written loop in epoll, without TLS.
void add_raw_epoll_server(std::vector<EchoEntrant>& entrants);
// The same two servers, but without sleeping.
void add_busy_yodeld(std::vector<EchoEntrant>& entrants);
void add_spinning_raw_server(std::vector<EchoEntrant>& entrants);
