// Composes the page of a load for a given size.
#pragma once

#include "app/load/heat_map.hpp"
#include "app/screen/pages.hpp"
#include "app/stats/run_display.hpp"

namespace yodel {

// Returns a page that fits into `size`: counts, rates, percentiles, failures, and a heat map of
// the round trips. Omits the least important rows, and parts of rows, that do not fit. `rate`:
// right replies in the last second.
Rows load_page(const RunProgress& progress, double rate, const HeatMap& map, ui::Size size);

}  // namespace yodel
