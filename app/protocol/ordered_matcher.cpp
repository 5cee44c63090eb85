#include "app/protocol/ordered_matcher.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

namespace {

// A reply that was read before its message was fully written has no round trip.
std::optional<ev::Duration> round_trip(const Message& message, ev::Time read_at) {
    if (message.untimed || read_at < message.sent) return std::nullopt;
    return read_at - message.sent;
}

Reply right_reply(std::string_view payload, std::optional<ev::Duration> round_trip) {
    return {payload, round_trip, true};
}

}  // namespace

OrderedMatcher::OrderedMatcher(const Options& options)
    : options_(options),
      decoder_(framing(), options.max_frame, options.greeted),
      messages_(framing(), {.expected = options.expect != Expect::none,
                            .coalesce = options.coalesce && options.expect != Expect::given,
                            .given = options.expect == Expect::given,
                            .mask = options.pattern}) {}

void OrderedMatcher::restart() {
    decoder_ = Decoder(framing(), options_.max_frame, options_.greeted);
    messages_.rebase();
    queued_before_read_ = messages_.total() - messages_.count();
    equal_bytes_ = remaining_input_ = arrived_bytes_ = 0;
    right_reply_.clear();
    greeted_ = greeting_ruled_out_ = echoed_ = last_echoed_ = false;
    refusal_ = {};
}

bool OrderedMatcher::greeted(std::string_view received) {
    remaining_input_ = received.size();
    return decoder_.greeted(received);
}

std::optional<Event> OrderedMatcher::next(std::string_view& received, ev::Time read_at) {
    if (received.size() > remaining_input_) queued_before_read_ = messages_.total();
    auto event = next_event(received, read_at);
    remaining_input_ = received.size();
    return event;
}

// Returns the number of messages queued before the input was read, which it may answer.
std::size_t OrderedMatcher::awaiting_count() const {
    const std::uint64_t since = messages_.total() - queued_before_read_;
    const std::size_t count = messages_.count();
    return count - static_cast<std::size_t>(std::min<std::uint64_t>(count, since));
}

// If a step without an event has removed bytes or set `resolution_`, another step follows.
// Otherwise more bytes are needed.
std::optional<Event> OrderedMatcher::next_event(std::string_view& received, ev::Time read_at) {
    for (;;) {
        if (auto event = next_resolved()) return event;
        const std::size_t before = received.size();
        auto event = next_greeting(received);
        if (!event && greeted_)
            event = framing().replies_framed() ? next_framed(received, read_at)
                                               : next_unframed(received, read_at);
        if (event) return event;
        if (refusal_ || (received.size() == before && !resolution_)) return std::nullopt;
    }
}

std::optional<Event> OrderedMatcher::next_greeting(std::string_view& received) {
    if (greeted_) return std::nullopt;
    const std::string_view greeting = framing().greeting;
    if (!received.starts_with(greeting.substr(0, received.size()))) {
        refusal_ = {bufio::Reason::receive, bufio::By::peer, "did not send the greeting",
                    std::string(greeting) + " of " + framing().label()};
        return std::nullopt;
    }
    if (received.size() < greeting.size()) return std::nullopt;
    received.remove_prefix(greeting.size());
    greeted_ = true;
    return std::nullopt;
}

// --- Replies in frames.

std::optional<Event> OrderedMatcher::next_framed(std::string_view& received, ev::Time read_at) {
    if (auto event = next_echoed(received, read_at)) return event;
    if (resolution_ || received.size() == equal_bytes_) return std::nullopt;
    const Decoder::Decoded cut = decoder_.next(received);
    if (cut.kind == Decoder::Decoded::Kind::error)
        refusal_ = {bufio::Reason::limit, bufio::By::us, "", cut.error};
    if (cut.kind == Decoder::Decoded::Kind::incomplete || refusal_) return std::nullopt;
    if (cut.kind == Decoder::Decoded::Kind::stray) {
        received.remove_prefix(cut.used);
        equal_bytes_ = 0;
        return received_event(Fate::unsolicited, cut.payload);
    }
    auto event = match(cut.payload, read_at);
    if (resolution_)
        return std::nullopt;  // report its events first; this frame is decoded again
    received.remove_prefix(cut.used);
    equal_bytes_ = 0;
    resolve_if_decided();
    return event;
}

