// Pages of text that cover the screen or the messages. Each is composed for a given width.
#pragma once

#include "app/protocol/session.hpp"
#include "app/screen/transcript.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/results.hpp"
#include "ui/frame.hpp"
#include "ui/search.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

using Rows = std::vector<ui::Row>;

// Width of the column that contains the names of facts.
inline constexpr int fact_name_width = 12;

// Composes the rows of a page.
struct PageRows {
    // Adds a heading, with an empty row before it unless it is the first row.
    void add_title(const std::string& title);
    // Adds a name and its value, which wraps within its own column. If the name is too long,
    // the value begins in the next row.
    void add_fact(const std::string& name, std::string_view value,
                  ui::Style style = ui::Style::normal);

    int width;
    Rows rows = {};
};

// Returns copies of entries: at most the five slowest right replies, and then the 20 newest bad
// replies and lost messages.
std::vector<Transcript::Entry> notable_entries(const Transcript& transcript);

struct Statistics {
    const Results& results;
    const Results* minute_ago;  // the results a minute ago; null if they are not shown
    const PercentileHistory& history;
    const std::vector<Transcript::Entry>& notable;
    std::optional<std::size_t> selected_index;  // in `notable`
    bool expects_any = false;                   // "answered" instead of "echoed"
    bool listens = false;                       // count received messages instead of replies
};

// Returns counts, round trips and the notable messages. The selected message is in
// Style::selected.
Rows statistics_page(const Statistics& statistics, int width);

// Adds the facts about the connection, and about TCP, TLS and WebSocket if these are used. TLS
// secrets are written to the file `key_log`, and `sandbox` is the sandbox's state; both are
// omitted if empty. Makes a system call for TCP.
void add_connection(PageRows& page, const Session& session, const Results& results,
                    const std::string& key_log, const std::string& sandbox);

// Returns a message, and its reply unless both are identical, as text and in hex. The text of
// JSON is indented and, with `is_resp`, Redis values are decoded. Marks the first difference
// and the matches.
Rows message_page(const Transcript::Entry& entry, bool is_resp, const ui::Needle& needle,
                  int width);

}  // namespace yodel
