// The page of a load: rows of text, composed for a size.
#pragma once

#include "app/load/heat_map.hpp"
#include "app/screen/pages.hpp"
#include "app/stats/run_display.hpp"

namespace yodel {

// Returns the page of a load, with at most size.rows rows of at most size.columns columns:
// counts, rates, percentiles, failures, and a heat map of the round trips. If there is no space
// for all rows, the least important ones are omitted; so are the parts of a row. `rate`: right
// replies in the last second.
Rows load_page(const RunProgress& progress, double rate, const HeatMap& map, ui::Size size);

}  // namespace yodel