// Matches replies that equal the sent frames byte for byte, without decoding them.
std::optional<Event> OrderedMatcher::next_echoed(std::string_view& received, ev::Time read_at) {
    if (options_.expect != Expect::echo || awaiting_count() == 0) return std::nullopt;
    equal_bytes_ += first_difference(received.substr(equal_bytes_),
                                     messages_.frames().substr(equal_bytes_));
    if (!messages_.split_within(equal_bytes_)) {
        messages_.release_all_but_last();
        return std::nullopt;
    }
    if (!unmatched_.empty()) {
        resolve(0);
        return std::nullopt;
    }
    const Batch batch = messages_.remove_within();
    equal_bytes_ -= batch.frames.size();
    received.remove_prefix(batch.frames.size());
    decoder_.restart();
    greeting_ruled_out_ = echoed_ = last_echoed_ = true;
    const auto time = round_trip(batch.first, read_at);
    Event event = answered_event(batch.first, right_reply(batch.first.payload, time));
    event.count = batch.count;
    if (batch.count > 1) event.frames = batch.frames;
    return event;
}

// Returns none for an unmatched reply, and holds the reply. Also returns none if events of
// earlier replies must be reported first; it then sets `resolution_`.
std::optional<Event> OrderedMatcher::match(std::string_view payload, ev::Time read_at) {
    if (awaiting_count() == 0) return not_awaited_event(payload);
    if (options_.expect == Expect::any) return answer_any(payload, read_at);
    const std::optional<std::size_t> preceding = messages_.find(payload);
    const bool matches = preceding && *preceding < awaiting_count();
    const bool unsolicited =
        preceding != 0 && (answers_nothing(payload) || (!matches && messages_.match_evicted()));
    if (matches && !(given() && unsolicited)) {
        if (*preceding > 0 || !unmatched_.empty()) {
            resolve(*preceding);
            return std::nullopt;
        }
        const Message message = remove_oldest();
        greeting_ruled_out_ = echoed_ = last_echoed_ = true;
        return answered_event(message, right_reply(payload, round_trip(message, read_at)));
    }
    if (unsolicited && unmatched_.empty()) return not_awaited_event(payload);
    unmatched_.push({std::string(payload), read_at, queued_before_read_, unsolicited,
                     is_duplicate(payload)});
    return std::nullopt;
}

// A duplicate echo answers nothing. With Expect::given, a reply that comes again may answer the
// next message.
bool OrderedMatcher::answers_nothing(std::string_view payload) const {
    if (given()) return options_.expected_unsolicited && options_.expected_unsolicited(payload);
    return messages_.equals_last_removed(payload);
}

bool OrderedMatcher::is_duplicate(std::string_view payload) const {
    return options_.expect == Expect::echo && last_echoed_ && !messages_.late_evicted() &&
           messages_.equals_last_removed(payload);
}

Event OrderedMatcher::not_awaited_event(std::string_view payload) const {
    return is_duplicate(payload) ? received_event(Fate::duplicate, payload)
                                 : unsolicited_event(payload);
}

// After an eviction, a reply may answer the evicted message, so it is not called stale.
Event OrderedMatcher::unsolicited_event(std::string_view payload) const {
    const bool stale = options_.expect == Expect::echo && echoed_ && !messages_.late_evicted();
    return received_event(stale ? Fate::stale : Fate::unsolicited, payload);
}

// Skips late messages, which may never be answered, if a message in flight awaits a reply.
Event OrderedMatcher::answer_any(std::string_view payload, ev::Time read_at) {
    if (awaiting_count() > messages_.late())
        while (messages_.late() > 0) remove_oldest();
    const bool right = !options_.pattern || options_.pattern->matches(payload);
    const Message message = remove_oldest();
    return answered_event(message, {payload, round_trip(message, read_at), right});
}

