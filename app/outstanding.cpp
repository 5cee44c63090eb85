#include "app/outstanding.hpp"

#include <algorithm>

namespace yodel {

namespace {

// A queue that has become empty keeps no more memory than this many bytes.
constexpr std::size_t keep = 1024 * 1024;

}  // namespace

// Frames are gathered, so that a flush is one write. The bytes between delimiters are the
// frames already.
void Outstanding::queue(std::string_view payload) {
    if (framing_.kind == Framing::Kind::delimited) {
        std::uint64_t end = queued();
        frames_.append(payload);
        frames_.append(framing_.delimiter);
        if (together_) return note_queued(queued(), count_pieces(framing_, payload));
        for_each_piece(framing_, payload, [&](std::string_view piece) {
            note_queued(end += piece.size() + framing_.delimiter.size());
        });
        return;
    }
    for_each_piece(framing_, payload, [&](std::string_view piece) {
        frames_.append(framing_.head(piece.size()));
        frames_.append(piece);
        frames_.append(framing_.delimiter);
        note_queued(queued());
    });
}

void Outstanding::queue_reserved(std::size_t size) {
    frames_.commit(size);
    note_queued(queued());
}

void Outstanding::note_queued(std::uint64_t end, std::size_t count) {
    const std::uint64_t id = last_id_ + 1;
    last_id_ += count;
    if (!expected_) return;
    groups_.push_back({end, count, id});
    count_ += count;
    ++unstamped_;
}

std::string_view Outstanding::flush(ev::Time now) {
    for (std::size_t i = groups_.size() - unstamped_; i < groups_.size(); ++i)
        if (groups_[i].sent == ev::Time{}) groups_[i].sent = groups_[i].flushed = now;
    const std::uint64_t from = std::max(flushed_, base_);
    flushed_ = queued();
    return between(from, flushed_);
}

void Outstanding::stamp(std::uint64_t written, ev::Time time) {
    while (unstamped_ > 0) {
        const std::size_t oldest = groups_.size() - unstamped_;
        if (!ends_by(oldest, written)) return;
        groups_[oldest].sent = time;
        --unstamped_;
    }
}

void Outstanding::void_round_trips() {
    for (Group& group : groups_) group.voided = true;
}

std::optional<std::size_t> Outstanding::find(std::string_view payload) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        part(i);
        if (this->payload(i) == payload) return i;
    }
    return std::nullopt;
}

Message Outstanding::take() {
    part(0);
    return take_group();
}

Message Outstanding::take_group() {
    forget_taken();
    const Message oldest = message(0);
    taken_ = oldest.frame.size();
    count_ -= oldest.count;
    groups_.pop_front();
    unstamped_ = std::min(unstamped_, groups_.size());
    if (oldest.late) --late_;
    return oldest;
}

bool Outstanding::taken_last(std::string_view payload) const {
    return taken_ > 0 && framing_.payload(frames_.view().substr(0, taken_)) == payload;
}

void Outstanding::forget_taken() { forget(count_ == 0 ? frames_.size() : taken_); }

void Outstanding::forget_taken_but_last() {
    const std::string_view delimiter = framing_.delimiter;
    if (!together_ || delimiter.empty() || taken_ == 0) return;
    const std::size_t end =
        frames_.view().substr(0, taken_ - delimiter.size()).rfind(delimiter);
    if (end == std::string_view::npos) return;
    const std::size_t last = taken_ - (end + delimiter.size());
    forget(end + delimiter.size());
    taken_ = last;
}

void Outstanding::forget(std::size_t bytes) {
    frames_.consume(bytes);
    if (frames_.empty() && frames_.capacity() > keep) frames_.release();
    base_ += bytes;
    taken_ = 0;
}

Message Outstanding::mark_late() {
    part(late_);
    groups_[late_].late = true;
    return message(late_++);
}

void Outstanding::count_anew() {
    forget_taken();
    for (Group& group : groups_) {
        group.end -= base_;
        group.sent = {};
    }
    base_ = flushed_ = 0;
}

// Where the group begins, in the connection's count of bytes; or where the next one will.
std::uint64_t Outstanding::begin(std::size_t i) const {
    return i == 0 ? base_ + taken_ : groups_[i - 1].end;
}

// The bytes between these counts of the connection's.
std::string_view Outstanding::between(std::uint64_t begin, std::uint64_t end) const {
    return frames_.view().substr(static_cast<std::size_t>(begin - base_),
                                 static_cast<std::size_t>(end - begin));
}

Message Outstanding::message(std::size_t i) const {
    const Group& group = groups_[i];
    return {group.id,   group.count,   payload(i), frame(i),
            group.sent, group.flushed, group.late, group.voided};
}

// Whether the group has ended by there. Messages of it that have are parted from the rest.
bool Outstanding::ends_by(std::size_t i, std::uint64_t end) {
    Group& group = groups_[i];
    if (group.end <= end) return true;
    if (group.count == 1 || end <= begin(i)) return false;
    const std::string_view bytes = between(begin(i), end);
    const std::size_t whole = count_pieces(framing_, bytes) - 1;
    if (whole == 0) return false;
    Group first = group;
    first.end = begin(i) + bytes.rfind(framing_.delimiter) + framing_.delimiter.size();
    first.count = whole;
    group.count -= whole;
    group.id += whole;
    if (i + unstamped_ >= groups_.size()) ++unstamped_;
    groups_.insert(groups_.begin() + static_cast<std::ptrdiff_t>(i), first);
    return true;
}

// Its first message becomes a group of its own.
void Outstanding::part(std::size_t i) {
    if (groups_[i].count == 1) return;
    const std::string_view delimiter = framing_.delimiter;
    ends_by(i, begin(i) + frame(i).find(delimiter) + delimiter.size());
}

}  // namespace yodel
