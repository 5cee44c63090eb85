#include "app/stats/histogram.hpp"

#include "tests/support/catch.hpp"

#include <sstream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

struct Row {
    double value = 0;
    double percentile = 0;
    std::uint64_t count = 0;
    double inverse = 0;  // 0 in the last row
};

// Reads the rows as a plotter does: four numbers separated by space, the last of which may be
// missing. Lines that begin with "#" are no rows.
std::vector<Row> rows_of(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    std::vector<Row> rows;
    while (std::getline(lines, line)) {
        if (line.empty() || line.starts_with('#')) continue;
        std::istringstream words(line);
        Row row;
        REQUIRE(words >> row.value >> row.percentile >> row.count);
        words >> row.inverse;
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

TEST_CASE("writes a row for each level, in the columns of HdrHistogram") {
    Histogram histogram;
    histogram.record(1ms);
    histogram.record(3ms);
    CHECK(hgrm_text(histogram) == "       Value     Percentile TotalCount 1/(1-Percentile)\n"
                                  "\n"
                                  "       1.004 0.000000000000          1           1.00\n"
                                  "       1.004 0.100000000000          1           1.11\n"
                                  "       1.004 0.200000000000          1           1.25\n"
                                  "       1.004 0.300000000000          1           1.43\n"
                                  "       1.004 0.400000000000          1           1.67\n"
                                  "       1.004 0.500000000000          1           2.00\n"
                                  "       3.000 0.550000000000          2           2.22\n"
                                  "       3.000 1.000000000000          2\n"
                                  "#[Mean    =        2.000, StdDeviation   =        1.006]\n"
                                  "#[Max     =        3.000, Total count    =            2]\n"
                                  "#[Buckets =           57, SubBuckets     =          128]\n");
}

TEST_CASE("writes rows that agree with the histogram") {
    Histogram histogram;
    for (int i = 1; i <= 100'000; ++i) histogram.record(i * 1us);
    const std::vector<Row> rows = rows_of(hgrm_text(histogram));
    REQUIRE(rows.size() > 40);
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
        CAPTURE(i);
        const auto exact =
            static_cast<double>(histogram.percentile(rows[i].percentile * 100).count());
        CHECK(std::abs(rows[i].value - exact / 1e6) <= 0.001);
        CHECK(static_cast<double>(rows[i].count) >= rows[i].percentile * 100'000);
        CHECK(std::abs(rows[i].inverse * (1 - rows[i].percentile) - 1) < 0.01);
        CHECK(rows[i].percentile < rows[i + 1].percentile);
        CHECK(rows[i].value <= rows[i + 1].value);
    }
    CHECK(rows.back().value == 100);
    CHECK(rows.back().percentile == 1);
    CHECK(rows.back().count == 100'000);
    CHECK(rows.back().inverse == 0);
}

TEST_CASE("writes no rows for an empty histogram") {
    const std::string text = hgrm_text({});
    CHECK(rows_of(text).empty());
    CHECK(text.find("Total count    =            0]") != text.npos);
}
