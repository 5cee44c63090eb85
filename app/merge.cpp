#include "app/merge.hpp"

#include "app/command_line.hpp"
#include "app/program.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/hgrm.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/report_file.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// Above it are those of a shell about commands and signals, such as the one that ended a run.
constexpr int highest_own_status = 125;

bool json(const ClientOptions& options) { return options.report.form == Reporter::Form::json; }

std::string number_of_runs(const ClientOptions& options) {
    const std::size_t count = options.merge.size();
    return std::to_string(count) + (count == 1 ? " run" : " runs");
}

std::string summary(const RunResult& sum) {
    std::string text = sum.tally.summary();
    text += planned_rate_remark(sum.planned_rate, sum.tally);
    if (sum.rate > 0) text += "; " + rate_text(sum.rate);
    return text;
}

// The texts of failures come from files, which may be anybody's.
std::string text_form(const RunResult& sum, const Verdict& verdict,
                      const ClientOptions& options) {
    std::string text = number_of_runs(options) + ": " + summary(sum) + "\n";
    for (const RunResult::Failure& failure : sum.failures)
        text += std::to_string(failure.count) + " times: " + ui::printable(failure.text) + "\n";
    if (!verdict.comparison) return text;
    for (const std::string& line : verdict.comparison->table()) text += line + "\n";
    return text;
}

std::string json_form(const RunResult& sum, const Verdict& verdict,
                      const ClientOptions& options) {
    JsonObject object = end_object(sum, number_of_runs(options) + " added up");
    if (verdict.comparison) object.object("compare", verdict.comparison->json());
    return object.str() + "\n";
}

void write_hgrm(ReportFile& file, RunResult& sum) {
    const std::string trouble = file.write(hgrm_text(sum.tally.round_trips));
    if (trouble.empty()) return;
    print_error("yodel", trouble);
    sum.status = output_failed;
}

std::unique_ptr<RunResult> last_result(const std::string& file) {
    std::unique_ptr<RunResult> last;
    const std::string trouble =
        read_results(file, [&](auto result) { last = std::move(result); });
    if (!trouble.empty()) throw UsageError("--merge: " + trouble);
    if (last->status > highest_own_status) last->status = reply_wrong_or_lost;
    return last;
}

// A name that leads nowhere is reported when it is read.
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
    const std::string trouble = read_results(file, [&](auto result) { runs->add(*result); });
    if (!trouble.empty()) throw UsageError("--compare: " + trouble);
    return runs;
}

int merge(const ClientOptions& options) {
    refuse_same(options.merge);
    RunResult sum;
    for (const std::string& file : options.merge) sum.add(*last_result(file));
    std::optional<ReportFile> hgrm;
    if (!options.report.hgrm.empty()) hgrm.emplace(options.report.hgrm);
    const Verdict verdict = Verdict::on(sum, options.report.verdict);
    if (hgrm) write_hgrm(*hgrm, sum);
    if (sum.status == success && !verdict.failures.empty()) sum.status = reply_wrong_or_lost;
    if (json(options))
        print(json_form(sum, verdict, options));
    else if (!options.report.quiet)
        print(text_form(sum, verdict, options));
    for (const std::string& failure : verdict.failures) print_error("yodel", failure);
    return sum.status;
}

}  // namespace yodel
