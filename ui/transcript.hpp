// A bounded list of messages and notes, in a window that wraps, scrolls, searches and selects.
//
// Appending takes O(1), and the cost of drawing depends only on the visible rows, not on the
// number of entries. The window follows the tail until it is scrolled away from it. Then the
// text at its top stays in place, even if entries are appended, the window is resized, or
// other entries are removed. Scrolling to the end makes it follow the tail again.
//
// Pure: it draws nothing. Scrolling and selecting use the size passed to the last rows().
#pragma once

#include "ui/frame.hpp"
#include "ui/needle.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

class Transcript {
public:
    // Identifies an entry. Ascends with each append(). Valid until the next append(), which may
    // remove entries.
    using Id = std::uint64_t;
    // Called with the index of each entry that is removed; 0: the oldest.
    using Removed = std::function<void(std::size_t index)>;

    struct Entry {
        Row prefix;                   // visible text
        std::string body;             // any bytes; a long body is shown as its head and size
        Row suffix;                   // visible text
        Style style = Style::normal;  // style of the body
        // True: the body is a message, shown as text or as a hex dump. False: it is a note,
        // which wraps between words like the suffix.
        bool message = false;
        std::optional<std::size_t> bad_byte = {};  // a byte of the body to mark
    };

    struct Limits {
        std::size_t entries = 100'000;
        // Limit of all entries, including overhead. A log stores each message a second time.
        std::size_t bytes = 18 << 20;
        std::size_t head = 4096;  // bytes of a body that are shown and searched
    };

    Transcript() = default;
    explicit Transcript(
        Limits limits, Removed removed = [](std::size_t) {})
        : limits_(limits), on_removed_(std::move(removed)) {}

    // Adds an entry at the tail. Removes the oldest entries beyond the limits, but never the
    // newest. While the window does not follow the tail, first removes entries above it, then
    // entries below it.
    Id append(Entry entry);

    // Changes an entry by calling `edit`, which must not use the transcript. Returns false if
    // the entry no longer exists.
    bool change(Id id, const std::function<void(Entry&)>& edit);

    // Returns the entry, or null if it no longer exists. Valid until the next append() or
    // change().
    const Entry* find(Id id) const;

    std::size_t size() const { return entries_.size(); }
    Id oldest() const { return next_id_ - entries_.size(); }  // meaningful if size() > 0

    // Shows the bodies of messages as hex dumps, or as text again.
    void show_hex(bool hex);
    bool hex() const { return hex_; }

    // The visible rows: at most `height`, of at most `width` columns each.
    std::vector<Row> rows(int width, int height);

    void scroll(int rows);  // down; negative: up
    void scroll_pages(int pages);
    void scroll_to_start();
    void scroll_to_end() { top_.reset(); }  // follows the tail
    void toggle_freeze();  // stops following at the current position, or follows again
    bool following() const { return !top_; }
    std::size_t entries_below() const;  // entries after the last one in rows()

    // Selecting scrolls the entry into the window and stops following. The selected entry is
    // shown in Style::selected.
    void select_older();  // begins with the newest entry
    void select_newer();  // after the newest: selects none and follows again
    void select_none();
    std::optional<Id> selected() const;

    // Selects the newest entry with `text` in the head of its body. Shows every match in
    // Style::match, also in hex, until the next search; an empty text ends the search. Case
    // matters as in a Needle. Without a match, the window stays, and the result is false.
    bool search(std::string text);
    // Select the next older or newer match. Without a match, the window stays, and the result
    // is false.
    bool search_older() { return search_before(selected().value_or(next_id_)); }
    bool search_newer();

private:
    // A row of an entry, at the width of the last rows().
    struct Place {
        Id id = 0;
        std::size_t row = 0;

        auto operator<=>(const Place&) const = default;
    };
    // The first unit of a row, independent of the width.
    struct Anchor {
        Id id = 0;
        std::size_t unit = 0;  // index in the entry's layout
    };
    class Layout;

    std::size_t index(Id id) const { return static_cast<std::size_t>(id - oldest()); }
    Entry& at(Id id) { return entries_[index(id)]; }
    const Entry& at(Id id) const { return entries_[index(id)]; }
    void trim();
    void remove(std::size_t place);

    std::string_view head(const Entry& entry) const;
    Layout lay_out(Id id) const;
    std::size_t row_count(Id id) const;

    Place up(Place from, std::size_t rows) const;
    Place down(Place from, std::size_t rows) const;
    Place top_of_tail() const;
    Place top() const;
    void freeze_at(Place top);
    void show(Place top);
    void select(Id id);
    bool search_before(Id end);
    bool select_match(Id id);

    std::deque<Entry> entries_;
    Limits limits_;
    Removed on_removed_ = [](std::size_t) {};
    Id next_id_ = 0;          // the id of the next entry
    std::size_t bytes_ = 0;   // size of entries_, computed as for Limits
    std::size_t width_ = 80;  // width of the last rows(), at least 1
    std::size_t height_ = 24;
    std::optional<Anchor> top_;  // none: follows the tail
    std::optional<Id> selected_;
    Id last_shown_ = 0;  // the last entry that rows() showed
    Needle needle_;
    bool hex_ = false;
};

}  // namespace ui
