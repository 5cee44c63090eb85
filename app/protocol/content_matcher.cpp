#include "app/protocol/content_matcher.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

namespace yodel {

namespace {

// Upper limit of kept replies that equal no message: a stranger may send any number.
constexpr std::size_t max_unmatched = 64;

bool differ_in_one_byte(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    const std::size_t first = first_difference(a, b);
    return first < a.size() && a.substr(first + 1) == b.substr(first + 1);
}

std::optional<std::uint64_t> number_of(std::string_view payload) {
    std::uint64_t number = 0;
    const auto end = payload.data() + payload.size();
    if (std::from_chars(payload.data(), end, number).ec != std::errc()) return std::nullopt;
    return number;
}

}  // namespace

// --- Sending.

Queued ContentMatcher::queue(std::string_view payload, ev::Time planned, ev::Time now,
                             std::optional<std::string_view> reply) {
    Entry entry{.id = last_id() + 1, .planned = planned, .sent = now, .written = false};
    if (options_.expect != Expect::none) {
        entry.payload.swap(spare_);
        entry.payload = payload;
        if (given() && reply) entry.reply = std::make_shared<const std::string>(*reply);
        entry.state = State::in_flight;
        if (in_flight_ == 0) oldest_ = entry.id;
        ++in_flight_;
        in_flight_bytes_ += payload.size();
    }
    if (options_.numbered) last_number_ = number_of(payload).value_or(last_number_);
    entry.number = last_number_;
    entries_.push_back(std::move(entry));
    return {last_id(), 1};
}

std::uint64_t ContentMatcher::reserve_id() {
    entries_.push_back({.id = last_id() + 1, .number = last_number_});
    const std::uint64_t id = last_id();
    drop_finished();
    return id;
}

void ContentMatcher::record_written(std::uint64_t total, ev::Time time) {
    for (; written_ < total && unwritten_ <= last_id(); ++unwritten_) {
        Entry& entry = entries_[place(unwritten_)];
        if (entry.written) continue;
        entry.written = true;
        entry.sent = time;
        ++written_;
    }
    drop_finished();
}

void ContentMatcher::void_round_trips() {
    for (Entry& entry : entries_) entry.untimed = true;
    for (Entry& entry : late_) entry.untimed = true;
}

// Drops the oldest entries that nothing refers to any more.
void ContentMatcher::drop_finished() {
    while (!entries_.empty() && entries_.front().state == State::over &&
           entries_.front().written) {
        entries_.pop_front();
        ++first_id_;
    }
    unwritten_ = std::max(unwritten_, first_id_);
}

// --- Receiving.

std::optional<Matcher::Event> ContentMatcher::match(std::string_view reply, ev::Time read_at,
                                                    std::uint64_t last_id) {
    read_id_ = last_id;
    if (options_.expect == Expect::none) return Unsolicited{reply};
    if (options_.expect == Expect::any) {
        Entry* const oldest = awaiting() ? &entries_[place(oldest_)]
                                         : find_awaited([](const Entry&) { return true; });
        if (!oldest) return Unsolicited{reply};
        return answer(*oldest, reply, read_at);
    }
    Entry* entry = find_equal(reply);
    const bool unsolicited =
        given() && options_.expected_unsolicited && options_.expected_unsolicited(reply);
    if (!entry && unsolicited) return Unsolicited{reply};
    const bool certain = !given() || !awaiting();
    if (!entry && certain && answered_before(reply)) {
        duplicate_found_ = true;
        return Repeated{reply};
    }
    if (!entry && options_.numbered) entry = find_damaged(reply);
    if (!entry) return keep(reply, read_at);
    const Event event = answer(*entry, reply, read_at);
    resolve_if_decided();
    return event;
}

// `wanted`: the comparable form of the reply.
bool ContentMatcher::right(const Entry& entry, std::string_view wanted) const {
    const auto reply = expected(entry);
    std::string space;
    return reply && comparable(options_.pattern, *reply, space) == wanted;
}

// Returns none if no reply is expected.
std::optional<std::string_view> ContentMatcher::expected(const Entry& entry) const {
    if (!given()) return entry.payload;
    return entry.reply ? std::optional<std::string_view>(*entry.reply) : std::nullopt;
}

// Most replies answer the oldest message in flight, and few a late one.
ContentMatcher::Entry* ContentMatcher::find_equal(std::string_view reply) {
    std::string space;
    const std::string_view wanted = comparable(options_.pattern, reply, space);
    const auto equals = [&](const Entry& entry) { return right(entry, wanted); };
    if (awaiting() && equals(oldest())) return &entries_[place(oldest_)];
    if (!options_.numbered) return find_awaited(equals);
    const auto number = number_of(reply);
    Entry* const entry = number ? find_number(*number) : nullptr;
    return entry && equals(*entry) ? entry : nullptr;
}

// Returns the first message in flight that is `wanted`, or else the first such late message.
ContentMatcher::Entry*
ContentMatcher::find_awaited(const std::function<bool(const Entry&)>& wanted) {
    for (Entry& entry : entries_)
        if (entry.state == State::in_flight && entry.id <= read_id_ && wanted(entry))
            return &entry;
    for (Entry& entry : late_)
        if (entry.state == State::late && wanted(entry)) return &entry;
    return nullptr;
}

ContentMatcher::Entry* ContentMatcher::find_number(std::uint64_t number) {
    Entry* const found = std::lower_bound(
        entries_.begin(), entries_.end(), number,
        [](const Entry& entry, std::uint64_t wanted) { return entry.number < wanted; });
    if (found != entries_.end() && found->number == number)
        return found->state == State::in_flight && found->id <= read_id_ ? found : nullptr;
    for (Entry& entry : late_)
        if (entry.state == State::late && entry.number == number) return &entry;
    return nullptr;
}

// The damage may be in the number itself, which is then another message's, or none. If several
// messages differ from the reply in one byte, the number decides.
ContentMatcher::Entry* ContentMatcher::find_damaged(std::string_view reply) {
    const auto number = number_of(reply);
    Entry* const numbered = number ? find_number(*number) : nullptr;
    if (numbered && differ_in_one_byte(numbered->payload, reply)) return numbered;
    Entry* const near = find_awaited(
        [&](const Entry& entry) { return differ_in_one_byte(entry.payload, reply); });
    const bool several = near && find_awaited([&](const Entry& entry) {
                             return &entry != near && differ_in_one_byte(entry.payload, reply);
                         });
    return near && !several ? near : numbered;
}

std::size_t ContentMatcher::hash_of(std::string_view reply) const {
    std::string space;
    return std::hash<std::string_view>()(comparable(options_.pattern, reply, space));
}

// The newest answers are compared first, because a duplicate usually follows soon.
bool ContentMatcher::answered_before(std::string_view reply) const {
    const std::size_t hash = hash_of(reply);
    const auto newest = answers_.rend() - static_cast<std::ptrdiff_t>(next_answer_);
    return std::find(newest, answers_.rend(), hash) != answers_.rend() ||
           std::find(answers_.rbegin(), newest, hash) != newest;
}

void ContentMatcher::remember_answer(std::string_view bytes) {
    if (options_.expect != Expect::echo && !given()) return;
    if (next_answer_ == options_.remembered) next_answer_ = 0;
    if (next_answer_ == answers_.size()) answers_.push_back(0);
    answers_[next_answer_] = hash_of(bytes);
    ++next_answer_;
}

Matcher::Event ContentMatcher::answer(Entry& entry, std::string_view reply, ev::Time read_at) {
    make_current(take(entry));
    return report_answer(reply, read_at);
}

// Reports the answer to the current entry.
Matcher::Event ContentMatcher::report_answer(std::string_view reply, ev::Time read_at) {
    const ev::Duration time = read_at - current_.sent;
    if (!current_.untimed) longest_round_trip_ = std::max(longest_round_trip_, time);
    const auto round_trip = current_.untimed ? std::nullopt : std::optional(time);
    const Expression* const pattern = options_.pattern;
    Reply to = options_.expect == Expect::any
                   ? Reply{reply, round_trip, !pattern || pattern->matches(reply)}
                   : compared_reply(pattern, expected(current_), reply, round_trip);
    to.out_of_order = current_.id < highest_answered_;
    highest_answered_ = std::max(highest_answered_, current_.id);
    remember_answer(expected(current_).value_or(""));
    if (!to.right) remember_answer(reply);
    return Answered{message(), to};
}

Message ContentMatcher::message() const {
    const bool has_plan = current_.planned != ev::Time{};
    Message all{.id = current_.id,
                .payload = current_.payload,
                .planned = has_plan ? current_.planned : current_.sent,
                .sent = current_.sent,
                .late = current_.state == State::late,
                .untimed = current_.untimed};
    if (current_.reply) all.expected = *current_.reply;
    return all;
}

void ContentMatcher::make_current(Entry entry) {
    spare_.swap(current_.payload);
    current_ = std::move(entry);
}

// Takes an entry that is in flight, or late, out of its queue.
ContentMatcher::Entry ContentMatcher::take(Entry& entry) {
    const State before = std::exchange(entry.state, State::over);
    Entry taken = std::move(entry);
    taken.state = before;
    if (taken.state == State::late) {
        late_bytes_ -= taken.payload.size();
        return taken;
    }
    --in_flight_;
    in_flight_bytes_ -= taken.payload.size();
    while (oldest_ <= last_id() && entries_[place(oldest_)].state != State::in_flight)
        ++oldest_;
    drop_finished();
    return taken;
}

void ContentMatcher::remember_late(Entry entry) {
    entry.state = State::late;
    late_bytes_ += entry.payload.size();
    late_.push_back(std::move(entry));
    while (!late_.empty() &&
           (late_.front().state == State::over || late_.size() > options_.remembered ||
            late_bytes_ > options_.late_bytes)) {
        if (late_.front().state == State::late) late_bytes_ -= late_.front().payload.size();
        late_.front() = {};
        late_.pop_front();
    }
}

// --- Replies that equal no message.

std::optional<Matcher::Event> ContentMatcher::keep(std::string_view reply, ev::Time read_at) {
    if (!awaiting()) return Unsolicited{reply};
    unmatched_.push_back({.payload = std::string(reply),
                          .read_at = read_at,
                          .last_id = read_id_,
                          .repeated = given() && !equal_replies_ && answered_before(reply)});
    if (unmatched_.size() > max_unmatched) give_up_unmatched();
    resolve_if_decided();
    return std::nullopt;
}

// Reports the oldest unmatched reply, which answers nothing.
void ContentMatcher::give_up_unmatched() {
    Unmatched& reply = unmatched_.front();
    duplicate_found_ = duplicate_found_ || reply.repeated;
    const Due::Kind kind = reply.repeated ? Due::Kind::repeated : Due::Kind::unsolicited;
    due_.push_back({.kind = kind, .reply = std::move(reply)});
    unmatched_.pop_front();
}

// Once each message in flight has a kept reply, waiting longer cannot help.
void ContentMatcher::resolve_if_decided() {
    while (in_flight_ > 0 && all_answerable()) resolve_oldest(Due::Kind::lost);
    while (!unmatched_.empty() && (in_flight_ == 0 || unmatched_.front().last_id < oldest_))
        give_up_unmatched();
}

// Returns true if each message in flight has a kept reply that was read after it was queued
// and is not repeated. Looks at no more messages than there are replies.
bool ContentMatcher::all_answerable() const {
    if (unmatched_.size() < in_flight_) return false;
    auto reply = unmatched_.rbegin();
    for (std::uint64_t id = last_id(); id >= oldest_; --id) {
        if (entries_[place(id)].state != State::in_flight) continue;
        while (reply != unmatched_.rend() && reply->repeated) ++reply;
        if (reply == unmatched_.rend() || reply->last_id < id) return false;
        ++reply;
    }
    return true;
}

void ContentMatcher::mark_late() {
    resolve_oldest(Due::Kind::late);
    resolve_if_decided();
}

void ContentMatcher::lose(bool) {
    while (in_flight_ > 0) resolve_oldest(Due::Kind::lost);
    while (!unmatched_.empty()) give_up_unmatched();
    for (Entry& entry : entries_) entry.written = true;
    drop_finished();
}

// Gives the oldest message the most similar kept reply.
void ContentMatcher::resolve_oldest(Due::Kind without_reply) {
    Due due{.kind = without_reply, .entry = take(entries_[place(oldest_)])};
    while (!unmatched_.empty() && unmatched_.front().last_id < due.entry.id)
        give_up_unmatched();
    if (std::optional<Unmatched> reply = take_likeliest(due.entry)) {
        due.kind = Due::Kind::answered;
        due.reply = std::move(*reply);
        equal_replies_ = equal_replies_ || due.reply.repeated;
    }
    if (due.kind == Due::Kind::late) remember_late(due.entry);
    due_.push_back(std::move(due));
}

bool ContentMatcher::can_answer(const Unmatched& reply) const {
    return !reply.repeated || !duplicate_found_;
}

// A new reply is more likely to answer than a repeated one.
std::optional<ContentMatcher::Unmatched> ContentMatcher::take_likeliest(const Entry& entry) {
    const auto rank = [&](const Unmatched& reply) {
        return std::tuple(can_answer(reply), !reply.repeated,
                          likeness(expected(entry).value_or(""), reply.payload));
    };
    const auto best = std::max_element(
        unmatched_.begin(), unmatched_.end(),
        [&](const Unmatched& a, const Unmatched& b) { return rank(a) < rank(b); });
    if (best == unmatched_.end() || !can_answer(*best)) return std::nullopt;
    Unmatched reply = std::move(*best);
    unmatched_.erase(best);
    return reply;
}

std::optional<Matcher::Event> ContentMatcher::next_resolved() {
    if (due_.empty()) return std::nullopt;
    Due due = std::move(due_.front());
    due_.pop_front();
    reply_ = std::move(due.reply);
    if (due.kind == Due::Kind::unsolicited) return Unsolicited{reply_.payload};
    if (due.kind == Due::Kind::repeated) return Repeated{reply_.payload};
    make_current(std::move(due.entry));
    if (due.kind == Due::Kind::answered) return report_answer(reply_.payload, reply_.read_at);
    Message of = message();
    of.late = due.kind == Due::Kind::late;
    return Lost{of};
}

}  // namespace yodel
