#include "app/run/merge.hpp"

#include "app/process/program.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/histogram.hpp"
#include "app/stats/summary.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/log_file.hpp"
#include "ui/text.hpp"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

std::string number_of_runs(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " run" : " runs");
}

// Makes the texts of failures printable, because the files may be anybody's.
std::string text_form(const Results& sum, const Verdict& verdict, std::size_t count) {
    std::string text = number_of_runs(count) + ": " + summary(sum, {.load = true}) + "\n";
    for (const std::string& line : failure_lines(sum)) text += ui::printable(line) + "\n";
    if (!verdict.comparison) return text;
    for (const std::string& line : verdict.comparison->table()) text += line + "\n";
    return text;
}

void read_runs(const char* option, const std::string& file,
               const std::function<void(std::unique_ptr<Results>)>& take) {
    try {
        read_results(file, take);
    } catch (const JsonError& error) {
        throw UsageError(option + std::string(error.what()));
    }
}

// Skips a file that does not exist: reading it reports the error.
void refuse_same(const std::vector<std::string>& files) {
    std::map<std::filesystem::path, std::string> seen;
    for (const std::string& file : files) {
        std::error_code error;
        const auto path = std::filesystem::canonical(file, error);
        if (error) continue;
        const auto [same, added] = seen.emplace(path, file);
        if (!added)
            throw UsageError("--merge: " + same->second + " and " + file +
                             " are the same file");
    }
}

}  // namespace

std::shared_ptr<EarlierRuns> earlier_runs(const std::string& file) {
    auto runs = std::make_shared<EarlierRuns>();
    read_runs("--compare: ", file, [&](auto results) { runs->add(*results); });
    return runs;
}

int merge(const std::vector<std::string>& files, const Reporter::Options& options) {
    refuse_same(files);
    Results sum;
    for (const std::string& file : files) {
        std::unique_ptr<Results> last;
        read_runs("--merge: ", file, [&](auto results) { last = std::move(results); });
        sum.add(*last);
    }
    ReportFile hgrm(options.hgrm);
    const Verdict verdict = Verdict::on(sum, options.verdict);
    Ending ending;
    const std::string trouble = hgrm ? hgrm.write(hgrm_text(sum.round_trips)) : "";
    if (!trouble.empty()) ending.troubles.push_back({output_failed, trouble});
    const int status = exit_status(sum, verdict, ending);
    if (options.form == Reporter::Form::json)
        print(
            end_object(sum, number_of_runs(files.size()) + " added up", status, verdict).str() +
            "\n");
    else if (!options.quiet)
        print(text_form(sum, verdict, files.size()));
    if (!trouble.empty()) print_error("yodel", trouble);
    for (const std::string& failure : verdict.failures) print_error("yodel", failure);
    return status;
}

}  // namespace yodel
