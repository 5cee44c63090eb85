// The verdict on results: whether they are as required, and as before.
#pragma once

#include "app/stats/comparison.hpp"
#include "app/stats/requirement.hpp"
#include "app/stats/results.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

struct Verdict {
    struct Options {
        std::vector<Requirement> required = {};
        std::shared_ptr<const EarlierRuns> before = {};  // to be compared with; null: none
    };

    static Verdict on(const Results& results, const Options& options);

    // A requirement is about this figure, and all that are hold: it replaces the rule that a
    // wrong or lost reply, an unsent message or a failed connection fails the run.
    bool tolerates(std::string_view figure) const { return tolerated.contains(figure); }
    // The table of the comparison, if there is one, and the failures.
    std::vector<std::string> lines(bool with_table) const;

    std::vector<std::string> failures;  // a sentence for each requirement that failed
    std::set<std::string, std::less<>> tolerated;
    std::optional<Comparison> comparison;  // if there are earlier runs
};

}  // namespace yodel
