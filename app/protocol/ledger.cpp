#include "app/protocol/ledger.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace yodel {

namespace {

// Maximum memory that an empty ledger retains: bytes of frames, and entries.
constexpr std::size_t max_idle_capacity = 1024 * 1024;
constexpr std::size_t max_idle_entries = 64;

// Maximum number of held datagrams, because each right datagram is compared with all of them.
constexpr std::size_t max_held_datagrams = 256;

std::optional<std::uint64_t> number_of(std::string_view payload) {
    std::uint64_t number = 0;
    const auto end = payload.data() + payload.size();
    if (std::from_chars(payload.data(), end, number).ec != std::errc()) return std::nullopt;
    return number;
}

bool differ_in_one_byte(std::string_view a, std::string_view b) {
    const std::size_t at = first_difference(a, b);
    return a.size() == b.size() && at < a.size() && a.substr(at + 1) == b.substr(at + 1);
}

}  // namespace

// The decoder accepts every datagram that fits into a packet. With STARTTLS and --on-connect,
// the greeting is received before the decoder reads.
Ledger::Ledger(const SessionOptions& options, const LedgerLimits& limits)
    : options_(options),
      limits_(limits),
      decoder_(framing_, uses_datagrams() ? framing_.max_payload() : options.max_frame,
               options.starttls || (framing_.takes_turns && !options.on_connect.empty())) {}

// --- Sending.

// Collects frames, so that a flush is one write. A payload of several coalesced messages is
// already the sequence of their frames without the last delimiter.
QueuedIds Ledger::queue(std::string_view payload, ev::Time planned_at,
                        std::optional<std::string_view> reply) {
    const std::uint64_t before = last_id_;
    const auto add = [&](std::string_view bytes, std::size_t count) {
        const std::size_t size = bytes.size() + framing_.overhead();
        frames_.reserve(size);  // no more than is needed
        encode(framing_, bytes, frames_);
        record_queued(size, count, planned_at, reply);
    };
    if (options_.may_coalesce && !expects_given() && framing_.joins_pieces())
        add(payload, count_pieces(framing_, payload));
    else
        for_each_piece(framing_, payload, [&](std::string_view piece) { add(piece, 1); });
    return {before + 1, static_cast<std::size_t>(last_id_ - before)};
}

QueuedIds Ledger::queue_reserved(std::size_t size) {
    frames_.commit(size);
    record_queued(size, 1, {}, {});
    return {last_id_, 1};
}

// The frames of these messages are the last `size` bytes of frames_.
void Ledger::record_queued(std::size_t size, std::size_t count, ev::Time planned_at,
                           std::optional<std::string_view> reply) {
    last_id_ += count;
    if (options_.expect == Expect::none) return;
    Entry& entry = entries_.emplace_back();
    entry.id = last_id_ + 1 - count;
    entry.planned_at = planned_at;
    entry.begin = queued() - size;
    entry.size = size;
    entry.count = count;
    if (expects_given() && reply)
        entry.reply = std::make_unique<const std::string>(*reply);
    else if (!expects_given() && framing_.reply)
        entry.reply = std::make_unique<const std::string>(framing_.reply(payload(entry)));
    if (has_numbers())
        entry.key = number_of(payload(entry)).value_or(0);
    else if (uses_datagrams())
        entry.key = hash_of(expected(entry).value_or(""));
    in_flight_.count += count;
    in_flight_.bytes += size;
}

std::string_view Ledger::flush(ev::Time now) {
    for (std::size_t i = entries_.size(); i > first_; --i) {
        Entry& entry = entries_[i - 1];
        if (entry.sent_at != ev::Time{}) break;
        entry.sent_at = now;
        if (entry.planned_at == ev::Time{}) entry.planned_at = now;
    }
    const std::uint64_t from = std::max(std::exchange(flushed_, queued()), base_);
    return frames_.view().substr(static_cast<std::size_t>(from - base_));
}

