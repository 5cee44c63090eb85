// Describes a message and its fate as a JSON object for --json.
//
// A recording is a file of such objects, one per line, from which the conversation can be
// replayed. Its first object names the format. Then come one object for each connection, one
// for each message with its payloads, and the end object.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
#include "app/protocol/session.hpp"
#include "app/text/json.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace yodel {

// Times are relative to `start`.
JsonObject message_object(const Event& event, ev::Time start);

// Like message_object(), for a recording. Adds the payloads and, without a message, the time of
// the reply.
JsonObject recorded_object(const Event& event, ev::Time start);

// Returns the first object of a recording. On each connection, messages are numbered from
// `first`. `started`: time 0 of the recording.
JsonObject recording_object(const SessionOptions& options, std::uint64_t first,
                            std::size_t connections,
                            std::chrono::system_clock::time_point started);

// Returns {"type":"connection","address":…}, with the TLS facts if the connection uses TLS.
// `number` is 0 for a single connection, and then omitted.
JsonObject connection_object(const Session& session, std::size_t number = 0);
JsonObject tls_object(const bufio::TlsFacts& facts);

}  // namespace yodel
