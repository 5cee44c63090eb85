#include "app/load/merge.hpp"

#include "app/stats/end_object.hpp"
#include "app/stats/outcome.hpp"
#include "app/text/diagnostics.hpp"
#include "app/text/exit_status.hpp"
#include "tests/app/refusal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/redirected.hpp"
#include "tests/support/text.hpp"

#include <unistd.h>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::Redirected;

namespace {

// Diagnostics always write to the file that was standard error at their first use.
[[maybe_unused]] const Diagnostics& errors_to_a_file = []() -> Diagnostics& {
    const Redirected errors(STDERR_FILENO);
    return diagnostics();
}();

// A temporary file, removed with the object.
struct File {
    explicit File(const std::string& text) { std::ofstream(name) << text; }
    ~File() { ::unlink(name.c_str()); }
    File(const File&) = delete;

    static inline int count = 0;
    const std::string name =
        "/tmp/yodel_merge_" + std::to_string(::getpid()) + "_" + std::to_string(++count);
};

// Returns the end object of a run that sent a message at the first of the seconds, and received
// the reply at the second, if there are two. Without seconds, it sent nothing.
std::string run(std::vector<int> seconds) {
    Results results;
    results.count_attempt();
    results.count_opened(1ms, {}, false);
    const auto time = [](int second) { return ev::Time(std::chrono::seconds(second)); };
    if (!seconds.empty()) results.count_sent(1, time(seconds[0]));
    if (seconds.size() == 1) ++results.lost;
    if (seconds.size() == 2)
        results.count_answered({.round_trip = time(seconds[1] - seconds[0]).time_since_epoch()},
                               time(seconds[1]));
    return end_object(results, "closed", 0).str() + "\n";
}

}  // namespace

TEST_CASE("the coincidence of runs names the run that is off") {
    struct Row {
        std::vector<std::pair<int, int>> runs;  // seconds
        int start_spread;
        double overlap;
        std::string remark;
    };
    const Row rows[] = {
        {{{0, 10}}, 0, 1, ""},
        {{{3, 3}}, 0, 1, ""},
        {{{0, 100}, {10, 100}}, 10, 0.9, ""},
        {{{0, 100}, {5, 100}, {2, 99}}, 5, 0.94, ""},
        {{{0, 100}, {1, 100}, {0, 60}},
         1,
         0.59,
         "run 2 began 0ms after the first run and ended 40s before the last"},
        {{{0, 100}, {50, 150}, {0, 99}},
         50,
         49.0 / 150,
         "run 1 began 50s after the first run and ended 0ms before the last"},
        {{{0, 10}, {20, 30}},
         20,
         0,
         "run 0 began 0ms after the first run and ended 20s before the last"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.remark, row.overlap);
        std::vector<RunSpan> runs;
        for (const auto& [began, ended] : row.runs)
            runs.push_back({.name = "run " + std::to_string(runs.size()),
                            .began = ev::Time(std::chrono::seconds(began)),
                            .ended = ev::Time(std::chrono::seconds(ended))});
        const RunOverlap result = RunOverlap::of(runs);
        CHECK(result.start_spread == std::chrono::seconds(row.start_spread));
        CHECK(result.overlap == Approx(row.overlap));
        CHECK(result.remark == row.remark);
    }
}

TEST_CASE("the results of runs are added up, with how well they coincided") {
    struct Row {
        std::vector<std::vector<int>> runs;  // see run()
        Reporter::Options options;
        int status;
        std::string output;
        std::string errors;  // a part; empty: none
    };
    const std::string overlapping = "2 runs, began within 3000 ms, overlap 33.3 %: 2 sent";
    const std::string off = "began 0ms after the first run and ended 0ms before the last";
    const Reporter::Options json{.form = Reporter::Form::json, .quiet = true};
    const Row rows[] = {
        {{{0, 9}}, {}, 0, "1 run: 1 sent, 1 echoed, 0 bad, 0 lost", ""},
        {{{0, 9}, {0, 9}}, {}, 0, "2 runs, began within 0.00 ms, overlap 100 %: 2 sent", ""},
        {{{0, 9}, {3, 6}}, {}, 0, overlapping, off},
        {{{0, 9}, {3, 6}}, {.quiet = true}, 0, overlapping, ""},
        {{{0, 9}, {}}, {}, 0, "2 runs: 1 sent, 1 echoed", "contains a run that sent nothing"},
        {{{0, 9}, {0}}, {}, 1, ", overlap 0 %: 2 sent, 1 echoed", "0 bad, 1 lost"},
        {{{0, 9}, {3, 6}}, json, 0, R"("reason":"2 runs merged")", ""},
        {{{0, 9}, {}}, json, 0, R"("overlap":0.000,)", ""},
    };
    for (const Row& row : rows) {
        std::vector<std::unique_ptr<File>> files;
        std::vector<std::string> names;
        for (const auto& seconds : row.runs) {
            files.push_back(std::make_unique<File>(run({0, 1}) + run(seconds)));
            names.push_back(files.back()->name);
        }
        std::optional<Redirected> output(STDOUT_FILENO);
        std::optional<Redirected> errors(STDERR_FILENO);
        const int status = merge(names, row.options);
        const std::string printed = output->text();
        const std::string reported = errors->text();
        output.reset();
        errors.reset();
        CAPTURE(printed, reported);
        CHECK(status == row.status);
        CHECK(contains(printed, row.output));
        CHECK(contains(reported, row.errors));
        CHECK(reported.empty() == row.errors.empty());
    }
}

TEST_CASE("files that are the same, or no results, are not merged") {
    const File whole(run({0, 9}));
    const File empty("");
    CHECK(test::refusal([&] {
              merge({whole.name, "/tmp/../" + whole.name}, {});
          }) == "--merge: " + whole.name + " and /tmp/../" + whole.name + " are the same file");
    CHECK_THROWS_WITH(merge({empty.name}, {}), "--merge: " + empty.name +
                                                   ": no end object found (expected --json "
                                                   "output)");
    CHECK_THROWS_AS(merge({"/no/such", "/no/such"}, {}), InputError);
}
