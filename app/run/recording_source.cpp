#include "app/run/recording_source.hpp"

#include <algorithm>

namespace yodel {

namespace {

// Returns true for a reply without a message, which must arrive again in a replay. A late reply
// is one, because its message was already lost. The network made duplicate datagrams.
bool is_unsolicited(const Event& event, const Framing& framing) {
    switch (event.fate) {
    case Fate::late:
    case Fate::unsolicited:
    case Fate::unrecorded: return true;
    case Fate::duplicate: return !framing.in_datagrams;
    default: return false;
    }
}

}  // namespace

void RecordingSource::prepare(Session::Options& options, const Framing& framing) {
    options.framing = &framing;
    options.expect = Expect::given;
    options.early_close = "closed before the end of the recording";
}

RecordingSource::RecordingSource(ev::Loop& loop, std::shared_ptr<const Recording> recording,
                                 bool fast, Session& session, User& user)
    : loop_(loop),
      recording_(std::move(recording)),
      fast_(fast),
      session_(session),
      user_(user),
      due_timer_(loop, [this] { user_.source_changed(); }),
      overdue_timer_(loop, [this] {
          while (!expected_.empty() && expected_.front().deadline <= loop_.now())
              report_first_missing();
          if (!expected_.empty()) overdue_timer_.start_at(expected_.front().deadline);
          user_.source_changed();
      }) {
    for (std::size_t place = 0; place < recording_->events.size(); ++place) {
        const Event& event = *recording_->events[place];
        if (is_unsolicited(event, *recording_->framing))
            outstanding_.insert(key_of(event.reply.payload, place));
    }
}

// --- Sending.

// Unsolicited messages are expected as soon as the messages before them have been sent.
std::optional<Outgoing> RecordingSource::next() {
    for (; !stopped_ && next_ < recording_->events.size(); ++next_) {
        const Event& event = *recording_->events[next_];
        const std::uint64_t id = event.message.id;
        if (event.fate == Fate::sent && !is_due(event)) return std::nullopt;
        if (event.fate == Fate::sent)
            return Outgoing{.payload = event.message.payload,
                            .planned =
                                fast_ ? ev::Time{} : *origin_ + event.at.time_since_epoch(),
                            .reply = event.message.expected};
        if (is_unsolicited(event, *recording_->framing))
            expect(event);
        else if (fast_ && std::any_of(awaited_.begin(), awaited_.end(),
                                      [id](const auto& each) { return each.second == id; }))
            return std::nullopt;  // the next message may depend on this reply
    }
    return std::nullopt;
}

bool RecordingSource::is_due(const Event& message) {
    if ((fast_ || !origin_) && !expected_.empty()) return false;
    if (!origin_) origin_ = loop_.now() - message.at.time_since_epoch();
    const ev::Time due = *origin_ + message.at.time_since_epoch();
    if (!fast_ && due > loop_.now()) due_timer_.start_at(due);
    return fast_ || due <= loop_.now();
}

void RecordingSource::sent(const Outgoing& message, QueuedIds queued) {
    if (!queued) return;
    if (message.reply) awaited_[queued.first] = recording_->events[next_]->message.id;
    ++next_;
}

bool RecordingSource::over() const {
    return stopped_ || (next_ == recording_->events.size() && session_.in_flight() == 0 &&
                        expected_.empty());
}

void RecordingSource::stop() {
    stopped_ = true;
    outstanding_.clear();
    expected_.clear();
    closed();
}

void RecordingSource::closed() {
    due_timer_.cancel();
    overdue_timer_.cancel();
    while (!expected_.empty()) report_first_missing();
}

// --- Unsolicited messages.

RecordingSource::Outstanding::value_type RecordingSource::key_of(std::string_view payload,
                                                                 std::size_t place) const {
    const Expression* const mask = session_.options().pattern_or_null();
    return {mask ? mask->masked(payload) : std::string(payload), place};
}

// Expects the event at `next_`, unless it arrived early. Without recorded times, it is due now,
// or after the recorded delay of a late reply.
void RecordingSource::expect(const Event& unsolicited) {
    if (!outstanding_.contains(key_of(unsolicited.reply.payload, next_))) return;
    const bool timed = origin_ && !fast_;
    const ev::Time due =
        timed ? *origin_ + unsolicited.at.time_since_epoch()
              : loop_.now() + unsolicited.reply.round_trip.value_or(ev::Duration::zero());
    const ev::Duration timeout = session_.options().reply_timeout;
    expected_.push_back({next_, std::max(due, loop_.now()) + timeout});
    if (!overdue_timer_.pending()) overdue_timer_.start_at(expected_.front().deadline);
}

// Finds the first outstanding message with this payload. It may arrive earlier than recorded,
// by at most the reply timeout.
RecordingSource::Outstanding::const_iterator
RecordingSource::find(std::string_view payload) const {
    const std::vector<StoredEvent>& events = recording_->events;
    const Outstanding::value_type key = key_of(payload, 0);
    const auto found = outstanding_.lower_bound(key);
    if (found == outstanding_.end() || found->first != key.first) return outstanding_.end();
    const auto message =
        std::find_if(events.begin() + static_cast<std::ptrdiff_t>(next_), events.end(),
                     [](const StoredEvent& each) { return each->fate == Fate::sent; });
    const bool early =
        message != events.end() &&
        events[found->second]->at > (*message)->at + session_.options().reply_timeout;
    return early ? outstanding_.end() : found;
}

Fate RecordingSource::judge_unsolicited(std::string_view payload) {
    const auto found = find(payload);
    if (found == outstanding_.end()) return stopped_ ? Fate::unsolicited : Fate::unrecorded;
    std::erase_if(expected_, [&](const Expected& each) { return each.place == found->second; });
    outstanding_.erase(found);
    return Fate::unsolicited_as_recorded;
}

void RecordingSource::report_first_missing() {
    const std::size_t place = expected_.front().place;
    const std::string_view payload = recording_->events[place]->reply.payload;
    outstanding_.erase(key_of(payload, place));
    expected_.pop_front();
    user_.source_missed(payload);
}

}  // namespace yodel
