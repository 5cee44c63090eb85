// Writes the file of -o: a transcript for people, or a recording that can be replayed; see
// app/protocol/recording.hpp. A transcript contains the lines of each event; see
// app/protocol/event_text.hpp.
//
// The file may be a pipe or a terminal. Writing never blocks, and up to 1 MiB is buffered for a
// slow reader. If the buffer overflows or a write fails, the journal has failed. trouble() then
// returns the reason, and nothing more is written.
#pragma once

#include "app/protocol/event_json.hpp"
#include "app/text/output.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

// A file name that ends with .json selects a recording.
struct JournalFile {
    JournalFile(std::string name = {}) : path(std::move(name)) {}

    bool empty() const { return path.empty(); }
    const char* kind() const { return recording ? "recording" : "transcript"; }

    std::string path;  // empty: none
    bool recording = path.ends_with(".json");
};

class Journal {
public:
    // Opens the file. A transcript is appended to it; for a recording it must be empty or new.
    // Messages with ids below `first` are not recorded. Throws OutputError, also for a pipe
    // without a reader.
    Journal(const JournalFile& file, const SessionOptions& options, std::uint64_t first,
            ev::Time now);

    bool is_recording() const { return is_recording_; }
    // Adds an open connection to a recording. A replay supports only one connection.
    void add_connection(const Session& session) {
        if (is_recording_) put(connection_object(session).str() + "\n");
    }
    // Adds the lines of an event, now. To a recording adds the object of a message's fate, or
    // of a sent message with Expect::none, unless the message was sent before the recording
    // began. Returns true if it was recorded.
    bool add_event(const Event& event);
    // Writes what the reader accepts now. Returns false if the journal has failed.
    bool flush();
    // Writes the rest, and waits a moment for a slow reader. Call it before deciding the exit
    // status, because it returns false if the journal has failed.
    bool drain();
    // Adds the end object to a recording, and calls drain(). Call it once.
    bool finish(const std::string& end);
    // Returns the error as one clause with the file's name; empty if there is none.
    const std::string& trouble() const { return trouble_; }

private:
    void put(std::string_view lines);
    void check();
    void fail(const std::string& why);

    const bool is_recording_;
    const std::string refusal_;  // beginning of each error text
    std::string trouble_;
    Output output_;
    const ev::Time start_;
    const std::uint64_t first_;  // id of the first recorded message
    const bool records_sent_;    // with Expect::none, because messages have no other fate
};

}  // namespace yodel
