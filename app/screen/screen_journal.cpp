#include "app/screen/screen_journal.hpp"

#include "app/stats/outcome.hpp"

namespace yodel {

ScreenJournal::ScreenJournal(const JournalFile& file, const Session& session, ev::Time now)
    : session_(session), journal_(file, session.options(), session.last_id() + 1, now) {
    results_.over_datagrams = session.options().framing->in_datagrams;
    if (session.state() == Session::State::open) connected();
}

void ScreenJournal::connected() {
    const Session::Phases& phases = session_.phases();
    results_.count_attempt();
    results_.count_opened(phases.tcp, phases.handshake,
                          session_.tls() && session_.tls()->resumed, session_.tls());
    journal_.add_connection(session_);
}

void ScreenJournal::add(const Event& event) {
    if (!journal_.add_event(event)) return;
    if (has_message(event.fate) && event.fate != Fate::late && event.fate != Fate::sent)
        results_.add({.fate = Fate::sent, .at = event.message.sent});
    results_.add(event);
}

bool ScreenJournal::finish(const std::string& reason) {
    const Outcome outcome{.results = results_, .reason = reason};
    return journal_.finish(outcome.json().str());
}

}  // namespace yodel