void Ledger::record_written(std::uint64_t bytes, ev::Time written_at) {
    if (uses_datagrams() || first_ > max_idle_entries) drop_removed();
    if (empty() && frames_.capacity() > max_idle_capacity) keeps_last_ = false;
    release();
    const std::uint64_t before = std::exchange(written_, start_ + bytes);
    if (before == written_) return;
    for (std::size_t i = entries_.size(); i > first_ && entries_[i - 1].end() > before; --i) {
        const std::uint64_t begin = entries_[i - 1].begin;
        if (begin < written_ && split(i - 1, static_cast<std::size_t>(written_ - begin)))
            entries_[i - 1].sent_at = written_at;
    }
}

// --- Entries.

std::string_view Ledger::frame(const Entry& entry) const {
    return frames_.view().substr(static_cast<std::size_t>(entry.begin - base_), entry.size);
}

std::optional<std::string_view> Ledger::expected(const Entry& entry) const {
    if (entry.reply) return *entry.reply;
    return expects_given() ? std::nullopt : std::optional(payload(entry));
}

Message Ledger::message(const Entry& entry, bool is_late) const {
    Message result{entry.id, payload(entry), entry.planned_at, entry.sent_at, is_late};
    if (expects_given()) result.expected = expected(entry);
    return result;
}

// Moves the messages that lie entirely in the first `bytes` bytes of entry `i` to an entry of
// their own, before the rest. Moves nothing, and returns true, if these are all messages of the
// entry. Returns false if there are no such messages.
bool Ledger::split(std::size_t i, std::size_t bytes) {
    Entry& rest = entries_[i];
    if (bytes >= rest.size) return true;
    if (rest.count == 1) return false;
    const std::string_view begun = frame(rest).substr(0, bytes);
    const std::size_t end = begun.rfind(framing_.delimiter);
    if (end == begun.npos) return false;
    Entry first{.id = rest.id,
                .planned_at = rest.planned_at,
                .sent_at = rest.sent_at,
                .begin = rest.begin,
                .size = end + framing_.delimiter.size(),
                .count = count_pieces(framing_, begun) - 1};
    rest.id += first.count;
    rest.begin += first.size;
    rest.size -= first.size;
    rest.count -= first.count;
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(i), std::move(first));
    return true;
}

// Splits entry `i` after its first message.
void Ledger::split_first(std::size_t i) {
    const std::string_view delimiter = framing_.delimiter;
    if (entries_[i].count > 1) split(i, frame(entries_[i]).find(delimiter) + delimiter.size());
}

// Returns the index of the first entry from `i` on that is not removed.
std::size_t Ledger::skip_removed(std::size_t i) const {
    while (i < entries_.size() && entries_[i].is_removed) ++i;
    return i;
}

// Removes an entry, whose frames stay in frames_ until the next release().
const Ledger::Entry& Ledger::take(std::size_t i) {
    keeps_last_ = false;
    release();
    Sum& sum = i < oldest_ ? late_ : in_flight_;
    taken_ = std::move(entries_[i]);
    sum.count -= taken_.count;
    sum.bytes -= taken_.size;
    equal_bytes_ = forgotten_ = 0;
    is_last_echoed_ = false;
    keeps_last_ = framing_.has_framed_replies() && !uses_datagrams();
    entries_[i].is_removed = true;
    first_ = skip_removed(first_);
    oldest_ = skip_removed(std::max(oldest_, first_));
    if (!empty()) return taken_;
    entries_.clear();
    first_ = oldest_ = 0;
    if (entries_.capacity() > max_idle_entries) std::vector<Entry>().swap(entries_);
    return taken_;
}

// Frees the frames of the removed messages, except the last one if it stays for
// equals_last_removed().
void Ledger::release() {
    const std::uint64_t left = empty() ? flushed_ : entries_[first_].begin;
    const std::uint64_t to = std::max(base_, keeps_last_ ? taken_.begin : left);
    frames_.consume(static_cast<std::size_t>(to - base_));
    base_ = to;
    if (frames_.empty() && frames_.capacity() > max_idle_capacity) frames_.release();
}

