#include "app/pipe/replay.hpp"

#include "app/pipe/sending_limits.hpp"
#include "app/text/exit_status.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

using State = AnySession::State;

namespace {

// Bytes waiting for the reader of our output, above which no more replies are looked at.
constexpr std::size_t high_water = 256 * 1024;

// Items read ahead, at least, and unsolicited messages that are waited for, at most.
constexpr std::size_t read_ahead = 64;
constexpr std::size_t most_foreseen = 4096;

Reporter::Options report_options(const Replay::Options& options) {
    Reporter::Options to = options.report;
    to.replay = true;
    return to;
}

}  // namespace

Replay::Replay(ev::Loop& loop, const Options& options)
    : PipeMode(loop, {session_options(options, *this), report_options(options)}, high_water),
      loop_(loop),
      recording_(options.recording),
      fast_(options.fast),
      window_(options.window),
      watch_(loop, recording_->fd(), ev::none, [this](ev::Events) { read(); }),
      due_(loop, [this] { send(); }),
      overdue_(loop, [this] { give_up_foreseen(); }) {}

// The session asks only when a reply has come, and by then all of the replay stands.
AnySession::Options Replay::session_options(const Options& options, Replay& replay) {
    AnySession::Options to = options.session;
    to.framing = options.recording->framing();
    to.expect = Expect::given;
    to.closed_early = "the server closed before the end of the recording";
    to.foreseen = [&replay](std::string_view payload) { return replay.foreseen(payload); };
    return to;
}

// --- What is said.

void Replay::send() {
    while (session().state() == State::open && take_next()) {
    }
    session().flush();
    watch_recording();
    finish_if_done();
}

// Returns false if the next item, if there is one, has still to wait.
bool Replay::take_next() {
    if (recording_->items().empty() || given_up_) return false;
    RecordedItem& next = recording_->items().front();
    const bool unsolicited = next.kind == RecordedItem::Kind::unsolicited;
    if (!unsolicited && !may_say(next)) return false;
    if (!(unsolicited ? foresee(next) : say(next))) return false;
    recording_->items().pop_front();
    return true;
}

bool Replay::foresee(RecordedItem& item) {
    if (foreseen_.size() == most_foreseen) return false;
    const ev::Time recorded = begun_ && !fast_ ? start_ + item.at : loop_.now();
    const ev::Time deadline =
        std::max(recorded, loop_.now()) + session().options().reply_timeout;
    foreseen_.push_back({item.at, deadline, std::move(item.payload)});
    if (!overdue_.pending()) overdue_.start_at(foreseen_.front().deadline);
    return true;
}

bool Replay::may_say(const RecordedItem& item) {
    if (session().pending() >= peer_high_water) return false;
    if (session().in_flight_bytes() + awaited_bytes_ >= most_bytes_in_flight) return false;
    if ((fast_ || !begun_) && waits_for_unsolicited(item)) return false;
    if (!begun_) start_ = loop_.now() - item.at;
    begun_ = true;
    return fast_ ? session().in_flight() - silent_ < window_ : in_time(item);
}

bool Replay::waits_for_unsolicited(const RecordedItem& item) const {
    return std::any_of(foreseen_.begin(), foreseen_.end(),
                       [&](const Foreseen& each) { return each.at <= item.at; });
}

bool Replay::in_time(const RecordedItem& item) {
    const ev::Time due = start_ + item.at;
    if (due <= loop_.now()) return true;
    due_.start_at(due);
    return false;
}

// A message at its own time is written at once, so that its lateness is known.
bool Replay::say(const RecordedItem& item) {
    const ev::Time planned = fast_ ? ev::Time{} : start_ + item.at;
    const Queued queued = session().send(item.payload, planned, item.reply);
    if (!queued) return false;
    if (!item.reply) ++silent_;
    if (item.reply) awaited_bytes_ += item.reply->size();
    reporter().sent(item.payload, queued, planned);
    if (fast_) return true;
    session().flush();
    reporter().record_lateness(session().flushed_at() - planned);
    return true;
}

void Replay::left_flight(const Message& message) {
    if (!message.expected) --silent_;
    if (message.expected) awaited_bytes_ -= message.expected->size();
}

// --- What is read.

void Replay::watch_recording() {
    const bool wanted = session().state() == State::open && !recording_->over() &&
                        recording_->items().size() < read_ahead;
    watch_.want(wanted ? ev::readable : ev::none);
}

void Replay::read() {
    recording_->read();
    if (!recording_->trouble().empty()) return give_up();
    send();
}

// The messages in flight still get their replies.
void Replay::give_up() {
    given_up_ = true;
    reporter().record({usage_error, recording_->trouble()});
    foreseen_.clear();
    due_.cancel();
    overdue_.cancel();
    watch_.want(ev::none);
    session().finish();
}

void Replay::finish_if_done() {
    if (given_up_ || !recording_->over() || !recording_->items().empty()) return;
    if (session().in_flight() == 0 && foreseen_.empty()) session().finish();
}

void Replay::disconnected() {
    due_.cancel();
    overdue_.cancel();
    watch_.want(ev::none);
    while (!leaving() && !foreseen_.empty()) report_missing();
}

// --- What comes unsolicited.

std::deque<Replay::Foreseen>::iterator Replay::find_foreseen(std::string_view payload) {
    return std::find_if(foreseen_.begin(), foreseen_.end(),
                        [&](const Foreseen& each) { return each.payload == payload; });
}

void Replay::unsolicited(std::string_view payload) {
    const auto found = find_foreseen(payload);
    if (found == foreseen_.end()) {
        if (!given_up_) reporter().unrecorded(payload);
        return;
    }
    foreseen_.erase(found);
    reporter().came_again(payload);
}

void Replay::give_up_foreseen() {
    while (!foreseen_.empty() && foreseen_.front().deadline <= loop_.now()) report_missing();
    if (!foreseen_.empty()) overdue_.start_at(foreseen_.front().deadline);
    send();
    reporter().flush();
}

void Replay::report_missing() {
    reporter().missing(foreseen_.front().payload);
    foreseen_.pop_front();
}

}  // namespace yodel
