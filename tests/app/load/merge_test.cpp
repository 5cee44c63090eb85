#include "app/load/merge.hpp"

#include "tests/support/catch.hpp"

using namespace yodel;

TEST_CASE("the coincidence of runs names the run that is off") {
    struct Row {
        std::vector<std::pair<int, int>> runs;  // seconds
        int began_within;
        double overlap;
        std::string remark;
    };
    const Row row = GENERATE(values<Row>({
        {{{0, 10}}, 0, 1, ""},
        {{{3, 3}}, 0, 1, ""},
        {{{0, 100}, {5, 100}, {2, 99}}, 5, 0.94, ""},
        {{{0, 100}, {1, 100}, {0, 60}},
         1,
         0.59,
         "run 2 began 0ms after the first run and "
         "ended 40s before the last"},
        {{{0, 100}, {50, 150}, {0, 99}},
         50,
         49.0 / 150,
         "run 1 began 50s after the first run "
         "and ended 0ms before the last"},
        {{{0, 10}, {20, 30}},
         20,
         0,
         "run 0 began 0ms after the first run and ended 20s "
         "before the last"},
    }));
    std::vector<RunSpan> runs;
    for (const auto& [began, ended] : row.runs)
        runs.push_back({.name = "run " + std::to_string(runs.size()),
                        .began = ev::Time(std::chrono::seconds(began)),
                        .ended = ev::Time(std::chrono::seconds(ended))});
    const Coincidence result = Coincidence::of(runs);
    CHECK(result.began_within == std::chrono::seconds(row.began_within));
    CHECK(result.overlap == Approx(row.overlap));
    CHECK(result.remark == row.remark);
}
