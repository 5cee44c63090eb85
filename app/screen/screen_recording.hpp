// A recording of the conversation on the screen, in the form of --json --payload: its file,
// and the counts for its end object. It contains at most one connection, because a replay
// repeats only one.
#pragma once

#include "app/protocol/recorder.hpp"
#include "app/protocol/session.hpp"
#include "app/stats/results.hpp"
#include "app/stats/tally.hpp"
#include "ev/loop.hpp"

#include <string>
#include <string_view>

namespace yodel {

class ScreenRecording {
public:
    // Begins with the connection if one is open, and with the next message. The session must
    // outlive the recording. Throws OutputError, see Recorder.
    ScreenRecording(const std::string& path, const Session& session, ev::Time now);

    bool has_connection() const { return result_.opened > 0; }
    void connected();
    // Adds a message, or a reply without one. Ignores a message that was sent before the
    // recording began. `answer`: how the reply is counted.
    void add(Fate fate, const Message* message, const Reply* reply, const Answer& answer,
             ev::Time now);

    bool flush() { return recorder_.flush(); }
    // Writes the end object. Returns false if the recording could not be written in full.
    bool finish(std::string_view reason);

private:
    const Session& session_;
    Recorder recorder_;
    Results result_;
    Tally tally_{result_};
};

}  // namespace yodel
