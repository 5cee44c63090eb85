#include "app/run/recording_source.hpp"

#include "app/run/sending_limits.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

using State = Session::State;

namespace {

constexpr std::size_t max_expected = 4096;  // unsolicited messages

// Maximum bytes of recorded items before which an unsolicited message may arrive.
constexpr std::size_t max_bytes_ahead = 8 * 1024 * 1024;

}  // namespace

void RecordingSource::prepare(Session::Options& options, const Framing& framing) {
    options.framing = &framing;
    options.expect = Expect::given;
    options.closed_early_text = "the server closed before the end of the recording";
}

RecordingSource::RecordingSource(ev::Loop& loop, std::shared_ptr<Recording> recording,
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
      }) {}

// Returns the remaining item at this place, or null if there is none.
RecordedItem* RecordingSource::item(std::size_t place) {
    std::deque<RecordedItem>& items = recording_->items();
    return stopped_ || place >= items.size() ? nullptr : &items[place];
}

void RecordingSource::remove(std::size_t place) {
    recording_->items().erase(recording_->items().begin() + static_cast<std::ptrdiff_t>(place));
}

// --- Sending.

std::optional<Outgoing> RecordingSource::next() {
    RecordedItem* first = item(0);
    while (first && first->kind == RecordedItem::Kind::unsolicited) {
        if (expected_.size() == max_expected) return std::nullopt;
        expect(0);
        first = item(0);
    }
    if (!first || !may_send(*first)) return std::nullopt;
    return Outgoing{.payload = first->payload,
                    .planned = fast_ ? ev::Time{} : start_ + first->at,
                    .reply = first->reply};
}

bool RecordingSource::may_send(const RecordedItem& item) {
    if (session_.in_flight_bytes() + expected_reply_bytes_ >= max_bytes_in_flight) return false;
    const bool awaited =
        std::any_of(expected_.begin(), expected_.end(),
                    [&](const Expected& each) { return each.item.at <= item.at; });
    if ((fast_ || !begun_) && awaited) return false;
    if (!begun_) start_ = loop_.now() - item.at;
    begun_ = true;
    // Awaited replies that were recorded after this message may depend on it, because the lines
    // of one reply may have been recorded as several replies.
    const bool replies_may_depend =
        std::all_of(answered_at_.begin(), answered_at_.end(),
                    [&](const auto& each) { return each.second > item.at; });
    if (fast_) return session_.in_flight() == without_reply_count_ || replies_may_depend;
    const ev::Time due = start_ + item.at;
    if (due > loop_.now()) due_timer_.start_at(due);
    return due <= loop_.now();
}

void RecordingSource::sent(const Outgoing& message, QueuedIds queued) {
    if (!queued) return;
    if (!message.reply) ++without_reply_count_;
    if (message.reply) expected_reply_bytes_ += message.reply->size();
    if (message.reply && fast_) answered_at_[queued.first] = item(0)->answered_at;
    remove(0);
}

void RecordingSource::left_flight(const Message& message) {
    if (!message.expected) --without_reply_count_;
    if (message.expected) expected_reply_bytes_ -= message.expected->size();
    answered_at_.erase(message.id);
}

bool RecordingSource::over() const {
    return stopped_ ||
           (recording_->items().empty() && session_.in_flight() == 0 && expected_.empty());
}

void RecordingSource::stop() {
    stopped_ = true;
    expected_.clear();
    cancel();
}

void RecordingSource::closed() {
    cancel();
    while (!expected_.empty()) report_first_missing();
}

void RecordingSource::cancel() {
    due_timer_.cancel();
    overdue_timer_.cancel();
}

// --- Unsolicited messages.

// Without recorded times, expects the message now, or after the recorded delay of a late reply.
void RecordingSource::expect(std::size_t place) {
    RecordedItem& item = *this->item(place);
    const bool timed = begun_ && !fast_;
    const ev::Time recorded = timed ? start_ + item.at : loop_.now() + item.delay;
    const ev::Time deadline =
        std::max(recorded, loop_.now()) + session_.options().reply_timeout;
    expected_.push_back({std::move(item), deadline});
    remove(place);
    if (!overdue_timer_.pending()) overdue_timer_.start_at(expected_.front().deadline);
}

std::optional<std::size_t> RecordingSource::find(std::string_view payload) {
    std::string space;
    const std::string masked_payload(
        comparable_text(session_.options().pattern_or_null(), payload, space));
    for (std::size_t i = 0; i < expected_.size(); ++i)
        if (equals(expected_[i].item, masked_payload)) return i;
    return find_ahead(masked_payload);
}

// Accepts a message that comes earlier than recorded, by at most the reply timeout.
std::optional<std::size_t> RecordingSource::find_ahead(const std::string& masked_payload) {
    std::optional<ev::Duration> latest;  // recorded time
    std::size_t bytes = 0;
    for (std::size_t place = 0; bytes < max_bytes_ahead; ++place) {
        RecordedItem* const each = item(place);
        if (!each || each->at > latest.value_or(each->at)) break;
        if (each->kind == RecordedItem::Kind::message) {
            latest = latest.value_or(each->at + session_.options().reply_timeout);
        } else if (equals(*each, masked_payload)) {
            expect(place);
            return expected_.size() - 1;
        }
        bytes += sizeof *each + each->payload.size();
    }
    return std::nullopt;
}

bool RecordingSource::equals(RecordedItem& item, const std::string& masked_payload) const {
    const Expression* const mask = session_.options().pattern_or_null();
    if (!mask) return item.payload == masked_payload;
    if (!item.masked) item.masked = mask->masked(item.payload);
    return *item.masked == masked_payload;
}

Fate RecordingSource::judge_unsolicited(std::string_view payload) {
    const std::optional<std::size_t> found = find(payload);
    if (!found) return stopped_ ? Fate::unsolicited : Fate::unrecorded;
    expected_.erase(expected_.begin() + static_cast<std::ptrdiff_t>(*found));
    return Fate::unsolicited_as_recorded;
}

void RecordingSource::report_first_missing() {
    user_.source_missed(expected_.front().item.payload);
    expected_.pop_front();
}

}  // namespace yodel
