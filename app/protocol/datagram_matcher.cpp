#include "app/protocol/datagram_matcher.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

namespace yodel {

namespace {

// Replies that equal no message and are kept, at most; of a stranger they may be any number.
constexpr std::size_t most_unmatched = 64;

std::size_t hash_of(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }

std::size_t first_difference(std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(size);
    return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

// The number of bytes that are the same at the same place.
std::size_t likeness(std::string_view a, std::string_view b) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        equal += a[i] == b[i] ? 1 : 0;
    return equal;
}

}  // namespace

// --- What is sent.

Queued DatagramMatcher::queue(std::string_view payload, ev::Time planned, ev::Time now) {
    forget();
    Entry entry{.planned = planned, .sent = now};
    if (options_.expect != Expect::none) {
        entry.payload = payload;
        entry.state = State::queued;
        ++in_flight_;
        in_flight_bytes_ += payload.size();
    }
    entries_.push_back(std::move(entry));
    return {last_id(), 1};
}

std::uint64_t DatagramMatcher::reserve_id() {
    forget();
    entries_.push_back({});
    return last_id();
}

// With nothing awaited, no entry is queued.
void DatagramMatcher::record_written(std::uint64_t total, ev::Time time) {
    for (; written_ < total && unwritten_ < entries_.size(); ++unwritten_) {
        Entry& entry = entries_[unwritten_];
        if (entry.state != State::queued) continue;
        entry.state = State::sent;
        entry.sent = time;
        if (entry.planned == ev::Time{}) entry.planned = time;
        ++written_;
    }
}

void DatagramMatcher::void_round_trips() {
    for (std::size_t i = oldest_; i < entries_.size(); ++i) entries_[i].untimed = true;
}

// Drops the oldest entries, as far as none of them is awaited or has still to be reported.
void DatagramMatcher::forget() {
    while (due_.empty() && !entries_.empty() && oldest_ > 0 &&
           (entries_.size() > options_.remembered || late_bytes_ > options_.late_bytes)) {
        Entry& first = entries_.front();
        if (first.state == State::late) late_bytes_ -= first.payload.size();
        first = {};
        entries_.pop_front();
        ++first_id_;
        --oldest_;
        unwritten_ -= unwritten_ > 0 ? 1 : 0;
    }
}

// --- What comes.

std::optional<DatagramMatcher::Event> DatagramMatcher::match(std::string_view reply,
                                                             ev::Time read_at) {
    if (options_.expect == Expect::none) return Unsolicited{reply};
    if (options_.expect == Expect::any) return match_any(reply, read_at);
    const std::size_t numbered = options_.numbered ? place_by_number(reply) : nowhere;
    std::size_t place = nowhere;
    if (numbered != nowhere && awaited(numbered) && entries_[numbered].payload == reply)
        place = numbered;
    if (place == nowhere && numbered != nowhere && equals_answered(numbered, hash_of(reply)))
        return Repeated{reply};
    if (place == nowhere) place = find_equal(reply);
    if (place == nowhere && answered_before(reply)) return Repeated{reply};
    if (place == nowhere && numbered != nowhere && awaited(numbered)) place = numbered;
    if (place == nowhere) return keep(reply, read_at);
    const Event event = answer(place, reply, read_at);
    resolve_if_decided();
    return event;
}

std::optional<DatagramMatcher::Event> DatagramMatcher::match_any(std::string_view reply,
                                                                 ev::Time read_at) {
    const std::size_t place = in_flight_ > 0 ? oldest_ : oldest_late();
    if (place == nowhere) return Unsolicited{reply};
    return answer(place, reply, read_at);
}

// Most replies answer the oldest message in flight, and few a late one.
std::size_t DatagramMatcher::find_equal(std::string_view reply) const {
    for (std::size_t i = oldest_; i < entries_.size(); ++i)
        if (in_flight(entries_[i]) && entries_[i].payload == reply) return i;
    for (std::size_t i = 0; i < oldest_; ++i)
        if (entries_[i].state == State::late && entries_[i].payload == reply) return i;
    return nowhere;
}

std::size_t DatagramMatcher::oldest_late() const {
    for (std::size_t i = 0; i < oldest_; ++i)
        if (entries_[i].state == State::late) return i;
    return nowhere;
}

// Returns the place of the message whose number the reply begins with.
std::size_t DatagramMatcher::place_by_number(std::string_view reply) const {
    std::uint64_t id = 0;
    const auto result = std::from_chars(reply.data(), reply.data() + reply.size(), id);
    const bool known = result.ec == std::errc() && id >= first_id_ && id <= last_id();
    return known ? static_cast<std::size_t>(id - first_id_) : nowhere;
}

bool DatagramMatcher::awaited(std::size_t place) const {
    return in_flight(entries_[place]) || entries_[place].state == State::late;
}

bool DatagramMatcher::equals_answered(std::size_t place, std::size_t hash) const {
    return entries_[place].state == State::answered && entries_[place].hash == hash;
}

bool DatagramMatcher::answered_before(std::string_view reply) const {
    const std::size_t hash = hash_of(reply);
    for (std::size_t i = 0; i < entries_.size(); ++i)
        if (equals_answered(i, hash)) return true;
    return false;
}

DatagramMatcher::Event DatagramMatcher::answer(std::size_t place, std::string_view reply,
                                               ev::Time read_at) {
    const Entry& entry = entries_[place];
    const std::uint64_t id = first_id_ + place;
    Reply to{.payload = reply, .round_trip = read_at - entry.sent};
    if (entry.untimed) to.round_trip.reset();
    to.right = options_.expect == Expect::any || entry.payload == reply;
    if (!to.right) to.difference = first_difference(entry.payload, reply);
    to.out_of_order = id < highest_answered_;
    highest_answered_ = std::max(highest_answered_, id);
    const Message answered = message(place);
    leave_flight(place, State::answered);
    return Answered{answered, to};
}

// Returns the message of the entry, whose payload is moved to where the event's views point.
Message DatagramMatcher::message(std::size_t place) {
    const Entry& entry = entries_[place];
    message_ = entry.payload;
    return {.id = first_id_ + place,
            .payload = message_,
            .planned = entry.planned,
            .sent = entry.sent,
            .late = entry.state == State::late,
            .untimed = entry.untimed};
}

// Changes the state of an entry that is in flight or late.
void DatagramMatcher::leave_flight(std::size_t place, State state) {
    Entry& entry = entries_[place];
    if (entry.state == State::late) {
        late_bytes_ -= entry.payload.size();
    } else {
        --in_flight_;
        in_flight_bytes_ -= entry.payload.size();
    }
    entry.state = state;
    if (state == State::late) late_bytes_ += entry.payload.size();
    if (state == State::answered) entry.hash = hash_of(entry.payload);
    if (state != State::late) entry.payload.clear();
    while (oldest_ < entries_.size() && !in_flight(entries_[oldest_])) ++oldest_;
}

// --- Replies that equal no message.

std::optional<DatagramMatcher::Event> DatagramMatcher::keep(std::string_view reply,
                                                            ev::Time read_at) {
    if (in_flight_ == 0) return Unsolicited{reply};
    unmatched_.push_back({std::string(reply), read_at});
    if (unmatched_.size() > most_unmatched) {
        due_.push_back(
            {.kind = Due::Kind::unsolicited, .reply = std::move(unmatched_.front())});
        unmatched_.pop_front();
    }
    resolve_if_decided();
    return std::nullopt;
}

// As many replies as messages leave nothing to wait for.
void DatagramMatcher::resolve_if_decided() {
    if (unmatched_.empty() || unmatched_.size() < in_flight_) return;
    while (in_flight_ > 0) resolve(oldest_, Due::Kind::lost);
    for (; !unmatched_.empty(); unmatched_.pop_front())
        due_.push_back(
            {.kind = Due::Kind::unsolicited, .reply = std::move(unmatched_.front())});
}

void DatagramMatcher::mark_late() { resolve(oldest_, Due::Kind::late); }

void DatagramMatcher::restart() {
    while (in_flight_ > 0) resolve(oldest_, Due::Kind::lost);
    for (; !unmatched_.empty(); unmatched_.pop_front())
        due_.push_back(
            {.kind = Due::Kind::unsolicited, .reply = std::move(unmatched_.front())});
    unwritten_ = entries_.size();
    written_ = 0;
}

// Gives the message the reply that was kept and is the most like it. The state changes when the
// event is reported, but for the count of those in flight, which decides what is resolved.
void DatagramMatcher::resolve(std::size_t place, Due::Kind without_reply) {
    Due due{.kind = without_reply, .place = place};
    if (!unmatched_.empty()) {
        due.kind = Due::Kind::answered;
        due.reply = take_likeliest(entries_[place]);
    }
    leave_flight(place, State::late);
    due_.push_back(std::move(due));
}

DatagramMatcher::Unmatched DatagramMatcher::take_likeliest(const Entry& entry) {
    const auto best = std::max_element(
        unmatched_.begin(), unmatched_.end(), [&](const Unmatched& a, const Unmatched& b) {
            return likeness(entry.payload, a.payload) < likeness(entry.payload, b.payload);
        });
    Unmatched reply = std::move(*best);
    unmatched_.erase(best);
    return reply;
}

std::optional<DatagramMatcher::Event> DatagramMatcher::next_resolved() {
    if (due_.empty()) return std::nullopt;
    Due due = std::move(due_.front());
    due_.pop_front();
    reply_ = std::move(due.reply);
    if (due.kind == Due::Kind::unsolicited) return Unsolicited{reply_.payload};
    Message of = message(due.place);
    of.late = due.kind == Due::Kind::late;
    if (due.kind == Due::Kind::late) return Lost{of};
    if (due.kind == Due::Kind::lost) {
        leave_flight(due.place, State::gone);
        return Lost{of};
    }
    Event event = answer(due.place, reply_.payload, reply_.read_at);
    std::get<Answered>(event).message.late = false;
    return event;
}

}  // namespace yodel
