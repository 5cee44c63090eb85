#include "app/screen/screen_recording.hpp"

#include "app/protocol/message_object.hpp"
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
    result_.count_opened(phases.tcp, phases.tls);
    recorder_.connected(session_);
}

void ScreenRecording::answered(const Message& message, const Reply& reply, ev::Time now) {
    if (!recorder_.holds(message)) return;
    if (!message.late) result_.count_sent(1, message.sent);  // else it was counted as lost
    result_.count_answered({reply.right, message.late, reply.round_trip}, now);
    if (result_.datagrams)
        result_.count_datagram(jitter_, reply.out_of_order, reply.round_trip);
    recorder_.add(verdict_of(message, reply), &message, &reply, now);
}

void ScreenRecording::lost(const Message& message, ev::Time now) {
    if (!recorder_.holds(message)) return;
    result_.count_sent(1, message.sent);
    result_.count_lost();
    recorder_.add("lost", &message, nullptr, now);
}

void ScreenRecording::sent(const Message& message, ev::Time now) {
    result_.count_sent(1, now);
    recorder_.add("sent", &message, nullptr, now);
}

void ScreenRecording::unsolicited(std::string_view payload, ev::Time now) {
    result_.count_unsolicited();
    const Reply reply{payload, {}};
    recorder_.add("unsolicited", nullptr, &reply, now);
}

void ScreenRecording::repeated(std::string_view payload, ev::Time now) {
    result_.count_repeated();
    const Reply reply{payload, {}};
    recorder_.add("twice", nullptr, &reply, now);
}

bool ScreenRecording::finish(std::string_view reason) {
    return recorder_.finish(end_object(result_, reason, exit_status(result_, {})).str());
}

}  // namespace yodel
