// Writes events and connections as JSON objects, for --json, recordings and the samples of a
// load, and reads events back. yodel-json(5) describes the members.
#pragma once

#include "app/protocol/event.hpp"
#include "app/protocol/session.hpp"
#include "app/text/json.hpp"
#include "app/text/json_reader.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace yodel {

inline constexpr std::size_t whole_payload = std::string_view::npos;

struct EventForm {
    // Bytes of each payload that are written. With 0, the object contains no payloads, and no
    // time of an event without a message.
    std::size_t max_payload = 0;
    bool connection = false;  // the object contains the number of the connection
};

// Times are relative to `start`.
JsonObject json(const Event& event, ev::Time start, const EventForm& form);

// Reads an object with payloads. Times count from ev::Time{}. An event whose object does not
// contain its time happened at `previous`. Throws JsonError. `sample`: of a load, whose
// payloads may be cut, and whose round trip is measured from the planned time.
StoredEvent read_event(const JsonFields& object, ev::Time previous, bool sample = false);

// Version of the recording format. Readers accept no other version.
inline constexpr std::uint64_t recording_version = 2;

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
