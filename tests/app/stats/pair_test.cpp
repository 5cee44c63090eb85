#include "app/stats/pair.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

PairResults some_pairs() {
    PairResults pairs;
    for (int i = -10; i < 90; ++i) pairs.count("", i * 1ms);
    pairs.count("reply 101 differs", std::nullopt);
    pairs.count("reply 102 differs", std::nullopt);
    return pairs;
}

PairResults restored(const std::string& text) {
    return restored_pair(JsonFields(*read_json(text).value));
}

}  // namespace

TEST_CASE("the difference of round trips has a sign") {
    const PairResults pairs = some_pairs();
    const std::pair<double, int> rows[] = {{0.1, -10}, {1, -10}, {2, -9},  {10, -1},
                                           {11, 0},    {12, 1},  {50, 39}, {100, 89}};
    for (const auto& [percent, expected] : rows) {
        CAPTURE(percent);
        const double found =
            std::chrono::duration<double, std::milli>(pairs.delay_percentile(percent)).count();
        CHECK(found == Approx(expected).epsilon(0.01));
    }
    CHECK(pairs.text() == "102 pairs, 100 same, 2 different; b-a p50/p95/p99 +39/+84/+89 ms");
    CHECK(PairResults().text() == "0 pairs, 0 same, 0 different");
}

TEST_CASE("pairs of several runs are added up, also from a file") {
    PairResults sum = restored(some_pairs().json().str());
    CHECK(sum.text() == some_pairs().text());
    sum.add(some_pairs());
    CHECK(sum.text() == "204 pairs, 200 same, 4 different; b-a p50/p95/p99 +39/+84/+89 ms");
    CHECK(sum.difference_sentence == "reply 101 differs");
    CHECK(restored(PairResults().json().str()).text() == PairResults().text());
    CHECK_THROWS_AS(restored(R"({"same":1,"different":0,"delay_us":{},"b_slower":[[1,0]],)"
                             R"("b_faster":[]})"),
                    JsonError);
}

TEST_CASE("the first target that fails decides the outcome of two") {
    const Results good = test::counted("1 sent,1 echoed");
    const Results lost = test::counted("1 sent,1 lost");
    Results failed = test::counted("1 failed");
    failed.count_failure("cannot connect", 7, false);
    failed.count_end(7, false);
    const PairResults none;
    PairResults different;
    different.count("reply 1 differs", std::nullopt);
    const auto decided = [](const Results& a, const Results& b, const PairResults& pairs,
                            std::vector<Trouble> troubles = {}) {
        const PairOutcome outcome{{.results = a}, {.results = b}, pairs, std::move(troubles)};
        return std::to_string(outcome.decided().status) + " " + outcome.decided().text;
    };
    CHECK(decided(good, good, none) == "0 closed");
    CHECK(decided(good, good, different) == "1 reply 1 differs");
    CHECK(decided(lost, failed, different) == "7 cannot connect");
    CHECK(decided(good, lost, none, {{26, "unreadable"}}) == "26 unreadable");
    CHECK(decided(good, lost, none) == "1 closed");
    const PairOutcome outcome{{.results = good}, {.results = lost}, different, {{26, "x"}}};
    CHECK(outcome.lines() == std::vector<std::string>{"a: 1 sent, 1 echoed, 0 bad, 0 lost",
                                                      "b: 1 sent, 0 echoed, 0 bad, 1 lost", "x",
                                                      "1 pair, 0 same, 1 different"});
}