// Drops the removed entries, and the frames between datagrams in flight, once they take most
// of the memory.
void Ledger::drop_removed() {
    constexpr std::size_t enough = 64 * 1024;
    const std::size_t size = in_flight_.bytes + late_.bytes;
    const bool may_drop_frames =
        uses_datagrams() && frames_.size() >= 2 * size + enough && all_written();
    const bool may_drop_entries = first_ > std::max(max_idle_entries, entries_.size() / 2);
    if (!may_drop_frames && !may_drop_entries) return;
    std::erase_if(entries_, [](const Entry& entry) { return entry.is_removed; });
    first_ = 0;
    oldest_ = late_.count;
    if (!may_drop_frames) return;
    const std::uint64_t begin = queued() - size;
    std::string frames;
    for (Entry& entry : entries_) {
        frames += frame(entry);
        entry.begin = begin + frames.size() - entry.size;
    }
    frames_.consume(frames_.size());
    frames_.append(frames);
    base_ = begin;
}

// --- Finding.

// Returns the index of the entry that begins with the message for which the reply is right, or
// none if there is no such message.
std::optional<std::size_t> Ledger::find(std::string_view reply) {
    if (!is_awaited(first_)) return std::nullopt;
    if (options_.expect == Expect::any) return is_awaited(oldest_) ? oldest_ : first_;
    const ComparableText wanted(options_.pattern_or_null(), reply);
    const auto equals = [&](const Entry& entry) {
        if (!expects_given()) return payload(entry) == reply;
        return entry.reply &&
               ComparableText(options_.pattern_or_null(), *entry.reply).view == wanted.view;
    };
    if (has_numbers()) {
        const auto place = find_number(number_of(reply));
        return place && equals(entries_[*place]) ? place : std::nullopt;
    }
    const std::size_t key = uses_datagrams() ? std::hash<std::string_view>()(wanted.view) : 0;
    const std::size_t count = entries_.size() - first_;
    const std::size_t late =
        uses_datagrams() ? oldest_ - first_ : 0;  // late ones are searched last
    for (std::size_t n = late; n < count + late; ++n) {
        const std::size_t i = first_ + (n < count ? n : n - count);
        const Entry& entry = entries_[i];
        if (entry.key != key || entry.is_removed || !is_awaited(i)) continue;
        if (entry.count > 1) {
            if (const auto place = find_in_batch(i, wanted.view)) return place;
        } else if (equals(entry)) {
            return i;
        }
    }
    return std::nullopt;
}

// Splits a batch before the message that equals the reply, and returns the message's index.
std::optional<std::size_t> Ledger::find_in_batch(std::size_t i, std::string_view reply) {
    const std::string_view batch = frame(entries_[i]);
    const std::string delimiter(framing_.delimiter);
    const std::string framed = std::string(reply) + delimiter;
    if (batch.starts_with(framed)) return i;
    const std::size_t at = batch.find(delimiter + framed);
    if (at == batch.npos) return std::nullopt;
    split(i, at + delimiter.size());
    return i + 1;
}

// Returns the index of the datagram with this number, or none if there is no such datagram.
std::optional<std::size_t> Ledger::find_number(std::optional<std::uint64_t> number) {
    if (!number) return std::nullopt;
    const auto found = std::lower_bound(
        entries_.begin() + static_cast<std::ptrdiff_t>(first_), entries_.end(), *number,
        [](const Entry& entry, std::uint64_t key) { return entry.key < key; });
    const auto i = static_cast<std::size_t>(found - entries_.begin());
    if (!is_awaited(i) || found->key != *number || found->is_removed) return std::nullopt;
    return i;
}

// Returns the size of the reply with each masked part replaced by one byte.
std::size_t Ledger::comparable_size(std::string_view reply) const {
    return ComparableText(options_.pattern_or_null(), reply).view.size();
}

// Returns true if a datagram of this comparable size, read after message `read_id` was queued,
// may be a bad reply to the entry's message.
bool Ledger::fits(const Entry& entry, std::size_t size, std::uint64_t read_id) const {
    const auto right = expected(entry);
    return !entry.is_removed && entry.id <= read_id && right && comparable_size(*right) == size;
}

// --- Receiving.

bool Ledger::may_send(std::string_view received) {
    remaining_bytes_ = received.size();
    return decoder_.may_send(received);
}

