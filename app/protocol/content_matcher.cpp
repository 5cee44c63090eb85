#include "app/protocol/content_matcher.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace yodel {

namespace {

std::optional<std::uint64_t> number_of(std::string_view payload) {
    std::uint64_t number = 0;
    const auto end = payload.data() + payload.size();
    if (std::from_chars(payload.data(), end, number).ec != std::errc()) return std::nullopt;
    return number;
}

}  // namespace

// --- Sending.

QueuedIds ContentMatcher::queue(std::string_view payload, ev::Time planned,
                                std::optional<std::string_view> reply) {
    const std::size_t before = queued_frames_.size();
    encode(*datagram_framing(), payload, queued_frames_);
    Entry entry{
        .id = last_id() + 1, .planned = planned, .unwritten = queued_frames_.size() - before};
    if (options_.expect != Expect::none) {
        entry.payload.swap(spare_);
        entry.payload = payload;
        if (given() && reply) entry.reply = std::make_shared<const std::string>(*reply);
        entry.state = State::in_flight;
        if (in_flight_ == 0) oldest_id_ = entry.id;
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

std::string_view ContentMatcher::flush(ev::Time now) {
    for (std::uint64_t id = last_id(); id >= first_unwritten_id_; --id) {
        Entry& entry = entries_[place(id)];
        if (entry.sent != ev::Time{}) break;
        entry.sent = now;
    }
    flushed_frames_.swap(queued_frames_);
    queued_frames_.clear();
    return flushed_frames_;
}

void ContentMatcher::record_written(std::uint64_t bytes, ev::Time time) {
    for (; first_unwritten_id_ <= last_id(); ++first_unwritten_id_) {
        Entry& entry = entries_[place(first_unwritten_id_)];
        if (entry.unwritten == 0) continue;
        if (written_ + entry.unwritten > bytes) break;
        written_ += std::exchange(entry.unwritten, 0);
        entry.sent = time;
    }
    drop_finished();
}

void ContentMatcher::void_round_trips() {
    for (Entry& entry : entries_) entry.untimed = true;
    for (Entry& entry : late_) entry.untimed = true;
}

// Drops the oldest entries as long as they are finished and written.
void ContentMatcher::drop_finished() {
    while (!entries_.empty() && entries_.front().state == State::over &&
           entries_.front().unwritten == 0) {
        entries_.pop_front();
        ++first_id_;
    }
    first_unwritten_id_ = std::max(first_unwritten_id_, first_id_);
}

// --- Receiving.

std::optional<Event> ContentMatcher::next(std::string_view& received, ev::Time read_at) {
    if (auto event = next_resolved()) return event;
    if (received.size() > remaining_input_) read_id_ = last_id();
    remaining_input_ = received.size();
    const Framing& framing = *datagram_framing();
    const std::optional<std::size_t> size = framing.payload_size(received);
    if (!size || received.size() < framing.prefix + *size) return std::nullopt;
    const std::string_view reply = received.substr(framing.prefix, *size);
    received.remove_prefix(framing.prefix + *size);
    remaining_input_ = received.size();
    return match(reply, read_at, read_id_);
}

Event ContentMatcher::match(std::string_view reply, ev::Time read_at, std::uint64_t last_id) {
    read_id_ = last_id;
    if (options_.expect == Expect::none) return received_event(Fate::unsolicited, reply);
    Entry* entry = options_.expect == Expect::any
                       ? find_awaited([](const Entry&) { return true; })
                       : find_equal(reply);
    if (entry) return answer(*entry, reply, read_at);
    if (options_.expected_unsolicited && options_.expected_unsolicited(reply))
        return received_event(Fate::unsolicited, reply);
    if (answered_before(reply)) return received_event(Fate::duplicate, reply);
    entry = find_of_equal_length(reply);
    if (entry) return answer(*entry, reply, read_at);
    return received_event(Fate::unsolicited, reply);
}

std::optional<std::string_view> ContentMatcher::expected(const Entry& entry) const {
    if (!given()) return entry.payload;
    return entry.reply ? std::optional<std::string_view>(*entry.reply) : std::nullopt;
}

// Returns the first message in flight that meets the condition, or else the first such late
// message.
ContentMatcher::Entry* ContentMatcher::find_awaited(const Condition& meets) {
    if (Entry* const found = find_in_flight(meets)) return found;
    for (Entry& entry : late_)
        if (entry.state == State::late && meets(entry)) return &entry;
    return nullptr;
}

// Skips messages queued after the reply was read, because it cannot answer them.
ContentMatcher::Entry* ContentMatcher::find_in_flight(const Condition& meets) {
    for (std::uint64_t id = std::max(oldest_id_, first_id_); id <= read_id_; ++id) {
        Entry& entry = entries_[place(id)];
        if (entry.state == State::in_flight && meets(entry)) return &entry;
    }
    return nullptr;
}

// Returns the message in flight with this number, or else the late message with it.
ContentMatcher::Entry* ContentMatcher::find_number(std::uint64_t number) {
    const auto find = [&](ContentMatcher::Entry* begin, ContentMatcher::Entry* end) {
        Entry* const found =
            std::lower_bound(begin, end, number, [](const Entry& entry, std::uint64_t wanted) {
                return entry.number < wanted;
            });
        return found != end && found->number == number ? found : nullptr;
    };
    if (Entry* const found = find(entries_.begin(), entries_.end()))
        if (found->state == State::in_flight && found->id <= read_id_) return found;
    Entry* const late = find(late_.begin(), late_.end());
    return late && late->state == State::late ? late : nullptr;
}

ContentMatcher::Entry* ContentMatcher::find_equal(std::string_view reply) {
    std::string space;
    const std::string_view wanted = comparable_text(options_.pattern, reply, space);
    const auto equals = [&](const Entry& entry) {
        const auto right = expected(entry);
        std::string own_space;
        return right && comparable_text(options_.pattern, *right, own_space) == wanted;
    };
    if (!options_.numbered) return find_awaited(equals);
    const auto number = number_of(reply);
    Entry* const entry = number ? find_number(*number) : nullptr;
    return entry && equals(*entry) ? entry : nullptr;
}

// Returns the message to compare with a reply that equals no message; null if none is suitable.
ContentMatcher::Entry* ContentMatcher::find_of_equal_length(std::string_view reply) {
    std::string space;
    const std::size_t length = comparable_text(options_.pattern, reply, space).size();
    const auto fits = [&](const Entry& entry) {
        const auto right = expected(entry);
        return right && comparable_text(options_.pattern, *right, space).size() == length;
    };
    const auto number = options_.numbered ? number_of(reply) : 0;
    if (last_evicted_ && number && *number <= *last_evicted_) return nullptr;
    Entry* const numbered = options_.numbered && number ? find_number(*number) : nullptr;
    return numbered && fits(*numbered) ? numbered : find_in_flight(fits);
}

std::size_t ContentMatcher::hash_of(std::string_view reply) const {
    std::string space;
    return std::hash<std::string_view>()(comparable_text(options_.pattern, reply, space));
}

// Searches the newest replies first, because a duplicate usually follows soon.
bool ContentMatcher::answered_before(std::string_view reply) const {
    const std::size_t hash = hash_of(reply);
    const auto newest = answer_hashes_.rend() - static_cast<std::ptrdiff_t>(next_answer_index_);
    return std::find(newest, answer_hashes_.rend(), hash) != answer_hashes_.rend() ||
           std::find(answer_hashes_.rbegin(), newest, hash) != newest;
}

void ContentMatcher::remember_answer(std::string_view bytes) {
    if (options_.expect != Expect::echo && !given()) return;
    if (next_answer_index_ == options_.max_remembered) next_answer_index_ = 0;
    if (next_answer_index_ == answer_hashes_.size()) answer_hashes_.push_back(0);
    answer_hashes_[next_answer_index_] = hash_of(bytes);
    ++next_answer_index_;
}

Event ContentMatcher::answer(Entry& entry, std::string_view reply, ev::Time read_at) {
    set_current(extract(entry));
    const ev::Duration time = read_at - current_.sent;
    if (!current_.untimed) max_round_trip_ = std::max(max_round_trip_, time);
    const auto round_trip = current_.untimed ? std::nullopt : std::optional(time);
    const Expression* const pattern = options_.pattern;
    Reply to = options_.expect == Expect::any
                   ? Reply{reply, round_trip, !pattern || pattern->matches(reply)}
                   : compared_reply(pattern, expected(current_), reply, round_trip);
    to.reordered = current_.id < highest_answered_id_;
    highest_answered_id_ = std::max(highest_answered_id_, current_.id);
    if (const auto right = expected(current_)) remember_answer(*right);
    if (!to.right) remember_answer(reply);
    return answered_event(message(), to);
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

void ContentMatcher::set_current(Entry entry) {
    spare_.swap(current_.payload);
    current_ = std::move(entry);
}

// Moves an entry, in flight or late, out of its queue, and leaves a finished entry behind.
ContentMatcher::Entry ContentMatcher::extract(Entry& entry) {
    const State before = std::exchange(entry.state, State::over);
    Entry extracted = std::move(entry);
    extracted.state = before;
    if (extracted.state == State::late) {
        late_bytes_ -= extracted.payload.size();
        return extracted;
    }
    --in_flight_;
    in_flight_bytes_ -= extracted.payload.size();
    while (oldest_id_ <= last_id() && entries_[place(oldest_id_)].state != State::in_flight)
        ++oldest_id_;
    drop_finished();
    return extracted;
}

void ContentMatcher::remember_late(Entry entry) {
    late_bytes_ += entry.payload.size();
    late_.push_back(std::move(entry));
    while (!late_.empty() &&
           (late_.front().state == State::over || late_.size() > options_.max_remembered ||
            late_bytes_ > options_.max_late_bytes)) {
        if (late_.front().state == State::late) {
            late_bytes_ -= late_.front().payload.size();
            last_evicted_ = late_.front().number;
        }
        late_.front() = {};
        late_.pop_front();
    }
}

// --- Lost messages.

void ContentMatcher::mark_oldest_late() {
    lost_.push_back(extract(entries_[place(oldest_id_)]));
    lost_.back().state = State::late;
    remember_late(lost_.back());
}

void ContentMatcher::lose(bool) {
    while (in_flight_ > 0) lost_.push_back(extract(entries_[place(oldest_id_)]));
    for (Entry& entry : entries_) entry.unwritten = 0;
    queued_frames_.clear();
    drop_finished();
}

std::optional<Event> ContentMatcher::next_resolved() {
    if (lost_.empty()) return std::nullopt;
    set_current(std::move(lost_.front()));
    lost_.pop_front();
    return message_event(Fate::lost, message());
}

}  // namespace yodel
