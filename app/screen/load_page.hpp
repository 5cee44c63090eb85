// The page that shows how a run of many connections goes: counts, rates, percentiles, failures,
// and a heat map of the round trips.
//
// Pure: rows of text, composed for a size. Where there is no space for all rows, those of least
// worth are left out, and so are the parts of a row.
#pragma once

#include "app/stats/heat_map.hpp"
#include "app/stats/run_display.hpp"
#include "ui/frame.hpp"

#include <vector>

namespace yodel {

// Returns at most as many rows as the size has, none wider than its columns. `rate` is that of
// the right replies of late, a second.
std::vector<ui::Row> load_page(const RunProgress& progress, double rate, const HeatMap& map,
                               ui::Size size);

}  // namespace yodel
