// What was sent, received and said: a bounded list of entries, seen through a window that
// wraps, scrolls, searches and selects.
//
// Appending costs O(1), and a screenful costs a screenful, however many entries there are. The
// window follows the tail until it is scrolled away from it; from then on what is at its top
// stays there, through appending, resizing, and the trimming of older entries, until it is
// scrolled to the end again.
//
// Pure: it draws nothing. Scrolling and selecting go by the size of the last rows().
#pragma once

#include "ui/frame.hpp"

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
    using Id = std::uint64_t;  // in the order of appending, never used again

    struct Entry {
        Row prefix;                   // visible text; a span that is "\n" begins a new row
        std::string body;             // any bytes; a long one is shown by its head and its size
        Row suffix;                   // as prefix
        Style style = Style::normal;  // of the body
        bool message = false;  // the body is a message: as it is, or a hex dump where that is
                               // on; else it is text, wrapped between words as the suffix is
    };

    struct Limits {
        std::size_t entries = 100'000;
        std::size_t bytes = 64 << 20;  // of all entries, their overhead included
        std::size_t head = 4096;       // bytes of a body that are shown and searched
    };

    Transcript();
    explicit Transcript(Limits limits);

    // Adds at the tail. The oldest entries go when a limit is passed, never the newest.
    Id append(Entry entry);

    // Lets `edit` change an entry. False: it is there no more.
    bool change(Id id, const std::function<void(Entry&)>& edit);

    // Null: it is there no more. Valid until the next append() or change().
    const Entry* find(Id id) const;

    std::size_t size() const { return entries_.size(); }
    Id oldest() const { return first(); }  // of the entries still there, if there are any

    // Shows the bodies of messages as hex dumps, or as text again.
    void show_hex(bool hex);
    bool hex() const { return hex_; }

    // What is seen, at most `height` rows of at most `width` columns each; fewer when there is
    // less to show.
    std::vector<Row> rows(int width, int height);

    void scroll(int rows);  // down; negative: up
    void scroll_pages(int pages);
    void scroll_to_start();
    void scroll_to_end();  // and follow
    void hold();           // stop following, where it is
    bool following() const { return !top_; }
    std::size_t below() const;  // entries after the last one seen by rows()

    // The selected entry is shown by its style and is scrolled into sight, and the window
    // holds.
    void select_older();  // the newest one, when none is selected
    void select_newer();  // none, after the newest one: the window follows again
    void select_none();
    std::optional<Id> selected() const;

    // Selects the newest entry whose body has `text` in its head, and marks every place where
    // it is until the next search; an empty text ends the search. False: not found, nothing
    // moved.
    bool search(std::string text);
    // False: there is no further place, and nothing moved.
    bool search_older();
    bool search_newer();

private:
    // A row of an entry, for the width of the last rows().
    struct Place {
        Id id = 0;
        std::size_t row = 0;

        auto operator<=>(const Place&) const = default;
    };
    // What a row begins with, whatever the width.
    struct Anchor {
        Id id = 0;
        std::size_t unit = 0;  // of those that the entry's layout puts into rows
    };
    class Layout;

    Id first() const { return next_ - entries_.size(); }
    std::size_t index(Id id) const { return static_cast<std::size_t>(id - first()); }
    Entry& at(Id id) { return entries_[index(id)]; }
    const Entry& at(Id id) const { return entries_[index(id)]; }
    void trim();

    std::string_view head(const Entry& entry) const;
    Layout lay_out(Id id) const;
    std::size_t row_count(Id id) const;

    Place up(Place from, std::size_t rows) const;
    Place down(Place from, std::size_t rows) const;
    Place last() const;
    Place top_of_tail() const;
    Place top() const;
    void hold_at(Place top);
    void show(Place top);
    void select(Id id);
    bool matches(Id id) const;
    bool search_before(Id end);
    bool select_match(Id id);

    std::deque<Entry> entries_;
    Limits limits_;
    Id next_ = 0;            // of the entry to come; the ids of entries_ are the ones before it
    std::size_t bytes_ = 0;  // of entries_, as limited
    std::size_t width_ = 80;  // of the last rows(), at least 1
    std::size_t height_ = 24;
    std::optional<Anchor> top_;  // none: follows the tail
    std::optional<Id> selected_;
    Id seen_ = 0;  // the last entry of the last rows()
    std::string needle_;
    bool hex_ = false;
};

}  // namespace ui
