// The search for the highest rate at which a condition holds. It doubles the rate until the
// condition fails, or halves it until the condition holds, and then bisects by the geometric
// mean until both ends are within 5 % of each other. Pure: the caller runs the steps.
//
// A rate fails if two runs at it fail, so that a short disturbance does not end the search.
//
// A condition that fails at the first rate and at half of it may hold at no rate, and at a
// lower rate a run takes longer. So a brief run at the lowest rate comes first. If it fails,
// no rate holds. If it does not fail, it proves nothing, and the search goes on.
#pragma once

#include <optional>

namespace yodel {

class RateSearch {
public:
    struct Options {
        double first = 1000;  // a second
        double min = 10;
        double max = 10e6;
    };
    explicit RateSearch(const Options& options) : options_(options), next_(options.first) {}

    // Returns the rate of the next run; none: the search is over.
    std::optional<double> next() const { return next_; }
    // The run at next() needs only enough messages to show a condition that can't hold.
    bool brief() const { return brief_; }
    // `held`: the condition held in the run at next(), which must exist.
    void record(bool held);
    // Returns the highest rate that held, and the lowest that failed.
    std::optional<double> held() const { return held_; }
    std::optional<double> failed() const { return failed_; }

private:
    std::optional<double> after_hold() const;
    std::optional<double> after_failure() const;
    std::optional<double> between() const;

    const Options options_;
    std::optional<double> next_;
    std::optional<double> held_;
    std::optional<double> failed_;
    bool doubtful_ = false;  // the last run at next_ has failed
    bool brief_ = false;     // the run at next_ is brief
    bool hopeful_ = false;   // the brief run held
};

}  // namespace yodel
