#include "app/stats/requirement.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"

using namespace yodel;

TEST_CASE("a verdict contains a sentence for each requirement that fails") {
    const Results now = test::result_of({}, 1, 100);
    const Verdict verdict = Verdict::on(now, parse_requirements("sent=100,lost>0,bad>0"));
    CHECK(verdict.failed());
    CHECK(verdict.lines() ==
          std::vector<std::string>{"required lost>0, was 0", "required bad>0, was 0"});
    CHECK_FALSE(Verdict::on(now, {}).failed());
}
