// The transcript on the screen: a bounded queue of events and notes, which are shown in a
// window that scrolls, and can be searched and selected.
//
// The cost of drawing depends only on the visible rows, not on the number of entries. The
// window follows the tail until it is scrolled or frozen or an entry is selected. Then the text
// at its top stays in place, even if other entries are appended or removed or the window is
// resized. Scrolling to the end makes it follow the tail again.
//
// Scrolling and selecting use the size passed to the last rows().
#pragma once

#include "app/protocol/event.hpp"
#include "ui/frame.hpp"
#include "ui/search.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

class Transcript {
public:
    using WallTime = std::chrono::system_clock::time_point;

    struct Entry {
        StoredEvent event;
        WallTime at;
        // The network's minimum round trip when a reply arrived; none if unknown.
        std::optional<ev::Duration> min_rtt = {};
        ui::Style style = ui::Style::dim;  // of a note

        Entry copy() const { return {StoredEvent(*event), at, min_rtt, style}; }
    };

    struct Limits {
        std::size_t entries = 100'000;
        std::size_t bytes = 36 << 20;  // of all entries, including overhead
        std::size_t head = 4096;       // bytes that are searched and, unless decoded, shown
    };

    // With `is_checking`, right replies are marked. With `is_resp`, replies are shown as by
    // redis-cli, unless they are long or bad, or in the hex view.
    Transcript(bool is_checking, bool is_resp, Limits limits)
        : is_checking_(is_checking), is_resp_(is_resp), limits_(limits) {}

    // Adds an entry at the tail. Removes the oldest entries beyond the limits, but never the
    // newest. While the window does not follow the tail, first removes entries above the
    // window, then entries below it.
    void append(Entry entry);

    const std::deque<Entry>& entries() const { return entries_; }
    const Entry* answer_to(const Message& message) const;

    void show_hex(bool is_hex);
    bool is_hex() const { return is_hex_; }
    // Switches the times of entries other than replies: from the clock to the time since the
    // previous entry, to no time, and back to the clock.
    void cycle_timestamps();

    // The visible rows: at most `height`, of at most `width` columns each.
    std::vector<ui::Row> rows(int width, int height);

    void scroll(int pages);  // down, or up if negative
    void scroll_to_start();
    void scroll_to_end() { top_.reset(); }  // follows the tail
    void toggle_freeze();  // stops following at the current position, or follows again
    bool is_following() const { return !top_; }
    std::size_t entries_below() const;  // entries below the window

    // Selecting scrolls the entry into the window and stops following. The selected entry is
    // shown in Style::selected.
    void select_older();  // begins with the last visible entry
    void select_newer();  // after the newest, selects none and follows again
    void select_none();
    // Returns null if no entry is selected. The result is valid until an entry is appended.
    const Entry* selected() const {
        return selected_index_ ? &entries_[*selected_index_] : nullptr;
    }
    // Returns the first `max_bytes` bytes of an entry, without its time and fate. In the hex
    // view, they are hex numbers on one line.
    std::string text_of(const Event& event, std::size_t max_bytes) const;

    // Selects the newest entry with `text` in its head. Shows every match in Style::match, also
    // in hex, until the next search; an empty text ends the search. Without a match, the window
    // stays, and the result is false.
    bool search(std::string text);
    // Selects the next older (`step` -1) or newer (1) match. Without a match, the window stays,
    // and the result is false.
    bool search_next(int step) {
        return select_match(selected_index_.value_or(entries_.size()), step);
    }

private:
    enum class Timestamps { clock, delta, off };

    // A row of an entry, at the width of the last rows().
    struct Place {
        std::size_t index = 0;  // of the entry
        int row = 0;

        auto operator<=>(const Place&) const = default;
    };
    // A place that does not depend on the width: the first unit of a row.
    struct Anchor {
        std::size_t index = 0;  // of the entry
        std::size_t unit = 0;   // index in the entry's layout
    };

    ui::Span label(std::size_t index) const;
    ui::Layout lay_out(std::size_t index) const;

    // Returns the place this many rows further down or, if negative, up. Stops at the first
    // row, but not at the last. `from` may be the end, after the last entry.
    Place moved(Place from, int rows) const;
    Place top_of_tail() const { return moved({entries_.size(), 0}, -height_); }
    Place top() const;
    void show(Place top, bool may_follow = true);
    void select(std::size_t index);
    bool select_match(std::size_t from, int step);

    const bool is_checking_;
    const bool is_resp_;
    const Limits limits_;
    std::deque<Entry> entries_;
    std::size_t byte_count_ = 0;                 // of all entries, including overhead
    int width_ = 80;                             // width of the last rows(), at least 1
    int height_ = 24;                            // of the last rows(), at least 1
    std::optional<Anchor> top_;                  // none if the window follows the tail
    std::optional<std::size_t> selected_index_;  // in entries_
    ui::Needle needle_;
    bool is_hex_ = false;
    Timestamps timestamps_ = Timestamps::clock;
};

}  // namespace yodel