// If a step without an event has removed bytes or has begun to settle replies, another step
// follows. Otherwise more bytes are needed.
std::optional<Event> Ledger::next(std::string_view& received, ev::Time read_at) {
    if (received.size() > remaining_bytes_) read_id_ = last_id_;
    std::optional<Event> event;
    for (bool may_continue = true; may_continue && !event;) {
        if (is_settling_) event = next_resolved();
        if (event) break;
        if (!is_greeted_) {
            const std::string_view greeting = framing_.greeting;
            if (!received.starts_with(greeting.substr(0, received.size())))
                refusal_ = {bufio::Reason::receive, bufio::By::peer,
                            "did not send the greeting",
                            std::string(greeting) + " of " + framing_.label()};
            if (!received.starts_with(greeting)) break;
            received.remove_prefix(greeting.size());
            is_greeted_ = true;
        }
        const std::size_t before = received.size();
        event = framing_.has_framed_replies() ? next_framed(received, read_at)
                                              : next_unframed(received, read_at);
        may_continue = is_settling_ || received.size() != before;
    }
    remaining_bytes_ = received.size();
    return event;
}

std::optional<Event> Ledger::next_framed(std::string_view& received, ev::Time read_at) {
    if (auto event = next_echoed(received, read_at)) return event;
    release();
    if (is_settling_ || received.size() == equal_bytes_) return std::nullopt;
    const Decoder::Decoded decoded = decoder_.next(received);
    if (decoded.kind == Decoder::Decoded::Kind::error)
        refusal_ = {bufio::Reason::limit, bufio::By::us, "", decoded.error};
    if (decoded.used == 0) return std::nullopt;
    if (decoded.kind == Decoder::Decoded::Kind::stray) {
        equal_bytes_ = 0;
        received.remove_prefix(decoded.used);
        return received_event(Fate::unsolicited, decoded.payload);
    }
    auto event = match(decoded.payload, read_at);
    if (is_settling_) return std::nullopt;  // this frame is decoded again after the events
    equal_bytes_ = 0;
    received.remove_prefix(decoded.used);
    if (!held_.empty()) settle_if_decided();
    return event;
}

// Matches replies that equal the sent frames byte for byte, without decoding them.
std::optional<Event> Ledger::next_echoed(std::string_view& received, ev::Time read_at) {
    if (options_.expect != Expect::echo || uses_datagrams() || !is_awaited(first_))
        return std::nullopt;
    const Entry& oldest = entries_[first_];
    equal_bytes_ += first_difference(
        received.substr(equal_bytes_),
        frames_.view().substr(static_cast<std::size_t>(oldest.begin - base_) + equal_bytes_));
    if (equal_bytes_ < oldest.size && !split(first_, equal_bytes_)) return std::nullopt;
    if (!held_.empty()) {
        settle(first_, true);
        return std::nullopt;
    }
    const std::size_t equal = equal_bytes_;
    Event event = answer(first_, {}, read_at, true);
    event.reply.payload = event.message.payload;
    equal_bytes_ = equal - taken_.size;
    received.remove_prefix(taken_.size);
    decoder_.restart();
    event.count = taken_.count;
    if (taken_.count > 1) {  // only the last message stays
        event.frames = frame(taken_);
        const std::size_t last =
            event.message.payload.rfind(framing_.delimiter) + framing_.delimiter.size();
        taken_.begin += last;
        taken_.size -= last;
    }
    return event;
}

// Returns none if the reply is held, or if held replies must be settled first.
std::optional<Event> Ledger::match(std::string_view reply, ev::Time read_at) {
    if (uses_datagrams()) return match_datagram(reply, read_at);
    if (!is_awaited(first_)) return unsolicited(reply);
    const auto place = find(reply);
    // Given replies may repeat, so a reply that equals the last one may answer the next
    // message.
    bool answers_nothing =
        place != first_ &&
        (expects_given() ? options_.expects_unsolicited && options_.expects_unsolicited(reply)
                         : equals_last_removed(reply));
    if (place && !(expects_given() && answers_nothing)) {
        if (options_.expect == Expect::any || (place == first_ && held_.empty())) {
            split_first(*place);
            return answer(*place, reply, read_at, true);
        }
        settle(*place, true);
        return std::nullopt;
    }
    if (!place && !answers_nothing && forgotten_ > 0) {
        --forgotten_;
        answers_nothing = true;
    }
    if (answers_nothing && held_.empty()) return unsolicited(reply);
    const Fate fate = answers_nothing ? unsolicited(reply).fate : Fate::bad;
    held_.push_back({std::string(reply), read_at, read_id_, fate});
    held_bytes_ += reply.size() + sizeof(Held);
    if (!answers_nothing) ++held_answers_;
    return std::nullopt;
}

