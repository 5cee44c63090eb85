#include "app/screen/screen_journal.hpp"

#include "app/protocol/pairing.hpp"
#include "app/stats/pair.hpp"

#include <utility>

namespace yodel {

ScreenJournal::ScreenJournal(const JournalFile& file, std::vector<const Session*> sessions,
                             ev::Time now)
    : sessions_(std::move(sessions)),
      journal_(file, sessions_.front()->options(), sessions_.front()->last_id() + 1, now) {
    for (unsigned target = 0; target < sessions_.size(); ++target) {
        counts_.emplace_back();
        counts_.back().results.over_datagrams =
            sessions_[target]->options().framing->in_datagrams;
        if (sessions_[target]->state() == Session::State::open) connected(target);
    }
}

const char* ScreenJournal::name(unsigned target) const {
    return sessions_.size() > 1 ? side_names[target] : "";
}

void ScreenJournal::connected(unsigned target) {
    const Session& session = *sessions_[target];
    const Session::Phases& phases = session.phases();
    Results& results = counts_[target].results;
    results.count_attempt();
    results.count_opened(phases.tcp, phases.handshake, session.tls() && session.tls()->resumed,
                         session.tls());
    journal_.add_connection(session, name(target));
}

void ScreenJournal::add(unsigned target, Fate fate, const Message* message, const Reply* reply,
                        const Answer& answer, ev::Time now) {
    if (!journal_.add_message(fate, message, reply, now, name(target))) return;
    const bool counted = fate == Fate::late;  // already counted, as lost
    if (message && !counted) counts_[target].results.count_sent(1, message->sent);
    counts_[target].tally.add(fate, answer, now);
}

bool ScreenJournal::finish(const std::string& reason) {
    const Outcome first{.results = counts_.front().results, .reason = reason};
    if (counts_.size() == 1) return journal_.finish(first.json().str());
    const PairResults none;
    const PairOutcome both{first, {.results = counts_.back().results, .reason = reason}, none};
    return journal_.finish(both.json(first.json(), both.b.json()).str());
}

}  // namespace yodel
