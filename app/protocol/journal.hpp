// The file of -o: a transcript for people, or a recording from which the conversation can be
// replayed. See LogFile for the form of a transcript and for slow readers, and
// app/protocol/message_object.hpp for the form of a recording.
#pragma once

#include "app/protocol/message_object.hpp"
#include "app/text/log_file.hpp"
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
    // A recording leaves out messages with ids below `first`. Throws OutputError, for a
    // recording also if the file is not empty.
    Journal(const JournalFile& file, const Framing& framing, std::uint64_t first, ev::Time now)
        : recording_(file.recording),
          file_(file.path, recording_ ? LogFile::Content::recording : LogFile::Content::log),
          start_(now),
          first_(first) {
        if (recording_) file_.add_line(recording_object(framing, first_, 1).str());
    }

    bool recording() const { return recording_; }
    // Adds a line to a transcript.
    void add_line(char sign, std::string_view bytes) {
        if (!recording_) file_.add(sign, bytes);
    }
    // Adds an open connection to a recording. A replay supports only one.
    void add_connection(const Session& session) {
        if (recording_) file_.add_line(connection_object(session).str());
    }
    // Adds a message to a recording. The message or the reply may be null; see
    // message_object(). Returns false if it is not recorded, because it was sent before the
    // recording began.
    bool add_message(Fate fate, const Message* message, const Reply* reply, ev::Time now) {
        const bool recorded = recording_ && (!message || message->id >= first_);
        if (recorded)
            file_.add_line(recorded_object(fate, message, reply, start_, now).str());
        return recorded;
    }
    bool flush() { return file_.flush(); }
    // Writes all pending lines, and gives a slow reader a moment. Call it before the end is
    // known. Returns false if some lines could not be written.
    bool drain() { return file_.finish(); }
    // Adds the end object to a recording, once. Returns false if the file is incomplete.
    bool finish(const std::string& end) {
        if (recording_) file_.add_line(end);
        return drain();
    }
    const std::string& trouble() const { return file_.trouble(); }

private:
    const bool recording_;
    LogFile file_;
    const ev::Time start_;
    const std::uint64_t first_;  // the number of the first message
};

}  // namespace yodel
