#include "app/screen/screen_recording.hpp"

#include "app/stats/outcome.hpp"

namespace yodel {

ScreenRecording::ScreenRecording(const std::string& path, const Session& session, ev::Time now)
    : session_(session),
      recorder_(path, *session.options().framing, session.last_id() + 1, now) {
    result_.datagrams = session.options().framing->datagrams;
    if (session.state() == Session::State::open) connected();
}

void ScreenRecording::connected() {
    const Session::Phases& phases = session_.phases();
    result_.count_try();
    result_.count_opened(phases.tcp, phases.handshake,
                         session_.tls() && session_.tls()->resumed, session_.tls());
    recorder_.connected(session_);
}

void ScreenRecording::add(Fate fate, const Message* message, const Reply* reply,
                          const Answer& answer, ev::Time now) {
    if (!recorder_.add(fate, message, reply, now)) return;
    const bool counted = fate == Fate::late;  // before, as lost
    if (message && !counted) result_.count_sent(1, message->sent);
    tally_.add(fate, answer, now);
}

bool ScreenRecording::finish(std::string_view reason) {
    const Outcome outcome{.results = result_, .reason = std::string(reason)};
    return recorder_.finish(outcome.json().str());
}

}  // namespace yodel
