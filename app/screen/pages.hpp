// The pages that the screen shows over the messages: rows of text, composed for a width.
#pragma once

#include "app/protocol/session.hpp"
#include "app/screen/message_log.hpp"
#include "app/stats/course.hpp"
#include "app/stats/tally.hpp"
#include "ui/frame.hpp"

#include <vector>

namespace yodel {

using Rows = std::vector<ui::Row>;

// Counts, percentiles, how these went over time, and a histogram of the round-trip times.
Rows statistics_page(const Tally& tally, const Course& course, int width);

// Where to, since when, and with TLS what was agreed on and with whom. `key_log`: where the
// secrets are written, or empty.
Rows connection_page(const Session& session, const std::string& key_log, int width);

// Both sides of a message, in text and in hex, and where they differ.
Rows message_page(const Exchange& exchange, int width);

// A heading, with an empty row before it unless it is the first.
void add_title(Rows& rows, const std::string& title);

// A name and what it stands for, wrapped below itself.
void add_fact(Rows& rows, const std::string& name, std::string_view value, int width,
              ui::Style style = ui::Style::normal);

}  // namespace yodel
