#include "app/server/message_tracker.hpp"

#include <algorithm>

namespace yodel {

std::optional<MessageTracker::Message> MessageTracker::next(std::string_view& bytes) {
    if (!framing_.has_frames()) bytes = {};
    while (!bytes.empty()) {
        const bool continued = cursor_.inside();
        const FrameCursor::Step step = cursor_.next(bytes);
        bytes.remove_prefix(step.used);
        if (!continued && (step.whole || cursor_.inside())) begin();
        size_ += step.payload.size();
        head_ += step.payload.substr(0, max_head_ - std::min(max_head_, head_.size()));
        if (step.whole) return Message{size_, head_};
    }
    return std::nullopt;
}

void MessageTracker::begin() {
    ++begun_;
    size_ = 0;
    head_.clear();
}

}  // namespace yodel
