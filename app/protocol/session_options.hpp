// What a session and its link may be told.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
#include "bufio/lookup.hpp"
#include "bufio/tcp_facts.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

struct SessionOptions {
    bufio::Endpoint endpoint;
    std::optional<bufio::TlsContext> tls;
    const Framing* framing = find_framing("line");
    std::size_t max_frame = 32 * 1024 * 1024;  // bytes
    bool numbered = false;                     // see ContentMatcher::Options
    Expect expect = Expect::echo;
    bool coalesce = false;  // see OrderedMatcher::Options
    // See OrderedMatcher::Options.
    std::function<bool(std::string_view)> expected_unsolicited = {};
    ev::Duration connect_timeout = std::chrono::seconds(10);  // look-up, TCP and TLS together
    // For each reply; and for a server that takes nothing of what waits to be sent.
    ev::Duration reply_timeout = std::chrono::seconds(5);
    // For the peer's own end, from finish() on.
    ev::Duration close_timeout = std::chrono::seconds(5);
    // For how long the first reply of a connection may turn out to be a greeting, by another
    // reply that follows. From finish() on it is the reply timeout instead, because nobody
    // waits to see the reply.
    ev::Duration greeting_time = std::chrono::milliseconds(500);
    std::optional<ev::Duration> idle_timeout;
    // Finds out if the system has retransmitted a segment of ours while a message was in
    // flight, and then sets Message::resent, also for a late one. Each reply that took more
    // than two round trips of the network may cost a system call.
    bool mark_resent = false;
    // Asks the system about a connection; tests replace it.
    std::optional<bufio::TcpFacts> (*tcp_facts)(int socket) = bufio::tcp_facts;
    unsigned retries = 0;  // tries in a row after the first, or Session::forever
    ev::Duration retry_delay = std::chrono::milliseconds(500);  // see Backoff
    // Seed of the random part of the waits between tries. Empty: each session's differ.
    std::optional<unsigned> retry_seed;
    // From the first connect() on. It runs on when the session is closed, because the user may
    // still have to write what the session has brought.
    std::optional<ev::Duration> max_time;
    ev::Duration spent{};  // of `max_time`, by the user before that connect()
    // The sentence for a server that closes while the user still has something to send.
    std::string closed_early = "the server closed the connection";
};

}  // namespace yodel
