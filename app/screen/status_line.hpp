// The status line. Its parts keep their order. As the width shrinks, the parts of least worth
// are left out, but never the state.
#pragma once

#include "app/protocol/session.hpp"
#include "app/stats/results.hpp"
#include "ui/frame.hpp"

#include <deque>
#include <string>
#include <vector>

namespace yodel {

// The state of a session in words, with the time since it began.
std::string state_words(const Session& session, ev::Time now);

// The worth of a part, the greatest first. If there is no space for all parts, the worthiest
// are shown. A mode that is switched on (a transcript, the mouse) is worth as much as the
// target.
enum class Worth { state, failure, trust, mode, count, target, time, detail, course };

// A bar separates two groups. If there is no space for a part of a group, the parts of the
// group that are worth less are left out as well, because alone they mean little.
enum class StatusGroup { connection, counts, times };

struct StatusPart {
    Worth worth;
    StatusGroup group;
    std::string text;
    ui::Style style = ui::Style::status;
};

// All parts in the order of their display, the state first.
std::vector<StatusPart> status_parts(const Session& session, const Results& results,
                                     const std::deque<ev::Duration>& recent, ev::Time now);

// The parts that fit, chosen by their worth, as one row of the whole width.
ui::Row fit_status(const std::vector<StatusPart>& parts, int width);

// The times in eight heights, relative to the longest: ▁▂▁▃█▂
std::string sparkline(const std::deque<ev::Duration>& times);

// --- Hints at keys, shown instead of the input line while nothing is typed.

// The hints for the state of the connection, separated by "; ", the most helpful first; empty:
// none is needed. `sent_before`: a line has been sent, so the user knows how. The text is ASCII
// and lives as long as the program.
std::string_view connection_hints(const Session& session, bool sent_before);

// Returns the hints from the front that fit into the width whole, and always the first one,
// which alone may have to be cut. The view is a part of `hints`.
std::string_view fit_hints(std::string_view hints, int width);

}  // namespace yodel
