#include "app/protocol/in_flight.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace yodel {

namespace {

// Maximum memory that an empty queue retains, in bytes.
constexpr std::size_t max_idle_capacity = 1024 * 1024;

}  // namespace

// Collects frames, so that a flush is one write. A payload of several coalesced messages is
// already the sequence of their frames without the last delimiter.
QueuedIds InFlight::queue(std::string_view payload, ev::Time planned,
                          std::optional<std::string_view> reply) {
    if (options_.coalesce && framing_->joins_pieces()) {
        frames_.append(payload);
        frames_.append(framing_->delimiter);
        return record_queued(count_pieces(*framing_, payload), planned);
    }
    QueuedIds all{last_id_ + 1, 0};
    for_each_piece(*framing_, payload, [&](std::string_view piece) {
        encode(*framing_, piece, frames_);
        if (options_.given) replies_.push_back(std::optional<std::string>(reply));
        all.count += record_queued(1, planned).count;
    });
    return all;
}

// The frames of these messages must already be at the end of `frames_`.
QueuedIds InFlight::record_queued(std::size_t count, ev::Time planned) {
    const std::uint64_t first = last_id_ + 1;
    last_id_ += count;
    if (!options_.expected) return {first, count};
    entries_.push_back(
        {.end = queued_offset(), .count = count, .first = first, .planned = planned});
    message_count_ += count;
    total_ += count;
    ++unwritten_entries_;
    return {first, count};
}

std::string_view InFlight::flush(ev::Time now) {
    for (std::size_t i = entries_.size() - unwritten_entries_; i < entries_.size(); ++i) {
        Entry& entry = entries_[i];
        if (entry.sent == ev::Time{}) entry.sent = now;
        if (entry.planned == ev::Time{}) entry.planned = now;
    }
    const std::uint64_t from = std::max(flushed_offset_, base_offset_);
    flushed_offset_ = queued_offset();
    return between(from, flushed_offset_);
}

void InFlight::record_written(std::uint64_t bytes, ev::Time time) {
    while (unwritten_entries_ > 0) {
        const std::size_t oldest = entries_.size() - unwritten_entries_;
        if (!split(oldest, bytes)) return;
        entries_[oldest].sent = time;
        --unwritten_entries_;
    }
}

std::size_t InFlight::written() const {
    const auto end = entries_.end() - static_cast<std::ptrdiff_t>(unwritten_entries_);
    const auto add = [](std::size_t sum, const Entry& entry) { return sum + entry.count; };
    return std::max(late_count_, std::accumulate(entries_.begin(), end, std::size_t{0}, add));
}

void InFlight::void_round_trips() {
    for (Entry& entry : entries_) entry.untimed = true;
}

std::optional<std::string_view> InFlight::expected(std::size_t i) const {
    if (!options_.given) return payload(i);
    return replies_[i] ? std::optional<std::string_view>(*replies_[i]) : std::nullopt;
}

std::optional<std::size_t> InFlight::find(std::string_view reply) {
    index_new_messages();
    std::string space;
    std::string other;
    const std::string_view wanted = comparable_text(options_.mask, reply, space);
    const std::size_t hash = std::hash<std::string_view>()(wanted);
    const std::uint64_t oldest = entries_.empty() ? last_id_ + 1 : entries_.front().first;
    for (auto id = index_->ids.lower_bound({hash, oldest});
         id != index_->ids.end() && id->first == hash; ++id) {
        const std::size_t place = entry_of(id->second);
        if (comparable_text(options_.mask, *expected(place), other) == wanted) return place;
    }
    return std::nullopt;
}

// Adds new messages to the index. Removed messages stay in it until it is rebuilt.
void InFlight::index_new_messages() {
    if (!index_) index_ = std::make_unique<Index>();
    if (entries_.empty()) return;
    if (index_->ids.size() > 2 * message_count_ + 1024) drop_index();
    const std::uint64_t from = std::max(index_->last + 1, entries_.front().first);
    if (from > last_id_) return;
    split_all_from(entry_of(from));
    std::string space;
    for (std::size_t i = entry_of(from); i < entries_.size(); ++i) {
        index_->last = entries_[i].first;
        if (const auto reply = expected(i))
            index_->ids.emplace(
                std::hash<std::string_view>()(comparable_text(options_.mask, *reply, space)),
                index_->last);
    }
}

// Returns the index of the entry with this id, or else of the next entry.
std::size_t InFlight::entry_of(std::uint64_t id) const {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), id,
                                     [](const Entry& entry, std::uint64_t wanted) {
                                         return entry.first + entry.count <= wanted;
                                     });
    return static_cast<std::size_t>(it - entries_.begin());
}

Message InFlight::remove_oldest() {
    split_first(0);
    return remove_within().first;
}

Batch InFlight::remove_within() {
    release_removed();  // may move the frames, so do it before viewing them
    const Entry& entry = entries_.front();
    Batch batch{message(0), entry.count, frame(0)};
    answered_bytes_ = batch.frames.size();
    message_count_ -= entry.count;
    if (entry.late) --late_count_;
    evicted_count_ = 0;
    if (options_.given) {
        removed_reply_ = std::exchange(replies_.front(), std::nullopt);
        replies_.pop_front();
        batch.first.expected = removed_reply_;
    }
    entries_.pop_front();
    unwritten_entries_ = std::min(unwritten_entries_, entries_.size());
    if (message_count_ == 0) drop_index();
    return batch;
}