// Holds a bad reply, unless its number shows which message it answers. If only one message may
// have caused the reply, next_resolved() then answers this message with the reply.
std::optional<Event> Ledger::match_datagram(std::string_view reply, ev::Time read_at) {
    const auto answer_own = [&](std::size_t i, bool is_right) {
        for (Held& held : held_)  // they can no longer answer this message
            if (i >= oldest_ && fits(entries_[i], held.size, held.last_id)) --held.spare;
        if (!is_right) remember_answer(reply);
        return answer(i, reply, read_at, is_right);
    };
    if (const auto place = find(reply)) return answer_own(*place, true);
    if (options_.expects_unsolicited && options_.expects_unsolicited(reply))
        return received_event(Fate::unsolicited, reply);
    if (std::find(answer_hashes_.begin(), answer_hashes_.end(), hash_of(reply)) !=
        answer_hashes_.end())
        return received_event(Fate::duplicate, reply);
    const auto number = has_numbers() ? number_of(reply) : 0;
    if (forgotten_key_ && number && *number <= *forgotten_key_)
        return received_event(Fate::unsolicited, reply);
    if (has_numbers())
        if (const auto place = find_number(number);
            place && differ_in_one_byte(reply, payload(entries_[*place])))
            return answer_own(*place, false);
    const std::size_t size = comparable_size(reply);
    std::size_t candidates = 0;
    for (std::size_t i = oldest_; i < entries_.size(); ++i)
        if (fits(entries_[i], size, read_id_)) ++candidates;
    const auto earlier = static_cast<std::size_t>(std::count_if(
        held_.begin(), held_.end(), [size](const Held& held) { return held.size == size; }));
    if (candidates <= earlier) return received_event(Fate::unsolicited, reply);
    remember_answer(reply);
    held_.push_back({.payload = std::string(reply),
                     .read_at = read_at,
                     .last_id = read_id_,
                     .size = size,
                     .spare = candidates - earlier - 1,
                     .highest_answered_id = highest_answered_id_});
    held_bytes_ += reply.size() + sizeof(Held);
    return std::nullopt;
}

std::size_t Ledger::hash_of(std::string_view reply) const {
    const ComparableText text(options_.pattern_or_null(), reply);
    return std::hash<std::string_view>()(text.view);
}

void Ledger::remember_answer(std::string_view reply) {
    if (answer_hashes_.size() < limits_.remembered) answer_hashes_.emplace_back();
    answer_hashes_[hash_count_ % limits_.remembered] = hash_of(reply);
    ++hash_count_;
}

// In a stream, the messages before entry `i` are late, and will not be answered. A reply that
// was read before its message was fully written has no round trip.
Event Ledger::answer(std::size_t i, std::string_view reply, ev::Time read_at, bool is_right) {
    while (i > first_ && !uses_datagrams()) take(first_);
    const bool is_late = i < oldest_;
    const Entry& entry = take(i);
    Reply answer{.payload = reply, .is_right = is_right};
    if (entry.id > untimed_id_ && read_at >= entry.sent_at) {
        answer.round_trip = read_at - entry.sent_at;
        max_round_trip_ = std::max(max_round_trip_, *answer.round_trip);
    }
    rules_out_greeting_ = true;
    if (options_.expect == Expect::any) {
        answer.is_right = !options_.pattern || options_.pattern->matches(reply);
    } else {
        if (is_right)
            has_echoed_ = is_last_echoed_ = true;
        else
            answer = compared_reply(options_.pattern_or_null(), expected(entry), reply,
                                    answer.round_trip);
        if (uses_datagrams() && expected(entry)) remember_answer(*expected(entry));
    }
    if (uses_datagrams()) {
        answer.is_reordered = entry.id < highest_answered_id_;
        highest_answered_id_ = std::max(highest_answered_id_, entry.id);
    }
    return answered_event(message(entry, is_late), answer);
}

