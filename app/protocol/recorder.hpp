// Records a conversation in a file while it runs. See app/protocol/message_object.hpp for its
// format, and LogFile for slow readers.
#pragma once

#include "app/protocol/message_object.hpp"
#include "app/text/log_file.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace yodel {

class Recorder {
public:
    // True if a file of this name is a recording, and not a transcript to read.
    static bool wanted(std::string_view name) { return name.ends_with(".json"); }

    // Leaves out messages with ids below `first`. Throws OutputError, also if the file is not
    // empty.
    Recorder(const std::string& path, const Framing& framing, std::uint64_t first, ev::Time now)
        : file_(path, LogFile::Content::recording), start_(now), first_(first) {
        file_.add_line(recording_object(framing, first_, 1).str());
    }

    // Records that a connection was opened. A replay supports only one.
    void connected(const Session& session) { file_.add_line(connection_object(session).str()); }
    // The message or the reply may be null; see message_object(). Returns false, and records
    // nothing, if the message was sent before the recording began.
    bool add(Fate fate, const Message* message, const Reply* reply, ev::Time now) {
        const bool since = !message || message->id >= first_;
        if (since) file_.add_line(recorded_object(fate, message, reply, start_, now).str());
        return since;
    }
    // Writes all pending lines, and gives a slow reader a moment. Call it before the end is
    // recorded. Returns false if some lines could not be written.
    bool drain() { return file_.finish(); }
    // Writes the end object, once. Returns false if the recording is incomplete.
    bool finish(const std::string& end) {
        file_.add_line(end);
        return file_.finish();
    }
    bool flush() { return file_.flush(); }
    const std::string& trouble() const { return file_.trouble(); }

private:
    LogFile file_;
    const ev::Time start_;
    const std::uint64_t first_;  // the number of the first message
};

}  // namespace yodel
