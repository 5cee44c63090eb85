// The journal of the conversation on the screen, and the counts for the end object of a
// recording. A recording contains at most one connection, because a replay repeats only one.
#pragma once

#include "app/protocol/journal.hpp"
#include "app/protocol/session.hpp"
#include "app/stats/results.hpp"
#include "ev/loop.hpp"

#include <string>
#include <string_view>

namespace yodel {

class ScreenJournal {
public:
    // Begins with the open connection, if any, and with the next message. The session must
    // outlive the journal. Throws OutputError, see Journal.
    ScreenJournal(const JournalFile& file, const Session& session, ev::Time now);

    // True if the journal is a recording that already contains a connection.
    bool complete() const { return journal_.is_recording() && results_.opened > 0; }
    void connected();
    // Adds the fate of a message to a recording. Ignores a message that was sent before the
    // recording began.
    void add(const Event& event);

    void add_line(char sign, std::string_view line) { journal_.add_line(sign, line); }
    bool flush() { return journal_.flush(); }
    // Writes the end object. Returns false if the journal could not be written in full.
    bool finish(const std::string& reason);

private:
    const Session& session_;
    Journal journal_;
    Results results_;
};

}  // namespace yodel
