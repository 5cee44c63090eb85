// The lines sent before: stepped through, and searched as they are typed.
#pragma once

#include "ui/key.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace ui {

class History {
public:
    explicit History(std::size_t limit = 1000 /* lines */);

    // Adds a line, unless it is empty or the same as the last; stepping starts anew. The oldest
    // go: those beyond the limit, and those that have no room beside newer ones in `max_bytes`.
    void add(std::string line);

    // The line before and after the one shown. `current` is what the user has in the editor;
    // it is kept when stepping begins, and is what the last newer() returns. None: no such
    // line.
    std::optional<std::string> older(const std::string& current);
    std::optional<std::string> newer();
    void stop_browsing();  // the line shown: stepping starts anew

    // Oldest first.
    const std::deque<std::string>& lines() const { return lines_; }

private:
    static constexpr std::size_t max_bytes = 1024 * 1024;

    std::deque<std::string> lines_;
    std::size_t bytes_ = 0;  // of these
    std::size_t limit_;
    std::size_t shown_ = 0;  // index of the line shown; lines_.size(): the user's own
    std::string own_;        // the user's line while another is shown
};

// ^R: each key narrows the search, or goes on to an older match. Make one when ^R is pressed,
// offer it the keys, and show query(), match() and failed() meanwhile.
class HistorySearch {
public:
    // The history must outlive it, and not change meanwhile.
    explicit HistorySearch(const History& history);

    // False: the key ends the search. Escape and ^G are to give it up, all other keys to take
    // the match into the editor and then to do there what they do.
    bool press(const Key& key);

    const std::string& query() const { return query_; }
    std::string_view match() const;          // empty while nothing was found
    bool failed() const { return failed_; }  // match() is of an earlier query

private:
    void search(std::size_t end);

    const History& history_;
    std::string query_;
    std::size_t at_;  // index of the match; lines().size(): none
    bool failed_ = false;
};

}  // namespace ui
