// The runs that a run is compared with: what they counted together, and how much the figures of
// one differ from those of the next.
//
// A single run knows how much its round trips vary while it lasts, but not how much the next
// run differs from it as a whole: where the system places the processes, which connection the
// service serves from which thread. Several runs show that. The method: a figure is unusual
// where it lies further from the mean of the earlier runs than Student's t distribution allows
// for one more run of the same kind.
#pragma once

#include "app/stats/run_result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace yodel {

// The figures by which runs are compared: `percentiles`, in nanoseconds; the rate, in replies a
// second; what was lost, and what was bad, in percent of what was sent. None where nothing of
// its kind was measured.
inline constexpr std::size_t rate_figure = percentiles.size();
inline constexpr std::size_t lost_figure = rate_figure + 1;
inline constexpr std::size_t bad_figure = lost_figure + 1;
using ComparedFigures = std::array<std::optional<double>, bad_figure + 1>;
ComparedFigures compared_figures(const RunResult& result);

// The probability of a false alarm about one figure: that of one among a thousand comparisons
// of all figures (Bonferroni).
inline constexpr double false_alarm = 0.001 / std::tuple_size_v<ComparedFigures>;

class EarlierRuns {
public:
    // Fewer runs than this say too little about how much they differ.
    static constexpr std::uint64_t fewest = 5;

    // The runs are taken to follow one another.
    void add(const RunResult& run);

    std::uint64_t count() const { return count_; }
    // All runs as one: counts and histograms are added up, the rate is the mean.
    const RunResult& joint() const { return joint_; }
    // Returns true where the runs are enough to tell that `value` is to be expected of one more
    // of them.
    bool usual(std::size_t figure, double value) const;

private:
    // The mean and the variance of what was added (Welford 1962).
    struct Spread {
        double count = 0;
        double mean = 0;
        double squares = 0;  // the sum of the squares of the deviations

        void add(double value);
    };

    std::uint64_t count_ = 0;
    RunResult joint_;
    std::array<Spread, std::tuple_size_v<ComparedFigures>> spreads_{};
};

}  // namespace yodel
