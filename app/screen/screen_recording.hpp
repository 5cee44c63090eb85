// A recording of the conversation on the screen, as --json --payload prints one: its file, and
// the counts for its end object. It contains one connection at most, because a replay has one.
#pragma once

#include "app/protocol/recorder.hpp"
#include "app/protocol/session.hpp"
#include "app/stats/results.hpp"
#include "ev/loop.hpp"

#include <string>
#include <string_view>

namespace yodel {

class ScreenRecording {
public:
    // Begins with the connection if one is open, and with the next message. The session
    // outlives it. Throws OutputError, see Recorder.
    ScreenRecording(const std::string& path, const Session& session, ev::Time now);

    bool has_connection() const { return result_.opened > 0; }
    void connected();
    // Adds what came of a message, as message_object() describes it, or "sent" if no reply is
    // awaited, or a reply alone: "unsolicited", or "twice". A message that was sent before the
    // recording began is left out.
    void add(const char* verdict, const Message* message, const Reply* reply, ev::Time now);

    bool flush() { return recorder_.flush(); }
    // Writes the object of the end. False: not all of the recording could be written.
    bool finish(std::string_view reason);

private:
    const Session& session_;
    Recorder recorder_;
    Results result_;
    Jitter jitter_;  // of datagrams
};

}  // namespace yodel