void InFlight::drop_index() {
    if (index_) *index_ = {};
}

bool InFlight::equals_last_removed(std::string_view payload) const {
    return answered_bytes_ > 0 &&
           framing_->payload(frames_.view().substr(0, answered_bytes_)) == payload;
}

void InFlight::release_idle() {
    const bool idle_memory_is_small =
        answered_bytes_ == frames_.size() && frames_.capacity() <= max_idle_capacity;
    if (message_count_ == 0 && !idle_memory_is_small) release_removed();
}

void InFlight::release_all_but_last() {
    const std::string_view delimiter = framing_->delimiter;
    if (!options_.coalesce || delimiter.empty() || answered_bytes_ == 0) return;
    const std::size_t end =
        frames_.view().substr(0, answered_bytes_ - delimiter.size()).rfind(delimiter);
    if (end == std::string_view::npos) return;
    const std::size_t last = answered_bytes_ - (end + delimiter.size());
    release(end + delimiter.size());
    answered_bytes_ = last;
}

void InFlight::release(std::size_t bytes) {
    frames_.consume(bytes);
    if (frames_.empty() && frames_.capacity() > max_idle_capacity) frames_.release();
    base_offset_ += bytes;
    answered_bytes_ = 0;
}

Message InFlight::mark_oldest_late() {
    split_first(late_count_);
    entries_[late_count_].late = true;
    ++late_count_;
    const auto memory = [this] {
        return entries_[late_count_ - 1].end - begin(0) + late_count_ * sizeof(Entry);
    };
    while (late_count_ > 1 && memory() > options_.max_late_bytes) {
        const std::uint64_t evicted = evicted_count_ + 1;
        remove_within();
        release_removed();
        evicted_count_ = evicted;
        late_evicted_ = true;
    }
    return message(late_count_ - 1);
}

bool InFlight::match_evicted() {
    if (evicted_count_ == 0) return false;
    --evicted_count_;
    return true;
}

void InFlight::rebase() {
    release_removed();
    for (Entry& entry : entries_) {
        entry.end -= base_offset_;
        entry.sent = {};
    }
    base_offset_ = flushed_offset_ = 0;
    late_evicted_ = false;
    evicted_count_ = 0;
}

// Returns the offset of entry `i` in the bytes of the connection.
std::uint64_t InFlight::begin(std::size_t i) const {
    return i == 0 ? base_offset_ + answered_bytes_ : entries_[i - 1].end;
}

std::string_view InFlight::between(std::uint64_t begin, std::uint64_t end) const {
    return frames_.view().substr(static_cast<std::size_t>(begin - base_offset_),
                                 static_cast<std::size_t>(end - begin));
}

Message InFlight::message(std::size_t i) const {
    const Entry& entry = entries_[i];
    Message all{entry.first, payload(i), entry.planned, entry.sent, entry.late, entry.untimed};
    if (options_.given) all.expected = expected(i);
    return all;
}

// Splits entry `i` after the messages that end at or before `end`, unless all of them do.
// Returns true if at least one of them does.
bool InFlight::split(std::size_t i, std::uint64_t end) {
    Entry& entry = entries_[i];
    if (entry.end <= end) return true;
    if (entry.count == 1 || end <= begin(i)) return false;
    const std::string_view bytes = between(begin(i), end);
    const std::size_t whole = count_pieces(*framing_, bytes) - 1;
    if (whole == 0) return false;
    Entry first = entry;
    first.end = begin(i) + bytes.rfind(framing_->delimiter) + framing_->delimiter.size();
    first.count = whole;
    entry.count -= whole;
    entry.first += whole;
    if (i + unwritten_entries_ >= entries_.size()) ++unwritten_entries_;
    entries_.insert(i, first);
    return true;
}

void InFlight::split_first(std::size_t i) {
    if (entries_[i].count == 1) return;
    const std::string_view delimiter = framing_->delimiter;
    split(i, begin(i) + frame(i).find(delimiter) + delimiter.size());
}

// Splits this entry and all later ones into single messages, in one pass.
void InFlight::split_all_from(std::size_t place) {
    const bool single =
        std::all_of(entries_.begin() + static_cast<std::ptrdiff_t>(place), entries_.end(),
                    [](const Entry& entry) { return entry.count == 1; });
    if (single) return;
    ContiguousQueue<Entry> all;
    for (std::size_t i = 0; i < place; ++i) all.push_back(entries_[i]);
    const std::size_t written = entries_.size() - unwritten_entries_;
    std::size_t unwritten = 0;
    for (std::size_t i = place; i < entries_.size(); ++i) {
        Entry one = entries_[i];
        std::uint64_t end = begin(i);
        const auto add = [&](std::string_view piece) {
            one.end = end += piece.size() + framing_->delimiter.size();
            all.push_back(one);
            ++one.first;
            if (i >= written) ++unwritten;
        };
        one.count = 1;
        for_each_piece(*framing_, payload(i), add);
    }
    unwritten_entries_ = written <= place ? unwritten + (place - written) : unwritten;
    entries_ = std::move(all);
}

}  // namespace yodel
