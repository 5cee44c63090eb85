#include "app/protocol/recorded_events.hpp"

namespace yodel {

namespace {

// Limit for events that wait for an earlier message, such as a lost one.
constexpr std::size_t max_bytes = 32 * 1024 * 1024;

std::size_t memory_of(const RecordedEvent& event) {
    return sizeof event + event.sent.size() + (event.received ? event.received->size() : 0);
}

}  // namespace

void RecordedEvents::add(RecordedEvent event) {
    const bool last = event.kind == RecordedEvent::Kind::ended;
    const Place place{event.at, last ? ~std::uint64_t{0} : event.message.id};
    put(place, std::move(event));
}

// A late reply repeats a message that was already sent.
void RecordedEvents::add_message(RecordedEvent event, bool adjacent) {
    const std::uint64_t number = event.message.id;
    const ev::Duration sent_at = event.message.sent.time_since_epoch();
    if (event.fate != Fate::unsent && (event.fate != Fate::late || adjacent))
        put({sent_at, number}, {.kind = RecordedEvent::Kind::sent,
                                .at = sent_at,
                                .message = event.message,
                                .sent = event.sent});
    const Place place{adjacent ? sent_at : event.at, number};
    if (event.fate != Fate::sent) put(place, std::move(event));
    if (!adjacent) release(number, sent_at);
}

const RecordedEvent* RecordedEvents::next() {
    const auto first = events_.begin();
    if (first == events_.end() || (first->first > released_ && bytes_ <= max_bytes))
        return nullptr;
    current_ = std::move(first->second);
    bytes_ -= memory_of(current_);
    events_.erase(first);
    current_.message.payload = current_.sent;
    if (current_.received) current_.reply.payload = *current_.received;
    return &current_;
}

void RecordedEvents::put(Place place, RecordedEvent event) {
    bytes_ += memory_of(event);
    events_.emplace(place, std::move(event));
}

// Messages are numbered in the order of sending. No event that is added later precedes the
// sending of the last message before the first missing number.
void RecordedEvents::release(std::uint64_t number, ev::Duration sent_at) {
    if (number >= next_number_) ahead_.emplace(number, sent_at);
    while (!ahead_.empty() && ahead_.begin()->first == next_number_) {
        released_ = std::max(released_, Place(ahead_.begin()->second, next_number_));
        ahead_.erase(ahead_.begin());
        ++next_number_;
    }
}

}  // namespace yodel
