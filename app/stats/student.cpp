#include "app/stats/student.hpp"

#include <cmath>

namespace yodel {

namespace {

constexpr double pi = 3.14159265358979323846;

// Returns 1 + (k-1)/k x + (k-1)/k (k+1)/(k+2) x^2 + ..., with k from `first` in steps of 2 up
// to `last`.
double series(unsigned first, unsigned last, double x) {
    double term = 1;
    double sum = 1;
    for (unsigned k = first; k <= last; k += 2) {
        term *= (k - 1.0) / k * x;
        sum += term;
    }
    return sum;
}

}  // namespace

double probability_beyond(double t, unsigned degrees_of_freedom) {
    const double angle = std::atan(std::abs(t) / std::sqrt(degrees_of_freedom));
    const double sine = std::sin(angle);
    const double cosine = std::cos(angle);
    const double x = cosine * cosine;
    if (degrees_of_freedom == 1) return 1 - 2 / pi * angle;
    if (degrees_of_freedom % 2 == 0) return 1 - sine * series(2, degrees_of_freedom - 2, x);
    return 1 - 2 / pi * (angle + sine * cosine * series(3, degrees_of_freedom - 2, x));
}

}  // namespace yodel
