// A message and what came of it, as the JSON object of --json.
//
// A recording is a file of such objects, one a line, from which the conversation can be
// replayed: first the object of its format, then one for each connection and one for each
// message with its payloads, and at last the end object.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/matcher.hpp"
#include "app/protocol/session.hpp"
#include "app/text/json.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>

namespace yodel {

// The verdict is `echoed`, `wrong`, `late`, `lost` or `unsolicited`. Either of the message and
// the reply may be null. Times count from `start`.
JsonObject message_object(const char* verdict, const Message* message, const Reply* reply,
                          ev::Time start);

// The same for a recording: with the payloads and, without a message, with the time of the
// reply, which is `now`.
JsonObject recorded_object(const char* verdict, const Message* message, const Reply* reply,
                           ev::Time start, ev::Time now);

// The version of the format of recordings. Readers accept no other.
inline constexpr std::uint64_t recording_version = 1;

// Returns the first object of a recording. Its messages are numbered from `first` on, on each
// of `connections` connections.
JsonObject recording_object(const Framing& framing, std::uint64_t first,
                            std::size_t connections);

// Returns the verdict for a reply to a message.
const char* verdict_of(const Message& message, const Reply& reply);

// Returns {"type":"connection","address":…}, with `tls` if the connection has it, and with its
// number if that is not 0, because there are many.
JsonObject connection_object(const Session& session, std::size_t number = 0);
JsonObject tls_object(const bufio::TlsFacts& facts);

}  // namespace yodel
