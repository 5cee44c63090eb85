#include "app/run/recording_source.hpp"

#include <algorithm>

namespace yodel {

// A late reply must arrive as an unsolicited message, because its message was lost before.
// Duplicate datagrams were made by the network.
RecordingSource::RecordingSource(ev::Loop& loop, std::shared_ptr<const Recording> recording,
                                 bool fast, Session& session, User& user)
    : loop_(loop),
      recording_(std::move(recording)),
      fast_(fast),
      session_(session),
      user_(user),
      due_timer_(loop, [this] { user_.source_changed(); }),
      overdue_timer_(loop, [this] {
          report_missing(loop_.now());
          if (waits()) overdue_timer_.start_at(outstanding_.begin()->second.deadline);
          user_.source_changed();
      }) {
    for (std::size_t place = 0; place < recording_->events.size(); ++place) {
        const Event& event = *recording_->events[place];
        const bool duplicate =
            event.fate == Fate::duplicate && !recording_->framing->in_datagrams;
        if (duplicate || event.fate == Fate::late || event.fate == Fate::unsolicited ||
            event.fate == Fate::unrecorded)
            outstanding_[place].text = without_mask(event.reply.payload);
    }
}

// --- Sending.

std::optional<Outgoing> RecordingSource::next() {
    for (; !stopped_ && next_ < recording_->events.size(); ++next_) {
        const Event& event = *recording_->events[next_];
        const bool sends = event.fate == Fate::sent;
        // The next message may depend on this reply.
        const bool waits_for_reply = !sends && fast_ && awaited_.contains(event.message.id);
        if (waits_for_reply || (sends && !is_due(event))) return std::nullopt;
        if (sends)
            return Outgoing{.payload = event.message.payload,
                            .planned =
                                fast_ ? ev::Time{} : *origin_ + event.at.time_since_epoch(),
                            .reply = event.message.expected};
        expect(event);
    }
    return std::nullopt;
}

bool RecordingSource::is_due(const Event& message) {
    if ((fast_ || !origin_) && waits()) return false;
    if (!origin_) origin_ = loop_.now() - message.at.time_since_epoch();
    const ev::Time due = *origin_ + message.at.time_since_epoch();
    if (!fast_ && due > loop_.now()) due_timer_.start_at(due);
    return fast_ || due <= loop_.now();
}

// Expects the event if it is an unsolicited message that has not arrived early. Without
// recorded times, a late reply may take as long again.
void RecordingSource::expect(const Event& event) {
    const auto expected = outstanding_.find(next_);
    if (expected == outstanding_.end()) return;
    const ev::Time now = loop_.now();
    const ev::Time due = fast_ || !origin_
                             ? now + event.reply.round_trip.value_or(ev::Duration::zero())
                             : std::max(*origin_ + event.at.time_since_epoch(), now);
    expected->second.deadline = due + session_.options().reply_timeout;
    if (!overdue_timer_.pending()) overdue_timer_.start_at(expected->second.deadline);
}

void RecordingSource::sent(const Outgoing& message, QueuedIds queued) {
    if (!queued) return;
    if (message.reply) awaited_[recording_->events[next_]->message.id] = queued.first;
    ++next_;
}

// The oldest message usually leaves first.
void RecordingSource::left_flight(const Message& message) {
    const auto found = std::find_if(awaited_.begin(), awaited_.end(), [&](const auto& each) {
        return each.second == message.id;
    });
    if (found != awaited_.end()) awaited_.erase(found);
}

bool RecordingSource::over() const {
    return stopped_ ||
           (next_ == recording_->events.size() && session_.in_flight() == 0 && !waits());
}

void RecordingSource::stop() {
    stopped_ = true;
    outstanding_.clear();
    closed();
}

void RecordingSource::closed() {
    due_timer_.cancel();
    overdue_timer_.cancel();
    report_missing(ev::Time::max());
}

// --- Unsolicited messages.

std::string RecordingSource::without_mask(std::string_view payload) const {
    const Expression* const mask = session_.options().pattern_or_null();
    return mask ? mask->masked(payload) : std::string(payload);
}

// Finds the first one with this payload. It may arrive earlier than recorded, by at most the
// reply timeout.
RecordingSource::Outstanding::iterator RecordingSource::find(std::string_view payload) {
    const std::vector<StoredEvent>& events = recording_->events;
    const std::string text = without_mask(payload);
    const auto message =
        std::find_if(events.begin() + static_cast<std::ptrdiff_t>(next_), events.end(),
                     [](const StoredEvent& each) { return each->fate == Fate::sent; });
    const auto found = std::find_if(outstanding_.begin(), outstanding_.end(),
                                    [&](const auto& each) { return each.second.text == text; });
    const bool early =
        found != outstanding_.end() && message != events.end() &&
        events[found->first]->at > (*message)->at + session_.options().reply_timeout;
    return early ? outstanding_.end() : found;
}

Fate RecordingSource::judge_unsolicited(std::string_view payload) {
    const auto found = find(payload);
    if (found == outstanding_.end()) return stopped_ ? Fate::unsolicited : Fate::unrecorded;
    outstanding_.erase(found);
    return Fate::unsolicited_as_recorded;
}

void RecordingSource::report_missing(ev::Time deadline) {
    while (waits() && outstanding_.begin()->second.deadline <= deadline) {
        const std::size_t place = outstanding_.begin()->first;
        outstanding_.erase(outstanding_.begin());
        user_.source_missed(recording_->events[place]->reply.payload);
    }
}

}  // namespace yodel
