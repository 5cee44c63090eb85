// The status line, and hints about keys.
#pragma once

#include "app/protocol/session.hpp"
#include "app/stats/results.hpp"
#include "ui/frame.hpp"

#include <deque>
#include <string>
#include <vector>

namespace yodel {

// A part of a row. The least important parts are omitted if not all parts fit.
struct Part {
    std::string text;  // any bytes
    int rank = 0;      // the highest is omitted first
    ui::Style style = ui::Style::normal;
    int group = 0;
};

struct Separators {
    std::string parts;
    std::string groups = {};
    ui::Style style = ui::Style::normal;
};

// Returns the parts that fit, in their order. If a part of a group does not fit, the group's
// less important parts are omitted as well, because alone they mean little. The parts of rank 0
// stay; if they are too wide, the row is truncated.
ui::Row fit(const std::vector<Part>& parts, int width, const Separators& separators);

// Returns minutes and seconds as 4:07, or as 04:07 if `minute_digits` is 2. Returns 1:04:07
// from an hour on.
std::string elapsed_text(ev::Duration duration, int minute_digits);

// Returns the state in words, in most states with the time since the state began or, before a
// retry, with the time left.
std::string state_words(const Session& session, ev::Time now);

// The ranks of the parts, the most important first.
struct Rank {
    enum { state, failure, trust, mode, count, target, time, detail, round_trips };
};

// The groups of parts, separated by bars.
struct StatusGroup {
    enum { connection, counts, times };
};

std::vector<Part> status_parts(const Session& session, const Results& results,
                               const std::deque<ev::Duration>& recent_round_trips,
                               ev::Time now);

// Returns the times as bars of eight heights, relative to the longest: ▁▂▁▃█▂. There must be at
// least one time.
std::string sparkline(const std::deque<ev::Duration>& times);

// --- Hints about keys, shown instead of the input line while it is empty.

// Returns the hints for the state of the connection, separated by "; ", the most helpful first.
// Returns an empty text if the connection is open and `has_sent_before` is true. The text is
// ASCII and static.
std::string_view connection_hints(const Session& session, bool has_sent_before);

// Returns true if sending connects again: yodel does not listen, the connection has ended or
// failed to open, and the user did not end it.
bool reconnects_to_send(const Session& session);

// Appends the leading hints that fit whole into a row of this width. In an empty row, the first
// hint is truncated instead of omitted.
void append_hints(ui::Row& row, std::string_view hints, int width);

}  // namespace yodel
