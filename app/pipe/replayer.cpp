#include "app/pipe/replayer.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

using State = AnySession::State;

namespace {

// Items read ahead, at least, and unsolicited messages that are waited for, at most.
constexpr std::size_t read_ahead = 64;
constexpr std::size_t most_foreseen = 4096;

}  // namespace

void Replayer::prepare(AnySession::Options& options, const Framing& framing,
                       std::function<bool(std::string_view)> foreseen) {
    options.framing = &framing;
    options.expect = Expect::given;
    options.closed_early = "the server closed before the end of the recording";
    options.foreseen = std::move(foreseen);
}

Replayer::Replayer(ev::Loop& loop, Options options, AnySession& session, User& user)
    : loop_(loop),
      options_(std::move(options)),
      recording_(*options_.recording),
      session_(session),
      user_(user),
      more_(loop, [this] { read(); }),
      due_(loop, [this] { send(); }),
      overdue_(loop, [this] { give_up_foreseen(); }) {
    if (!recording_.regular())
        watch_ = ev::Watch(loop, recording_.fd(), ev::none, [this](ev::Events) { read(); });
}

// --- What is said.

void Replayer::send() {
    while (session_.state() == State::open && take_next()) {
    }
    session_.flush();
    watch_recording();
    finish_if_done();
}

// Returns false if the next item, if there is one, has still to wait.
bool Replayer::take_next() {
    if (recording_.items().empty() || stopped_) return false;
    RecordedItem& next = recording_.items().front();
    const bool unsolicited = next.kind == RecordedItem::Kind::unsolicited;
    if (!unsolicited && !may_say(next)) return false;
    if (!(unsolicited ? foresee(next) : say(next))) return false;
    recording_.items().pop_front();
    return true;
}

// Where no time tells when it is due, it is so now, and a late reply as late as it was.
bool Replayer::foresee(RecordedItem& item) {
    if (foreseen_.size() == most_foreseen) return false;
    const bool timed = begun_ && !options_.fast;
    const ev::Time recorded = timed ? start_ + item.at : loop_.now() + item.delay;
    const ev::Time deadline =
        std::max(recorded, loop_.now()) + session_.options().reply_timeout;
    foreseen_.push_back({item.at, deadline, std::move(item.payload)});
    if (!overdue_.pending()) overdue_.start_at(foreseen_.front().deadline);
    return true;
}

bool Replayer::may_say(const RecordedItem& item) {
    if (session_.pending() >= peer_high_water) return false;
    if (session_.in_flight_bytes() + awaited_bytes_ >= options_.most_bytes) return false;
    if ((options_.fast || !begun_) && waits_for_unsolicited(item)) return false;
    if (!begun_) start_ = loop_.now() - item.at;
    begun_ = true;
    if (!options_.fast) return in_time(item);
    return session_.in_flight() - silent_ < options_.window || was_sent_meanwhile(item);
}

// The server may have answered the messages in flight otherwise without this one, for example
// if a reply of several lines was taken for the replies to several messages.
bool Replayer::was_sent_meanwhile(const RecordedItem& item) const {
    return std::all_of(answered_.begin(), answered_.end(),
                       [&](const auto& each) { return each.second > item.at; });
}

bool Replayer::waits_for_unsolicited(const RecordedItem& item) const {
    return std::any_of(foreseen_.begin(), foreseen_.end(),
                       [&](const Foreseen& each) { return each.at <= item.at; });
}

bool Replayer::in_time(const RecordedItem& item) {
    const ev::Time due = start_ + item.at;
    if (due <= loop_.now()) return true;
    due_.start_at(due);
    return false;
}

// A message at its own time is written at once, so that its lateness is known.
bool Replayer::say(const RecordedItem& item) {
    const ev::Time planned = options_.fast ? ev::Time{} : start_ + item.at;
    const Queued queued = session_.send(item.payload, planned, item.reply);
    if (!queued) return false;
    if (!item.reply) ++silent_;
    if (item.reply) awaited_bytes_ += item.reply->size();
    if (item.reply && options_.fast) answered_[queued.first] = item.answered;
    user_.replay_said(item.payload, queued, planned);
    if (options_.fast) return true;
    session_.flush();
    user_.replay_written(session_.flushed_at() - planned);
    return true;
}

void Replayer::left_flight(const Message& message) {
    if (!message.expected) --silent_;
    if (message.expected) awaited_bytes_ -= message.expected->size();
    answered_.erase(message.id);
}

// --- What is read.

void Replayer::watch_recording() {
    const bool wanted = session_.state() == State::open && !stopped_ && !recording_.over() &&
                        recording_.items().size() < read_ahead;
    if (!recording_.regular()) return watch_.want(wanted ? ev::readable : ev::none);
    if (wanted) more_.start(ev::Duration::zero());
}

void Replayer::read() {
    recording_.read();
    if (!recording_.trouble().empty()) return give_up();
    send();
}

// The messages in flight still get their replies.
void Replayer::give_up() {
    user_.replay_failed(recording_.trouble());
    stop();
    session_.finish();
}

void Replayer::finish_if_done() {
    if (stopped_ || !recording_.over() || !recording_.items().empty()) return;
    if (session_.in_flight() == 0 && foreseen_.empty()) session_.finish();
}

void Replayer::stop() {
    stopped_ = true;
    foreseen_.clear();
    cancel();
}

void Replayer::disconnected() {
    cancel();
    while (!foreseen_.empty()) report_missing();
}

void Replayer::cancel() {
    due_.cancel();
    overdue_.cancel();
    more_.cancel();
    if (!recording_.regular()) watch_.want(ev::none);
}

// --- What comes unsolicited.

std::deque<Replayer::Foreseen>::iterator Replayer::find(std::string_view payload) {
    return std::find_if(foreseen_.begin(), foreseen_.end(),
                        [&](const Foreseen& each) { return each.payload == payload; });
}

void Replayer::unsolicited(std::string_view payload) {
    const auto found = find(payload);
    if (found == foreseen_.end()) {
        if (!stopped_) user_.replay_unsolicited(Unsolicited::unrecorded, payload);
        return;
    }
    foreseen_.erase(found);
    user_.replay_unsolicited(Unsolicited::as_before, payload);
}

void Replayer::give_up_foreseen() {
    while (!foreseen_.empty() && foreseen_.front().deadline <= loop_.now()) report_missing();
    if (!foreseen_.empty()) overdue_.start_at(foreseen_.front().deadline);
    send();
}

void Replayer::report_missing() {
    user_.replay_unsolicited(Unsolicited::missing, foreseen_.front().payload);
    foreseen_.pop_front();
}

}  // namespace yodel
