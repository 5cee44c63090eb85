#include "app/screen/screen_recording.hpp"

#include "app/protocol/message_object.hpp"
#include "app/stats/end_object.hpp"
#include "app/text/exit_status.hpp"

#include <algorithm>

namespace yodel {

ScreenRecording::ScreenRecording(const std::string& path, const AnySession& session,
                                 ev::Time now)
    : session_(session), recorder_(path, session, now) {
    if (session.options().framing->datagrams) result_.tally.datagrams.emplace();
    if (session.state() == AnySession::State::open) connected();
}

void ScreenRecording::connected() {
    const AnySession::Phases& phases = session_.phases();
    ++result_.connections.asked;
    result_.count_opened(phases.tcp, phases.tls);
    recorder_.connected(session_);
}

void ScreenRecording::answered(const Message& message, const Reply& reply, ev::Time now) {
    if (!recorder_.holds(message)) return;
    Tally& tally = result_.tally;
    if (!message.late) ++tally.sent;  // else it was counted as lost
    tally.answered(reply.right, message.late, reply.round_trip);
    if (tally.datagrams) tally.datagrams->answered(reply.out_of_order, reply.round_trip);
    record_time(message, now);
    recorder_.add(verdict_of(message, reply), &message, &reply, now);
}

void ScreenRecording::record_time(const Message& message, ev::Time now) {
    first_sent_ = std::min(first_sent_.value_or(message.sent), message.sent);
    last_ = now;
}

void ScreenRecording::lost(const Message& message, ev::Time now) {
    if (!recorder_.holds(message)) return;
    ++result_.tally.sent;
    ++result_.tally.lost;
    recorder_.add("lost", &message, nullptr, now);
}

void ScreenRecording::sent(const Message& message, ev::Time now) {
    ++result_.tally.sent;
    recorder_.add("sent", &message, nullptr, now);
}

void ScreenRecording::unsolicited(std::string_view payload, ev::Time now) {
    ++result_.tally.unsolicited;
    const Reply reply{payload, {}};
    recorder_.add("unasked", nullptr, &reply, now);
}

void ScreenRecording::repeated(std::string_view payload, ev::Time now) {
    if (result_.tally.datagrams) ++result_.tally.datagrams->twice;
    const Reply reply{payload, {}};
    recorder_.add("twice", nullptr, &reply, now);
}

bool ScreenRecording::finish(std::string_view reason) {
    const Tally& tally = result_.tally;
    result_.set_elapsed(last_ - first_sent_.value_or(last_));
    result_.status = tally.bad + tally.lost > 0 ? reply_wrong_or_lost : success;
    return recorder_.finish(end_object(result_, reason).str());
}

}  // namespace yodel
