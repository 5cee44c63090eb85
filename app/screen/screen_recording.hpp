// A recording of the conversation on the screen, as --json --payload prints one: its file, and
// what is counted for the object of its end. It is that of one connection at most, because a
// replay has only one.
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
    // Begins with the connection where one is open, and with the next message. The session
    // outlives it. Throws OutputError, see Recorder.
    ScreenRecording(const std::string& path, const Session& session, ev::Time now);

    bool has_connection() const { return result_.opened > 0; }
    void connected();
    // The verdict about a message, at this time. One that was sent before is left out.
    void answered(const Message& message, const Reply& reply, ev::Time now);
    void lost(const Message& message, ev::Time now);
    void sent(const Message& message, ev::Time now);  // and no reply is awaited
    void unsolicited(std::string_view payload, ev::Time now);
    void repeated(std::string_view payload, ev::Time now);

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
