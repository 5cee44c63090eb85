// A file to which a conversation is recorded while it goes on; see
// app/protocol/message_object.hpp for its form, and LogFile for files that are not read.
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
    // True for the name of a file that is to hold a recording, not a transcript to read.
    static bool wanted(std::string_view name) { return name.ends_with(".json"); }

    // Leaves out the messages before the one with the number `first`. Throws OutputError, also
    // for a file that is not empty: a recording begins its file.
    Recorder(const std::string& path, const Framing& framing, std::uint64_t first, ev::Time now)
        : file_(path, LogFile::Content::recording), start_(now), first_(first) {
        file_.add_line(recording_object(framing, first_, 1).str());
    }

    // Records that a connection was opened. A replay supports only one.
    void connected(const Session& session) { file_.add_line(connection_object(session).str()); }
    // Either of the message and the reply may be null; see message_object().
    void add(const char* verdict, const Message* message, const Reply* reply, ev::Time now) {
        if (message && !holds(*message)) return;
        file_.add_line(recorded_object(verdict, message, reply, start_, now).str());
    }
    // False: the message was sent before the recording began.
    bool holds(const Message& message) const { return message.id >= first_; }
    // Writes all pending lines, and gives a slow reader a moment, before the end is recorded.
    // Returns false if not all could be written.
    bool drain() { return file_.finish(); }
    // Writes the end object, once. Returns false if not all of the recording could be written.
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
