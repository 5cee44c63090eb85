#include "app/stats/hgrm.hpp"

#include "app/text/units.hpp"

#include <algorithm>

namespace yodel {

namespace {

constexpr int rows_per_halving = 5;

double milliseconds(ev::Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

// By Newton's method, which needs no library.
double square_root(double value) {
    double root = std::max(value, 1.0);
    for (int i = 0; i < 100 && root > 0; ++i) root = (root + value / root) / 2;
    return root;
}

double standard_deviation(const Histogram& times) {
    if (times.count() == 0) return 0;
    double squares = 0;
    for (const Histogram::Bucket& bucket : times.buckets()) {
        const double off = milliseconds(bucket.upper_end - times.mean());
        squares += static_cast<double>(bucket.count) * off * off;
    }
    return square_root(squares / static_cast<double>(times.count()));
}

// The step halves with each halving of the distance to 100 %.
double next_level(double level) {
    double halving = 2;
    while (halving * (100 - level) <= 100) halving *= 2;
    return level + 100 / (rows_per_halving * halving);
}

std::string row(ev::Duration value, double percent, std::uint64_t count) {
    std::string text = format("%12.3f %2.12f %10llu", milliseconds(value), percent / 100,
                              static_cast<unsigned long long>(count));
    if (percent < 100) text += format(" %14.2f", 100 / (100 - percent));
    return text + "\n";
}

std::string rows(const Histogram& times) {
    std::string text;
    std::uint64_t seen = 0;
    double level = 0;
    for (const Histogram::Bucket& bucket : times.buckets()) {
        seen += bucket.count;
        const double reached =
            100 * static_cast<double>(seen) / static_cast<double>(times.count());
        const ev::Duration value = std::min(bucket.upper_end, times.max());
        while (level <= reached) {
            text += row(value, level, seen);
            level = next_level(level);
            if (seen == times.count()) break;  // where every level is reached
        }
    }
    return times.count() == 0 ? text : text + row(times.max(), 100, seen);
}

}  // namespace

std::string hgrm_text(const Histogram& times) {
    return format("%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
                  "1/(1-Percentile)") +
           rows(times) +
           format("#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", milliseconds(times.mean()),
                  standard_deviation(times)) +
           format("#[Max     = %12.3f, Total count    = %12llu]\n", milliseconds(times.max()),
                  static_cast<unsigned long long>(times.count())) +
           format("#[Buckets = %12zu, SubBuckets     = %12d]\n", Histogram::octaves,
                  Histogram::steps);
}

}  // namespace yodel