// --- Unmatched replies.

void OrderedMatcher::UnmatchedQueue::push(Unmatched reply) {
    memory_ += reply.payload.size() + sizeof reply;
    if (reply.unsolicited) ++unsolicited_;
    replies_.push_back(std::move(reply));
}

const OrderedMatcher::Unmatched& OrderedMatcher::UnmatchedQueue::pop() {
    popped_ = std::move(replies_.front());
    replies_.pop_front();
    memory_ -= popped_.payload.size() + sizeof popped_;
    if (popped_.unsolicited) --unsolicited_;
    return popped_;
}

std::size_t OrderedMatcher::UnmatchedQueue::answerable(std::size_t messages,
                                                       std::uint64_t before) const {
    messages = std::min(messages, answer_count());
    std::size_t newer = 0;  // replies
    for (std::size_t i = replies_.size(); i > 0 && newer < messages; --i) {
        const Unmatched& reply = replies_[i - 1];
        if (reply.unsolicited) continue;
        const std::uint64_t preceding = reply.queued - std::min(reply.queued, before);
        messages =
            static_cast<std::size_t>(std::min<std::uint64_t>(messages, newer + preceding));
        ++newer;
    }
    return messages;
}

// Once there is an unmatched reply for each message, waiting longer helps only if a reply may
// be a greeting, or may answer a late message.
void OrderedMatcher::resolve_if_decided() {
    if (unmatched_.memory() > options_.unmatched_bytes) return resolve_unmatched();
    const bool late_possible = messages_.late() > 0 && messages_.in_flight() > 0;
    if (unmatched_.empty() || late_possible || greeting_possible()) return;
    if (answerable(messages_.in_flight()) < messages_.in_flight()) return;
    if (messages_.late() > 0) return resolve_unmatched();
    resolve(messages_.count());
}

bool OrderedMatcher::greeting_possible() const {
    return !greeting_ruled_out_ && unmatched_.answer_count() == messages_.in_flight() &&
           unmatched_.answer_count() > 0 && messages_.late() == 0;
}

void OrderedMatcher::rule_out_greeting() {
    greeting_ruled_out_ = true;
    resolve_unmatched();
}

// Answers the oldest messages, because a later reply may still match a younger message. The
// counts of bad replies and lost messages do not depend on this choice.
void OrderedMatcher::resolve_unmatched() {
    if (unmatched_.empty()) return;
    const std::size_t replies = unmatched_.answer_count();
    const std::size_t late = std::min(replies, messages_.late());
    const std::size_t timely = answerable(std::min(replies - late, messages_.in_flight()));
    resolution_ = {.unsolicited = replies - late - timely, .answered = late + timely};
}

void OrderedMatcher::lose(bool unwritten_stay) {
    resolve(unwritten_stay ? messages_.written() : messages_.count());
}

// Returns how many of the oldest `messages` in flight the unmatched replies can answer.
std::size_t OrderedMatcher::answerable(std::size_t messages) const {
    return unmatched_.answerable(messages, messages_.total() - messages_.in_flight());
}

// Pairs the oldest messages with the unmatched replies. Messages in flight come first, because
// late messages have already been reported. Surplus replies go to the youngest late messages.
void OrderedMatcher::resolve(std::size_t messages) {
    const std::size_t replies = unmatched_.answer_count();
    const std::size_t late = std::min(messages, messages_.late());
    const std::size_t timely = messages - late;
    const std::size_t timely_answered = answerable(timely);
    const std::size_t late_answered = std::min(replies - timely_answered, late);
    resolution_ = {.unsolicited = replies - timely_answered - late_answered,
                   .skipped = late - late_answered,
                   .answered = late_answered + timely_answered,
                   .lost = timely - timely_answered};
}

