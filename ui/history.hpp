// The lines that were sent: to browse, and to search with each key. Pure: reads and draws
// nothing.
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
    // Keeps at most `limit` lines.
    explicit History(std::size_t limit = 1000);

    // Adds a line, unless it is empty or the same as the newest, and stops browsing. The oldest
    // lines are removed while there are more than the limit, or more than 1 MiB of them; the
    // newest line stays, whatever its size.
    void add(std::string line);

    // Returns the line before, or after, the shown line; none if there is no such line.
    // `current` is the text in the editor: it is stored when browsing begins, and newer()
    // returns it after the newest line.
    std::optional<std::string> older(const std::string& current);
    std::optional<std::string> newer();
    // The next older() begins at the newest line again.
    void stop_browsing();

    // Oldest first.
    const std::deque<std::string>& lines() const { return lines_; }

private:
    static constexpr std::size_t max_bytes = 1024 * 1024;

    std::deque<std::string> lines_;
    std::size_t bytes_ = 0;  // the sum of the sizes of lines_
    std::size_t limit_;
    std::size_t shown_ = 0;  // index of the line shown; lines_.size(): the user's own
    std::string own_;        // the user's own line while another one is shown
};

// The search by ^R: each key narrows it, or moves to an older match. Case matters as with a
// Needle. Create one when ^R is pressed, pass every key to press(), and show query(), match()
// and failed() until it ends.
class HistorySearch {
public:
    // The history must outlive the search and must not change during it.
    explicit HistorySearch(const History& history);

    // False: the key ends the search. The caller then cancels it for Escape and ^G; for every
    // other key it puts match() into the editor and handles the key as usual.
    bool press(const Key& key);

    const std::string& query() const { return query_; }
    // The line found; empty before there is one. Valid as long as the history is unchanged.
    std::string_view match() const;
    // True if no line contains the query; match() is then the match of a shorter query.
    bool failed() const { return failed_; }

private:
    void search(std::size_t end);

    const History& history_;
    std::string query_;
    std::size_t at_;  // index of the match; lines().size(): none
    bool failed_ = false;
};

}  // namespace ui
