#include "app/screen/screen_recording.hpp"

#include "app/stats/end_object.hpp"
#include "app/stats/summary.hpp"

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

void ScreenRecording::add(const char* verdict, const Message* message, const Reply* reply,
                          ev::Time now) {
    if (!recorder_.add(verdict, message, reply, now)) return;
    const std::string_view kind = verdict;
    if (kind == "unsolicited") result_.count_unsolicited();
    if (kind == "twice") result_.count_duplicate();
    if (!message) return;
    const bool counted = reply && message->late;  // before, as lost
    if (!counted) result_.count_sent(1, message->sent);
    if (kind == "lost") result_.count_lost();
    if (!reply) return;
    result_.count_answered({reply->right, message->late, reply->round_trip}, now);
    if (result_.datagrams)
        result_.count_datagram(jitter_, reply->out_of_order, reply->round_trip);
}

bool ScreenRecording::finish(std::string_view reason) {
    return recorder_.finish(end_object(result_, reason, exit_status(result_, {})).str());
}

}  // namespace yodel
