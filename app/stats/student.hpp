// Student's t distribution.
#pragma once

namespace yodel {

// Returns the probability of a value further from 0 than `t`, on either side. The degrees of
// freedom must be at least 1. Source: Abramowitz and Stegun, Handbook of Mathematical
// Functions, 26.7.3 and 26.7.4.
double probability_beyond(double t, unsigned degrees_of_freedom);

}  // namespace yodel
