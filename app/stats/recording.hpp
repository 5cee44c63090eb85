// The files of conversations: a transcript for people, or a recording that can be replayed. A
// recording consists of JSON objects, one on each line, which yodel-json(5) describes.
#pragma once

#include "app/protocol/event.hpp"
#include "app/protocol/session.hpp"
#include "app/stats/histogram.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/output.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yodel {

// --- Objects

// Returns the first object of a recording. No recorded message has an id below `first`. Times
// in the recording count from `started`.
JsonObject recording_object(const SessionOptions& options, std::uint64_t first,
                            std::size_t connections,
                            std::chrono::system_clock::time_point started);

// Returns {"type":"connection","address":…}, with the TLS facts if the connection uses TLS.
// Omits the number if it is 0.
JsonObject connection_object(const Session& session, std::size_t number = 0);
JsonObject tls_object(const bufio::TlsFacts& facts);

// --- Writing

// The file of -o. A name that ends with .json selects a recording.
struct JournalFile {
    JournalFile(std::string name = {}) : path(std::move(name)) {}

    bool empty() const { return path.empty(); }
    const char* kind() const { return is_recording ? "recording" : "transcript"; }

    std::string path;  // empty if there is no file
    bool is_recording = path.ends_with(".json");
};

// Writes a transcript or a recording to a file, a pipe or a terminal. Only drain() waits for a
// slow reader; up to 1 MiB is buffered for it. The journal fails if the buffer overflows, if a
// write fails, or if drain() cannot write everything. Then nothing more is written.
class Journal {
public:
    // Opens the file. A transcript is appended to it; for a recording it must be empty or new.
    // Messages with ids below `first` are not recorded. Throws FileError, also for a pipe
    // without a reader.
    Journal(JournalFile file, const SessionOptions& options, std::uint64_t first, ev::Time now);

    bool is_recording() const { return file_.is_recording; }
    // Adds an open connection to a recording.
    void add_connection(const Session& session) {
        if (is_recording()) put(connection_object(session).str() + "\n");
    }
    // Adds the lines of an event to a transcript. To a recording, adds an object if the event
    // is a message's fate or an unsolicited message. With Expect::none, the sending is the
    // fate. Returns true if it has added an object.
    bool add_event(const Event& event);
    bool flush();  // returns false if the journal has failed
    // Writes the rest, and waits a moment for a slow reader. Call it before deciding the exit
    // status, because it returns false if the journal has failed.
    bool drain();
    // Adds the end object to a recording, and calls drain(). Call it once.
    bool finish(const std::string& end);
    // Returns why the journal has failed, as one clause, or an empty string if it has not.
    const std::string& trouble() const { return trouble_; }

private:
    void put(std::string_view lines);
    void fail(const std::string& why);

    const JournalFile file_;
    std::string trouble_;
    Output output_;
    const ev::Time start_;
    const std::uint64_t first_;  // id of the first recorded message
    const bool records_sent_;    // true with Expect::none; see add_event()
};

// --- Reading

struct Recording {
    std::string name;                                    // the path, or "standard input"
    std::chrono::system_clock::time_point started = {};  // if unknown, the file's time, or now
    const Framing* framing = nullptr;                    // null without a recording's header
    std::optional<Expect> expect = {};                   // no value if unknown
    // Sorted by time, which counts from ev::Time{}. A message has an event with Fate::sent,
    // unless it is unsent, and later events with its fate: none if no reply is expected, two if
    // it is late. In a replay, its first event contains the expected reply, if any. Connections
    // and the end are notes. Samples of a load are instead sorted by their sending, and each is
    // directly followed by its fate.
    std::vector<StoredEvent> events = {};
    bool has_samples = false;    // the events are the samples of a load
    Histogram round_trips = {};  // of all messages of a load; empty without samples
    // Set if reading failed. Names the line if a line was invalid. Later lines have no events.
    Trouble trouble = {};
};

struct RecordingUse {
    bool is_replay = false;     // add expected replies; refuse what cannot be replayed
    std::size_t max_frame = 0;  // maximum size of a replayed payload, in bytes
};

// Parses the text of a recording, or of a load with samples. The recording must have a name.
void parse_recording(Recording& recording, std::string_view text, const RecordingUse& use);

// Reads a file of at most 256 MiB; "-" is standard input. Runs the loop until the whole file
// has arrived. Sets Recording::trouble on failure, also if `max_time` passes or the loop is
// stopped before that.
Recording read_recording(ev::Loop& loop, const std::string& path, const RecordingUse& use,
                         std::optional<ev::Duration> max_time);

}  // namespace yodel
