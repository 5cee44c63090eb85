// The percentile distribution of round trips in the text form of HdrHistogram, which its
// plotters read: columns Value, Percentile, TotalCount and 1/(1-Percentile), in milliseconds,
// with five rows for each halving of the distance to 100 %, and three lines of totals.
#pragma once

#include "app/stats/histogram.hpp"

#include <string>

namespace yodel {

std::string hgrm_text(const Histogram& times);

}  // namespace yodel