std::optional<Event> OrderedMatcher::next_resolved() {
    if (!resolution_) return std::nullopt;
    Resolution& due = *resolution_;
    const bool unsolicited_first = !unmatched_.empty() && unmatched_.front().unsolicited;
    if (unsolicited_first || due.unsolicited > 0) {
        if (!unsolicited_first) --due.unsolicited;
        const Unmatched& reply = unmatched_.pop();
        return reply.duplicate ? received_event(Fate::duplicate, reply.payload)
                               : unsolicited_event(reply.payload);
    }
    for (; due.skipped > 0; --due.skipped) remove_oldest();
    if (due.answered > 0) {
        --due.answered;
        greeting_ruled_out_ = true;
        const Unmatched& reply = unmatched_.pop();
        const Message message = remove_oldest();
        const auto expected = given() ? message.expected : message.payload;
        return answered_event(message, compared_reply(options_.pattern, expected, reply.payload,
                                                      round_trip(message, reply.read_at)));
    }
    if (due.lost > 0) {
        --due.lost;
        return message_event(Fate::lost, remove_oldest());
    }
    if (due.overdue > 0) {
        --due.overdue;
        return message_event(Fate::lost, expire_oldest());
    }
    resolution_.reset();
    return std::nullopt;
}

Message OrderedMatcher::remove_oldest() {
    equal_bytes_ = 0;
    last_echoed_ = false;
    return messages_.remove_oldest();
}

void OrderedMatcher::mark_oldest_late() {
    if (!resolution_) resolution_ = Resolution{};
    ++resolution_->overdue;
}

// Marks the oldest message as late. In a replay, removes it instead if it expects no reply,
// because no late reply can come.
Message OrderedMatcher::expire_oldest() {
    equal_bytes_ = 0;
    if (!given() || messages_.late() > 0 || messages_.oldest().expected)
        return messages_.mark_oldest_late();
    Message unanswered = remove_oldest();
    unanswered.late = true;
    return unanswered;
}

// --- Replies without frames.

std::optional<Event> OrderedMatcher::next_unframed(std::string_view& received,
                                                   ev::Time read_at) {
    messages_.release_removed();
    if (received.empty()) return std::nullopt;
    if (const std::string_view bytes = received.substr(arrived_bytes_); !bytes.empty()) {
        arrived_bytes_ = received.size();
        return received_event(Fate::read, bytes);
    }
    while (given() && awaiting_count() > 0 && !messages_.oldest().expected) {
        const Message unanswered = remove_oldest();
        if (!unanswered.late) return message_event(Fate::lost, unanswered);
    }
    if (awaiting_count() == 0 || messages_.late_evicted() || options_.expect == Expect::any) {
        arrived_bytes_ = 0;
        const std::string_view all = std::exchange(received, {});
        return options_.expect == Expect::any && awaiting_count() > 0 ? answer_any(all, read_at)
                                                                      : unsolicited_event(all);
    }
    return match_bytes(received, read_at);
}

std::string_view OrderedMatcher::expected_bytes() {
    const Message oldest = messages_.oldest();
    if (given()) return *oldest.expected;
    if (framing().reply && right_reply_.empty()) right_reply_ = framing().reply(oldest.payload);
    return framing().reply ? right_reply_ : oldest.payload;
}

// The bytes stay in the input until the reply is whole.
std::optional<Event> OrderedMatcher::match_bytes(std::string_view& received, ev::Time read_at) {
    const std::string_view right = expected_bytes();
    equal_bytes_ += first_difference(received.substr(equal_bytes_), right.substr(equal_bytes_));
    if (received.size() < right.size()) return std::nullopt;
    const std::string_view reply = received.substr(0, right.size());
    const bool equal = equal_bytes_ == reply.size();
    const Message message = remove_oldest();  // invalidates `right`
    const std::string_view wanted =
        message.expected.value_or(framing().reply ? right_reply_ : message.payload);
    const auto time = round_trip(message, read_at);
    const Event event =
        answered_event(message, equal ? right_reply(reply, time)
                                      : compared_reply(options_.pattern, wanted, reply, time));
    received.remove_prefix(reply.size());
    arrived_bytes_ -= reply.size();
    echoed_ = echoed_ || equal;
    right_reply_.clear();
    return event;
}

}  // namespace yodel
