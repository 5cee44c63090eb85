// The journal of the conversation on the screen, and the counts for the end object of a
// recording. A recording contains at most one connection to each target, because a replay
// repeats only one.
#pragma once

#include "app/protocol/journal.hpp"
#include "app/protocol/session.hpp"
#include "app/stats/results.hpp"
#include "app/stats/tally.hpp"
#include "ev/loop.hpp"

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class ScreenJournal {
public:
    // Begins with the open connections, if any, and with the next message. There is a session
    // for each target. They must outlive the journal. Throws OutputError, see Journal.
    ScreenJournal(const JournalFile& file, std::vector<const Session*> sessions, ev::Time now);

    // True if the journal is a recording that already contains a connection to the target.
    bool complete(unsigned target) const {
        return journal_.is_recording() && counts_[target].results.opened > 0;
    }
    void connected(unsigned target);
    // Adds an event to a recording: a message, its reply, or both. Ignores a message that was
    // sent before the recording began. `answer`: how the reply is counted.
    void add(unsigned target, Fate fate, const Message* message, const Reply* reply,
             const Answer& answer, ev::Time now);

    void add_line(char sign, std::string_view line) { journal_.add_line(sign, line); }
    bool flush() { return journal_.flush(); }
    // Writes the end object. Returns false if the journal could not be written in full.
    bool finish(const std::string& reason);

private:
    struct Counts {
        Results results;
        Tally tally{results};
    };
    const char* name(unsigned target) const;

    const std::vector<const Session*> sessions_;
    Journal journal_;
    std::deque<Counts> counts_;  // for each target
};

}  // namespace yodel
