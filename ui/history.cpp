#include "ui/history.hpp"

#include "ui/needle.hpp"
#include "ui/text.hpp"

#include <utility>

namespace ui {

void History::add(std::string line) {
    const bool same = !lines_.empty() && lines_.back() == line;
    if (!line.empty() && !same) {
        bytes_ += line.size();
        lines_.push_back(std::move(line));
    }
    for (; lines_.size() > limit_ || (bytes_ > max_bytes && lines_.size() > 1);
         lines_.pop_front())
        bytes_ -= lines_.front().size();
    stop_browsing();
}

std::optional<std::string> History::older(const std::string& current) {
    if (shown_index_ == 0) return std::nullopt;
    if (shown_index_ == lines_.size()) own_line_ = current;
    --shown_index_;
    return lines_[shown_index_];
}

std::optional<std::string> History::newer() {
    if (shown_index_ == lines_.size()) return std::nullopt;
    ++shown_index_;
    return shown_index_ == lines_.size() ? std::exchange(own_line_, {}) : lines_[shown_index_];
}

bool HistorySearch::press(const Key& key) {
    const std::size_t end = history_.lines().size();
    if (key.chord == ctrl('r')) {
        search(match_index_);
    } else if (key.chord == plain(KeyCode::backspace)) {
        query_.erase(previous_cell(query_, query_.size()));
        search(end);
    } else if (key.chord.code == KeyCode::character && !key.chord.alt && !key.chord.ctrl) {
        query_ += key.text;
        search(match_index_ == end ? end : match_index_ + 1);
    } else {
        return false;
    }
    return true;
}

std::string_view HistorySearch::match() const {
    const std::deque<std::string>& lines = history_.lines();
    return match_index_ < lines.size() ? std::string_view(lines[match_index_])
                                       : std::string_view();
}

// Moves to the newest line before index `end` that contains the query.
void HistorySearch::search(std::size_t end) {
    const std::deque<std::string>& lines = history_.lines();
    failed_ = false;
    if (query_.empty()) {
        match_index_ = lines.size();
        return;
    }
    const Needle needle(query_);
    std::size_t at = end;
    while (at > 0 && !needle.is_in(lines[at - 1])) --at;
    failed_ = at == 0;
    if (!failed_) match_index_ = at - 1;
}

}  // namespace ui
