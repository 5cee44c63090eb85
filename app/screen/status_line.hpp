// The status line: parts in their usual order. As the width shrinks, those of least worth are
// left out, never the state.
#pragma once

#include "app/protocol/session.hpp"
#include "app/stats/tally.hpp"
#include "ui/frame.hpp"

#include <deque>
#include <string>
#include <vector>

namespace yodel {

// The state of a session in words, with how long it has lasted.
std::string state_words(const Session& session, ev::Time now);

// From the most worth to the least: where there is no room for all, the first ones are shown.
enum class Worth { state, failure, trust, mode, count, time, target, detail, course };

// Between two groups there is a bar. Where a part of a group finds no room, what is worth less
// in it is left out, too: it would say little alone.
enum class StatusGroup { connection, counts, times };

struct StatusPart {
    Worth worth;
    StatusGroup group;
    ui::Span span;
};

// All parts in the order of their display, the state first.
std::vector<StatusPart> status_parts(const Session& session, const Tally& tally,
                                     const std::deque<ev::Duration>& recent, ev::Time now);

// Those of the parts that fit, by their worth, as one bar of the whole width.
ui::Row fit_status(const std::vector<StatusPart>& parts, int width);

// Eight heights for the times, the greatest being the highest: ▁▂▁▃█▂
std::string sparkline(const std::deque<ev::Duration>& times);

}  // namespace yodel
