// The status line: parts from the left in the order of their worth, dropped from the right as
// the width shrinks, but for the first, the state.
#pragma once

#include "app/session.hpp"
#include "app/tally.hpp"
#include "ui/frame.hpp"

#include <deque>
#include <string>
#include <vector>

namespace yodel {

// The state of a session in words, with how long it has lasted.
std::string state_words(const Session& session, ev::Time now);

// All parts, for a status line without limit.
std::vector<ui::Span> status_parts(const Session& session, const Tally& tally,
                                   const std::deque<ev::Duration>& recent, ev::Time now);

// As many of the parts as fit, as one bar of the whole width.
ui::Row fit_status(const std::vector<ui::Span>& parts, int width);

// Eight heights for the times, the greatest being the highest: ▁▂▁▃█▂
std::string sparkline(const std::deque<ev::Duration>& times);

}  // namespace yodel
