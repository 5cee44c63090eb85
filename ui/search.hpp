// Searches texts and the history of lines. Reads no keys and draws nothing.
#pragma once

#include "ui/key.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

// A text to search for in any bytes. Case matters only if the text contains capitals.
class Needle {
public:
    Needle() = default;  // empty; matches nothing
    explicit Needle(std::string text);

    bool empty() const { return text_.empty(); }
    bool is_in(std::string_view bytes) const;

    // Returns a mark for each byte: 1 if a match covers the byte, else 0. Returns an empty
    // vector if the needle is empty.
    std::vector<char> marks(std::string_view bytes) const;

private:
    std::string text_;
    bool is_case_sensitive_ = false;
};

// The lines that were sent, for browsing and incremental search.
class History {
public:
    // Adds a line, unless it is empty or equal to the newest, and stops browsing. Removes the
    // oldest lines beyond the limits, but never the newest line.
    void add(std::string line);

    // Return the line before or after the shown line, if there is one. `current` is the text in
    // the editor. It is stored when browsing begins, and newer() returns it after the newest
    // line.
    std::optional<std::string> older(const std::string& current);
    std::optional<std::string> newer();
    // Makes the next older() begin at the newest line again.
    void stop_browsing() { shown_index_ = lines_.size(); }

    // Oldest first.
    const std::deque<std::string>& lines() const { return lines_; }

private:
    static constexpr std::size_t max_lines = 1000;
    static constexpr std::size_t max_bytes = 1024 * 1024;

    std::deque<std::string> lines_;
    std::size_t byte_count_ = 0;   // the sum of the sizes of lines_
    std::size_t shown_index_ = 0;  // index of the line shown; lines_.size() for own_line_
    std::string own_line_;         // the user's own line while another one is shown
};

// The incremental search of ^R. Text narrows the search, Backspace widens it, and ^R moves to
// an older match. Case matters as in a Needle. Pass every key to press() until it returns
// false, and meanwhile show query(), match() and has_failed().
class HistorySearch {
public:
    // The history must outlive the search and must not change during it.
    explicit HistorySearch(const History& history)
        : history_(history), match_index_(history.lines().size()) {}

    // Returns false if the key ends the search. The caller then decides, by the key, whether to
    // use match(), and whether the key also has its usual effect.
    bool press(const Key& key);

    const std::string& query() const { return query_; }
    // Returns the line found, or an empty text if there is none. The result is valid as long as
    // the history is unchanged.
    std::string_view match() const;
    // True if the last key found no match; match() is then the previous match.
    bool has_failed() const { return has_failed_; }

private:
    void search(std::size_t end);

    const History& history_;
    std::string query_;
    std::size_t match_index_;  // lines().size() if there is no match
    bool has_failed_ = false;
};

}  // namespace ui
