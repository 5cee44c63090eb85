// Writes an event as a JSON object, for --json, recordings and the samples of a load, and reads
// it back. yodel-json(5) describes the members.
#pragma once

#include "app/protocol/event.hpp"
#include "app/text/json.hpp"
#include "app/text/json_reader.hpp"

#include <cstddef>

namespace yodel {

struct EventForm {
    // Bytes of each payload that are written. With 0, the object contains no payloads, and no
    // time of an event without a message.
    std::size_t max_payload = 0;
    bool connection = false;  // the object contains the number of the connection
};

// Times are relative to `start`. The event must not be a note or bytes as they were read.
JsonObject json(const Event& event, ev::Time start, const EventForm& form);

// Reads an object with payloads. Times count from ev::Time{}. An event whose object does not
// contain its time happened at `previous`. Throws JsonError. `sample`: of a load, whose
// payloads may be cut, and whose round trip is measured from the planned time.
StoredEvent read_event(const JsonFields& object, ev::Time previous, bool sample = false);

}  // namespace yodel
