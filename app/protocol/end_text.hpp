// Sentences about sessions: the end of a connection, or of an attempt to make one, and lost
// messages. Pure functions of data.
#pragma once

#include "app/protocol/session.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace yodel {

// Returns the end for a deadline that has passed. `phase`: see Session::phase(). `unsent`:
// bytes that the peer has not accepted.
bufio::End timeout_end(Deadline passed, const SessionOptions& options,
                       const std::string& phase = "", std::size_t unsent = 0);

// The server has closed its side too early, after this many of the replies.
bufio::End early_end(const SessionOptions& options, std::size_t replies, std::size_t missing,
                     const websocket::Facts* websocket);
// The peer has closed its side, or has reset the connection, inside a message or a reply.
// `part` is what was received of it. If it is the first reply, a likely cause is added.
bufio::End partial_end(const SessionOptions& options, std::string_view part, bool first_reply);
bufio::End reset_end(const SessionOptions& options, std::uint64_t id, std::string_view part);

// Returns why a message has no reply, as the rest of a sentence that begins with "no reply".
// `part`: bytes of its incomplete reply; they are shown with a likely cause if it is the
// first reply of the connection.
std::string loss_text(const Message& message, std::string_view part, bool connected,
                      bool first_reply, const SessionOptions& options);

// Returns one clause, with an option that may help. `tls` is null without TLS.
std::string end_text(const bufio::End& end, const SessionOptions& options,
                     const bufio::TlsFacts* tls);
inline std::string end_text(const Session& session) {
    return end_text(session.end(), session.options(), session.tls());
}

}  // namespace yodel
