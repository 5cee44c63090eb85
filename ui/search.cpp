#include "ui/search.hpp"

#include "ui/text.hpp"

#include <wctype.h>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

// Converts ASCII without the C library, for speed: one key press may search megabytes. This
// conversion is also the same in all locales.
char32_t lower_case(char32_t value) {
    if (value >= 0x80) return static_cast<char32_t>(::towlower(static_cast<wint_t>(value)));
    return value >= 'A' && value <= 'Z' ? value - 'A' + 'a' : value;
}

// Returns the text in lower case with unchanged offsets, so a character whose lower case has
// another size stays as it is.
std::string in_lower_case(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at = text.size()) {
        const CodePoint point = decode(bytes, at);
        const std::size_t size = std::max<std::size_t>(point.size, 1);
        if (point.size > 0) append_utf8(text, lower_case(point.value));
        if (text.size() != at + size) text.replace(at, text.npos, bytes.substr(at, size));
    }
    return text;
}

}  // namespace

Needle::Needle(std::string text)
    : text_(std::move(text)), is_case_sensitive_(in_lower_case(text_) != text_) {}

bool Needle::is_in(std::string_view bytes) const {
    if (empty()) return false;
    if (is_case_sensitive_) return bytes.find(text_) != bytes.npos;
    return in_lower_case(bytes).find(text_) != bytes.npos;
}

// Matches may overlap, but each byte is marked only once.
std::vector<char> Needle::marks(std::string_view bytes) const {
    if (empty()) return {};
    const std::string haystack = is_case_sensitive_ ? std::string(bytes) : in_lower_case(bytes);
    std::vector<char> marks(bytes.size());
    std::size_t end = 0;  // the end of the last match
    for (std::size_t at = haystack.find(text_); at != haystack.npos;
         at = haystack.find(text_, at + 1)) {
        for (std::size_t i = std::max(at, end); i < at + text_.size(); ++i) marks[i] = 1;
        end = at + text_.size();
    }
    return marks;
}

void History::add(std::string line) {
    const bool is_repeated = !lines_.empty() && lines_.back() == line;
    if (!line.empty() && !is_repeated) {
        byte_count_ += line.size();
        lines_.push_back(std::move(line));
    }
    for (; lines_.size() > max_lines || (byte_count_ > max_bytes && lines_.size() > 1);
         lines_.pop_front())
        byte_count_ -= lines_.front().size();
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
    } else if (key.chord.code == KeyCode::character && !key.chord.has_alt &&
               !key.chord.has_ctrl) {
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
    has_failed_ = false;
    if (query_.empty()) {
        match_index_ = lines.size();
        return;
    }
    const Needle needle(query_);
    std::size_t at = end;
    while (at > 0 && !needle.is_in(lines[at - 1])) --at;
    has_failed_ = at == 0;
    if (!has_failed_) match_index_ = at - 1;
}

}  // namespace ui
