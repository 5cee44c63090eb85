// The file of -o: a transcript for people, or a recording from which the conversation can be
// replayed, see app/protocol/message_object.hpp. A transcript contains a line with the wall
// clock's time for each message:
//
//     2026-11-21 12:04:31.208113 > hello
//
// `>` was sent, `<` received, and `-` is a remark. All bytes but plain text are made visible.
//
// The file may be a pipe or a terminal: it never blocks. Up to 1 MiB waits for a reader. If
// more would have to wait, or a write fails, the journal has failed: trouble() gives the
// reason, and nothing more is written.
#pragma once

#include "app/protocol/message_object.hpp"
#include "app/text/output.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

// A file name ending with .json asks for a recording.
struct JournalFile {
    JournalFile(std::string name = {}) : path(std::move(name)) {}

    bool empty() const { return path.empty(); }
    const char* kind() const { return recording ? "recording" : "transcript"; }

    std::string path;  // empty: none
    bool recording = path.ends_with(".json");
};

class Journal {
public:
    // A transcript is appended. A recording begins its file, which must be empty, and leaves
    // out messages with ids below `first`. Throws OutputError, also for a pipe that nobody
    // reads.
    Journal(const JournalFile& file, const Framing& framing, std::uint64_t first, ev::Time now);

    bool recording() const { return recording_; }
    // Adds a line to a transcript.
    void add_line(char sign, std::string_view bytes);
    // Adds an open connection to a recording. A replay supports only one.
    void add_connection(const Session& session) {
        if (recording_) put(connection_object(session).str());
    }
    // Adds a message to a recording. The message or the reply may be null; see
    // message_object(). Returns false if it is not recorded, because it was sent before the
    // recording began.
    bool add_message(Fate fate, const Message* message, const Reply* reply, ev::Time now);
    // Writes all that the reader accepts now. False: the journal has failed.
    bool flush();
    // Writes the rest, and gives a slow reader a moment. Call it before the exit status is
    // reported anywhere. False: the journal has failed.
    bool drain();
    // Adds the end object to a recording, once, and drains.
    bool finish(const std::string& end);
    // Returns one clause with the file's name; empty while all is well.
    const std::string& trouble() const { return trouble_; }

private:
    void put(std::string_view line);
    void check();
    void fail(const std::string& why);

    const bool recording_;
    const std::string refusal_;  // the beginning of all troubles
    std::string trouble_;
    Output output_;
    const ev::Time start_;
    const std::uint64_t first_;  // the number of the first message
};

}  // namespace yodel
