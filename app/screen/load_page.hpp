// The page of a load: counts, rates, percentiles, failures, and a heat map of the round trips.
//
// Pure: composes rows of text for a size. If there is no space for all rows, the least
// important ones are omitted; so are the parts of a row.
#pragma once

#include "app/stats/heat_map.hpp"
#include "app/stats/run_display.hpp"
#include "ui/frame.hpp"

#include <vector>

namespace yodel {

// Returns at most size.rows rows of at most size.columns columns. `rate`: right replies in the
// last second.
std::vector<ui::Row> load_page(const RunProgress& progress, double rate, const HeatMap& map,
                               ui::Size size);

}  // namespace yodel
