#include "app/stats/verdict.hpp"

namespace yodel {

Verdict Verdict::on(const Results& results, const Options& options) {
    Verdict verdict;
    if (options.before) verdict.comparison = Comparison::of(*options.before, results);
    std::set<std::string> failed;
    for (const Requirement& requirement : options.required) {
        const std::string failure = requirement.failure(results, options.before.get());
        verdict.tolerated.insert(requirement.figure().name);
        if (failure.empty()) continue;
        verdict.failures.push_back(failure);
        failed.insert(requirement.figure().name);
    }
    for (const std::string& name : failed) verdict.tolerated.erase(name);
    return verdict;
}

std::vector<std::string> Verdict::lines(bool with_table) const {
    std::vector<std::string> all;
    if (comparison && with_table) all = comparison->table();
    all.insert(all.end(), failures.begin(), failures.end());
    return all;
}

}  // namespace yodel
