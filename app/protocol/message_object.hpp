// A message and its outcome, as a JSON object of --json.
//
// A recording is a file of such objects, one a line, from which the conversation can be
// replayed. It contains the object of its format, then an object for each connection and for
// each message with its payloads, and finally the end object.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
#include "app/protocol/session.hpp"
#include "app/text/fate.hpp"
#include "app/text/json.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>

namespace yodel {

// The message or the reply may be null. Times count from `start`.
JsonObject message_object(Fate fate, const Message* message, const Reply* reply,
                          ev::Time start);

// The same for a recording: adds the payloads and, without a message, `now` as the time of the
// reply.
JsonObject recorded_object(Fate fate, const Message* message, const Reply* reply,
                           ev::Time start, ev::Time now);

// The version of the format of recordings. Readers accept no other.
inline constexpr std::uint64_t recording_version = 2;

// Returns the first object of a recording. Messages are numbered from `first`, on each of
// `connections` connections.
JsonObject recording_object(const Framing& framing, std::uint64_t first,
                            std::size_t connections);

// Returns {"type":"connection","address":…}, with `tls` if the connection uses TLS, and with
// its number unless that is 0, for a single connection.
JsonObject connection_object(const Session& session, std::size_t number = 0);
JsonObject tls_object(const bufio::TlsFacts& facts);

}  // namespace yodel