// A duplicate equals the last echo. Other replies that follow an echo are stale. Once a message
// was forgotten, neither is certain, because the reply may answer that message.
Event Ledger::unsolicited(std::string_view reply) const {
    const bool is_decidable = options_.expect == Expect::echo && !forgotten_key_;
    if (!is_decidable || !has_echoed_) return received_event(Fate::unsolicited, reply);
    const bool is_duplicate = is_last_echoed_ && equals_last_removed(reply);
    return received_event(is_duplicate ? Fate::duplicate : Fate::stale, reply);
}

// --- Replies without frames.

// The bytes stay in the input until the reply is whole.
std::optional<Event> Ledger::next_unframed(std::string_view& received, ev::Time read_at) {
    release();
    if (received.empty()) return std::nullopt;
    if (const std::string_view bytes = received.substr(reported_bytes_); !bytes.empty()) {
        reported_bytes_ = received.size();
        return received_event(Fate::read, bytes);
    }
    if (expects_given() && is_awaited(first_) && !entries_[first_].reply) {
        settle(first_ + 1, true);
        return std::nullopt;
    }
    const bool takes_any = options_.expect == Expect::any;
    if (!is_awaited(first_) || forgotten_key_ || takes_any) {
        reported_bytes_ = 0;
        const std::string_view all = std::exchange(received, {});
        return takes_any && is_awaited(first_) ? answer(*find(all), all, read_at, true)
                                               : unsolicited(all);
    }
    const std::string_view right = *expected(entries_[first_]);
    equal_bytes_ += first_difference(received.substr(equal_bytes_), right.substr(equal_bytes_));
    if (received.size() < right.size()) return std::nullopt;
    const std::string_view reply = received.substr(0, right.size());
    const Event event = answer(first_, reply, read_at, equal_bytes_ == reply.size());
    received.remove_prefix(reply.size());
    reported_bytes_ -= reply.size();
    return event;
}

// --- Held replies.

// Begins to answer the messages before entry `end` with the held replies, both in order. If
// there are more replies than messages, the first replies are unsolicited. If `loses_others`,
// the other messages before entry `end` are lost. Messages in flight then take precedence,
// because late messages were already reported.
void Ledger::settle(std::size_t end, bool loses_others) {
    const std::size_t answerable = answerable_count(end);
    std::size_t late = end < oldest_ ? end - first_ : late_.count;
    const std::size_t used = std::min(held_answers_, late + answerable);
    surplus_ = held_answers_ - used;
    is_settling_ = true;
    if (!loses_others) return;
    lost_below_id_ = end < entries_.size() ? entries_[end].id : last_id_ + 1;
    for (; late > used - std::min(used, answerable); --late) take(first_);
}

// Returns how many messages in flight before entry `end` the held replies can answer. A reply
// can answer only a message that was queued before the reply was read.
std::size_t Ledger::answerable_count(std::size_t end) const {
    std::size_t count = 0;
    std::size_t i = oldest_;
    std::size_t answered = 0;  // messages of entry `i`
    for (const Held& held : held_) {
        if (i >= end) break;
        if (held.fate != Fate::bad || entries_[i].id + answered > held.last_id) continue;
        ++count;
        if (++answered < entries_[i].count) continue;
        answered = 0;
        ++i;
    }
    return count;
}

// Once there is a held reply for each message in flight, waiting longer helps only if a reply
// may be a greeting, or may answer a late message.
void Ledger::settle_if_decided() {
    if (uses_datagrams()) {
        if (held_bytes_ > limits_.held_bytes || held_.size() > max_held_datagrams)
            held_.front().spare = 0;
        is_settling_ = true;
        return;
    }
    const bool may_answer_late = late_.count > 0 && in_flight_.count > 0;
    const bool has_all_replies = answerable_count(entries_.size()) == in_flight_.count;
    if (held_bytes_ > limits_.held_bytes ||
        (has_all_replies && !may_answer_late && !has_possible_greeting()))
        resolve_held();
}

