// A recorded conversation, or the samples of a load: a file of JSON objects, one on each line,
// which is read whole. The first object of a recording names the format. Then follow one for
// the connection, one for each message, and the end object.
#pragma once

#include "app/protocol/event.hpp"
#include "app/protocol/framing.hpp"
#include "app/protocol/ledger.hpp"
#include "app/text/exit_status.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

struct Recording {
    std::string name;                                    // the path, or "standard input"
    std::chrono::system_clock::time_point started = {};  // or time of the file, if unknown
    const Framing* framing = nullptr;                    // null if this is not a recording
    std::optional<Expect> expect = {};                   // none if unknown
    // Sorted by time, which counts from ev::Time{}. A message is `sent`, with the reply that
    // it expects in a replay, and has its fate in a later event. Connections and the end are
    // notes.
    std::vector<StoredEvent> events = {};
    // The sentence names the line, which ended the reading. No later line has an event.
    Trouble trouble = {};
};

struct RecordingUse {
    bool replay = false;        // refuse what cannot be replayed, such as a second connection
    std::size_t max_frame = 0;  // of a replayed payload
};

// Adds the text of the file to a recording that has a name.
void parse_recording(Recording& recording, std::string_view text, const RecordingUse& use);

// Reads a file of at most 256 MiB; "-" is standard input. Runs the loop until all of a pipe has
// arrived. If the time passes first, or if the loop is stopped, this is the trouble.
Recording read_recording(ev::Loop& loop, const std::string& path, const RecordingUse& use,
                         std::optional<ev::Duration> max_time);

}  // namespace yodel
