#include "app/stats/earlier_runs.hpp"

#include "app/stats/student.hpp"

#include <cmath>

namespace yodel {

ComparedFigures compared_figures(const RunResult& result) {
    ComparedFigures figures;
    const Tally& tally = result.tally;
    for (std::size_t i = 0; tally.round_trips.count() > 0 && i < percentiles.size(); ++i)
        figures[i] =
            static_cast<double>(tally.round_trips.percentile(percentiles[i].percent).count());
    figures[rate_figure] = result.rate;
    if (tally.sent == 0) return figures;
    const auto sent = static_cast<double>(tally.sent);
    figures[lost_figure] = static_cast<double>(tally.lost) / sent * 100;
    figures[bad_figure] = static_cast<double>(tally.bad) / sent * 100;
    return figures;
}

void EarlierRuns::add(const RunResult& run) {
    const ComparedFigures figures = compared_figures(run);
    for (std::size_t i = 0; i < figures.size(); ++i)
        if (figures[i]) spreads_[i].add(*figures[i]);
    const ev::Duration elapsed = joint_.elapsed + run.elapsed;
    joint_.add(run);
    joint_.elapsed = elapsed;
    joint_.rate = spreads_[rate_figure].mean;
    ++count_;
}

bool EarlierRuns::usual(std::size_t figure, double value) const {
    const Spread& spread = spreads_[figure];
    if (spread.count < fewest || spread.squares <= 0) return false;
    const double variance = spread.squares / (spread.count - 1) * (1 + 1 / spread.count);
    const double t = (value - spread.mean) / std::sqrt(variance);
    return probability_beyond(t, static_cast<unsigned>(spread.count) - 1) > false_alarm;
}

void EarlierRuns::Spread::add(double value) {
    const double off = value - mean;
    ++count;
    mean += off / count;
    squares += off * (value - mean);
}

}  // namespace yodel