// Answers datagram `i` with the first held reply that it may have caused, if there is one.
std::optional<Event> Ledger::answer_by_held(std::size_t i) {
    const auto first = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
        return fits(entries_[i], held.size, held.last_id);
    });
    if (first == held_.end()) return std::nullopt;
    take_held(first);
    Event event = answer(i, settled_.payload, settled_.read_at, false);
    event.reply.is_reordered = event.message.id < settled_.highest_answered_id;
    return event;
}

void Ledger::take_held(std::list<Held>::iterator held) {
    settled_ = std::move(*held);
    held_.erase(held);
    held_bytes_ -= settled_.payload.size() + sizeof(Held);
}

std::optional<Event> Ledger::next_resolved() {
    if (!is_settling_) return std::nullopt;
    if (uses_datagrams()) {
        for (const Held& held : held_)
            for (std::size_t i = oldest_; held.spare == 0 && i < entries_.size(); ++i)
                if (fits(entries_[i], held.size, held.last_id)) return answer_by_held(i);
    } else if (!held_.empty()) {
        take_held(held_.begin());
        const std::string_view reply = settled_.payload;
        if (settled_.fate != Fate::bad) return received_event(settled_.fate, reply);
        --held_answers_;
        if (surplus_ > 0) {
            --surplus_;
            return unsolicited(reply);
        }
        split_first(first_);
        return answer(first_, reply, settled_.read_at, false);
    }
    while (!empty() && entries_[first_].id < lost_below_id_) {
        const bool is_late = oldest_ > first_;
        split_first(first_);
        const Entry& lost = take(first_);
        if (!is_late) return Event{.fate = Fate::lost, .message = message(lost, false)};
    }
    is_settling_ = false;
    return std::nullopt;
}

bool Ledger::has_possible_greeting() const {
    return !rules_out_greeting_ && held_answers_ > 0 && held_answers_ == in_flight_.count &&
           late_.count == 0;
}

void Ledger::rule_out_greeting() {
    rules_out_greeting_ = true;
    resolve_held();
}

// --- Lost messages.

Event Ledger::expire_oldest() {
    if (uses_datagrams())
        if (const auto event = answer_by_held(oldest_)) return *event;
    split_first(oldest_);
    const Entry& oldest = entries_[oldest_];
    if (expects_given() && !oldest.reply && late_.count == 0)
        return {.fate = Fate::lost, .message = message(take(oldest_), true)};
    const Event event{.fate = Fate::lost, .message = message(oldest, true)};
    --in_flight_.count;
    in_flight_.bytes -= oldest.size;
    ++late_.count;
    late_.bytes += oldest.size;
    oldest_ = skip_removed(oldest_ + 1);
    while (late_.count > 1 &&
           (late_.count > limits_.remembered || late_.bytes > limits_.late_bytes)) {
        const std::size_t forgotten = forgotten_ + 1;
        forgotten_key_ = has_numbers() ? entries_[first_].key : 0;
        take(first_);
        forgotten_ = forgotten;
    }
    return event;
}

void Ledger::lose(bool keeps_unwritten) {
    std::size_t i = entries_.size();
    if (keeps_unwritten && !uses_datagrams())
        while (i > oldest_ && entries_[i - 1].end() > written_) --i;
    for (Held& held : held_) held.spare = 0;
    settle(i, true);
}

void Ledger::restart() {
    decoder_.restart(false);
    for (Entry& entry : entries_) entry.sent_at = {};
    start_ = written_ = flushed_ = empty() ? queued() : entries_[first_].begin;
    keeps_last_ = false;
    release();
    read_id_ = 0;
    forgotten_ = equal_bytes_ = remaining_bytes_ = reported_bytes_ = 0;
    forgotten_key_.reset();
    refusal_ = {};
    is_greeted_ = rules_out_greeting_ = has_echoed_ = is_last_echoed_ = false;
}

}  // namespace yodel
