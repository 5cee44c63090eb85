#include "app/server/message_tracker.hpp"

#include <algorithm>

namespace yodel {

namespace {

std::string_view take_front(std::string_view& bytes, std::size_t count) {
    const std::string_view front = bytes.substr(0, count);
    bytes.remove_prefix(front.size());
    return front;
}

}  // namespace

std::optional<MessageTracker::Message> MessageTracker::next(std::string_view& bytes) {
    if (framing_.prefix > 0) return next_prefixed(bytes);
    if (framing_.has_frames()) return next_delimited(bytes);
    bytes = {};
    return std::nullopt;
}

void MessageTracker::begin() {
    if (inside_) return;
    inside_ = true;
    ++begun_;
    size_ = 0;
    head_.clear();
    prefix_.clear();
    last_ = '\0';
}

void MessageTracker::add(std::string_view payload) {
    size_ += payload.size();
    head_ += payload.substr(0, max_head_ - std::min(max_head_, head_.size()));
    if (!payload.empty()) last_ = payload.back();
}

MessageTracker::Message MessageTracker::finish() {
    inside_ = false;
    return {size_, std::string_view(head_).substr(0, size_)};
}

// If the input was cut inside a delimiter of two bytes, its first byte was counted as payload.
std::optional<MessageTracker::Message> MessageTracker::next_delimited(std::string_view& bytes) {
    if (!inside_) take_front(bytes, framing_.stray(bytes));
    if (bytes.empty()) return std::nullopt;
    if (!inside_) take_front(bytes, framing_.head.size());
    begin();
    const std::string_view delimiter = framing_.delimiter;
    if (delimiter.size() == 2 && size_ > 0 && last_ == delimiter[0] &&
        bytes[0] == delimiter[1]) {
        bytes.remove_prefix(1);
        --size_;
        return finish();
    }
    const std::size_t end = bytes.find(delimiter);
    add(take_front(bytes, end));
    if (end == std::string_view::npos) return std::nullopt;
    bytes.remove_prefix(delimiter.size());
    return finish();
}

std::optional<MessageTracker::Message> MessageTracker::next_prefixed(std::string_view& bytes) {
    if (bytes.empty()) return std::nullopt;
    begin();
    if (prefix_.size() < framing_.prefix) {
        prefix_ += take_front(bytes, framing_.prefix - prefix_.size());
        if (prefix_.size() < framing_.prefix) return std::nullopt;
        left_ = framing_.decode_length(prefix_);
    }
    const std::string_view payload = take_front(bytes, left_);
    add(payload);
    left_ -= payload.size();
    if (left_ > 0) return std::nullopt;
    return finish();
}

}  // namespace yodel
