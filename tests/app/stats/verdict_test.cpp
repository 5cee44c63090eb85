#include "app/stats/requirement.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"

using namespace yodel;

TEST_CASE("prints the failed requirements after the table") {
    const Results now = test::result_of({}, 1, 100);
    Verdict::Options options{.required = parse_requirements("sent=100,lost>0,bad>0")};
    const Verdict alone = Verdict::on(now, options);
    CHECK_FALSE(alone.comparison);
    CHECK(alone.lines(true) ==
          std::vector<std::string>{"required lost>0, was 0", "required bad>0, was 0"});
    auto before = std::make_shared<EarlierRuns>();
    before->add(test::result_of({}, 2, 100));
    options.before = before;
    const Verdict both = Verdict::on(now, options);
    REQUIRE(both.comparison);
    CHECK(both.lines(true).size() == 13);
    CHECK(both.lines(true).back() == "required bad>0, was 0");
    CHECK(both.lines(false) == alone.lines(false));
}

TEST_CASE("prints nothing without options") { CHECK(Verdict::on({}, {}).lines(true).empty()); }
