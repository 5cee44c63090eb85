#include "app/stats/verdict.hpp"

namespace yodel {

Verdict Verdict::on(const RunResult& result, const Options& options) {
    Verdict verdict;
    if (options.before) verdict.comparison = Comparison::of(*options.before, result);
    const RunResult* const before = options.before ? &options.before->joint() : nullptr;
    for (const Requirement& requirement : options.required) {
        const std::string failure = requirement.failure(result, before);
        if (!failure.empty()) verdict.failures.push_back(failure);
    }
    return verdict;
}

std::vector<std::string> Verdict::lines(bool quiet) const {
    std::vector<std::string> all;
    if (comparison && !quiet) all = comparison->table();
    all.insert(all.end(), failures.begin(), failures.end());
    return all;
}

}  // namespace yodel
