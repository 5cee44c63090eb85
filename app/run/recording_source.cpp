#include "app/run/recording_source.hpp"

#include "app/text/exit_status.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

using State = Session::State;

namespace {

constexpr std::size_t read_ahead = 64;      // items
constexpr std::size_t max_expected = 4096;  // unsolicited messages

}  // namespace

void RecordingSource::prepare(Session::Options& options, const Framing& framing) {
    options.framing = &framing;
    options.expect = Expect::given;
    options.closed_early = "the server closed before the end of the recording";
}

RecordingSource::RecordingSource(ev::Loop& loop, Options options, Session& session, User& user)
    : loop_(loop),
      options_(std::move(options)),
      recording_(*options_.recording),
      session_(session),
      user_(user),
      more_(loop, [this] { read(); }),
      due_(loop, [this] { user_.source_changed(); }),
      overdue_(loop, [this] {
          while (!expected_.empty() && expected_.front().deadline <= loop_.now())
              report_first_missing();
          if (!expected_.empty()) overdue_.start_at(expected_.front().deadline);
          user_.source_changed();
      }) {
    if (!recording_.regular())
        watch_ = ev::Watch(loop, recording_.fd(), ev::none, [this](ev::Events) { read(); });
}

// --- Sending.

std::optional<Outgoing> RecordingSource::next() {
    std::deque<RecordedItem>& items = recording_.items();
    while (!stopped_ && !items.empty()) {
        RecordedItem& item = items.front();
        if (item.kind == RecordedItem::Kind::message) {
            if (!may_send(item)) return std::nullopt;
            return Outgoing{.payload = item.payload,
                            .planned = options_.fast ? ev::Time{} : start_ + item.at,
                            .reply = item.reply};
        }
        if (!expect(item)) return std::nullopt;
        items.pop_front();
    }
    return std::nullopt;
}

// Without recorded times, the message is due now, or after the recorded delay of a late reply.
bool RecordingSource::expect(RecordedItem& item) {
    if (expected_.size() == max_expected) return false;
    const bool timed = begun_ && !options_.fast;
    const ev::Time recorded = timed ? start_ + item.at : loop_.now() + item.delay;
    const ev::Time deadline =
        std::max(recorded, loop_.now()) + session_.options().reply_timeout;
    expected_.push_back({item.at, deadline, std::move(item.payload)});
    if (!overdue_.pending()) overdue_.start_at(expected_.front().deadline);
    return true;
}

bool RecordingSource::may_send(const RecordedItem& item) {
    if (session_.in_flight_bytes() + reply_bytes_ >= options_.max_bytes) return false;
    const bool awaited = std::any_of(expected_.begin(), expected_.end(),
                                     [&](const Expected& each) { return each.at <= item.at; });
    if ((options_.fast || !begun_) && awaited) return false;
    if (!begun_) start_ = loop_.now() - item.at;
    begun_ = true;
    // If the replies in flight were recorded after this message, they may depend on it: one
    // reply of several lines may have been taken for replies to several messages.
    const bool replies_may_depend =
        std::all_of(answered_.begin(), answered_.end(),
                    [&](const auto& each) { return each.second > item.at; });
    if (options_.fast)
        return session_.in_flight() - without_reply_ < options_.window || replies_may_depend;
    const ev::Time due = start_ + item.at;
    if (due > loop_.now()) due_.start_at(due);
    return due <= loop_.now();
}

void RecordingSource::sent(const Outgoing& message, Queued queued) {
    if (!queued) return;
    if (!message.reply) ++without_reply_;
    if (message.reply) reply_bytes_ += message.reply->size();
    if (message.reply && options_.fast)
        answered_[queued.first] = recording_.items().front().answered;
    recording_.items().pop_front();
}

void RecordingSource::left_flight(const Message& message) {
    if (!message.expected) --without_reply_;
    if (message.expected) reply_bytes_ -= message.expected->size();
    answered_.erase(message.id);
}

bool RecordingSource::over() const {
    if (stopped_) return true;
    return recording_.over() && recording_.items().empty() && session_.in_flight() == 0 &&
           expected_.empty();
}

// --- Reading the recording.

void RecordingSource::wait(bool /*room*/) {
    const bool wanted = session_.state() == State::open && !stopped_ && !recording_.over() &&
                        recording_.items().size() < read_ahead;
    if (!recording_.regular()) return watch_.want(wanted ? ev::readable : ev::none);
    if (wanted) more_.start(ev::Duration::zero());
}

// After a bad line, messages in flight still get their replies.
void RecordingSource::read() {
    recording_.read();
    if (!recording_.trouble().empty()) {
        trouble_ = {usage_error, recording_.trouble()};
        stop();
    }
    user_.source_changed();
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
    due_.cancel();
    overdue_.cancel();
    more_.cancel();
    if (!recording_.regular()) watch_.want(ev::none);
}

// --- Unsolicited messages.

std::deque<RecordingSource::Expected>::iterator
RecordingSource::find(std::string_view payload) {
    const Expression* const mask = session_.options().pattern_or_null();
    std::string space;
    std::string other;
    const std::string_view wanted = comparable(mask, payload, space);
    return std::find_if(expected_.begin(), expected_.end(), [&](const Expected& each) {
        return comparable(mask, each.payload, other) == wanted;
    });
}

Unsolicited RecordingSource::compare(std::string_view payload) {
    const auto found = find(payload);
    if (found == expected_.end())
        return stopped_ ? Unsolicited::no_recording : Unsolicited::unrecorded;
    expected_.erase(found);
    return Unsolicited::as_recorded;
}

void RecordingSource::report_first_missing() {
    user_.source_missed(expected_.front().payload);
    expected_.pop_front();
}

}  // namespace yodel
