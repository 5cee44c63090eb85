#include "app/stats/reports.hpp"

#include "app/stats/figures.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;

namespace {

const Verdict nothing;

}  // namespace

TEST_CASE("writes a figure as a gauge with its type, unit and meaning") {
    Results results;
    results.count_sent(3, {});
    results.count_answered({.round_trip = 1234567ns}, ev::Time(2s));
    results.count_lost();
    results.overlap = 0.75;
    const std::string text =
        metrics_text({.results = results, .verdict = nothing, .target = "a:1", .status = 7});
    const auto [name, written] = GENERATE(table<std::string, std::string>(
        {{"rtt_p99_9_seconds", "# TYPE yodel_rtt_p99_9_seconds gauge\n"
                               "# UNIT yodel_rtt_p99_9_seconds seconds\n"
                               "# HELP yodel_rtt_p99_9_seconds Round trips: p99.9.\n"
                               "yodel_rtt_p99_9_seconds{target=\"a:1\"} 0.001234567\n"},
         {"overlap_ratio", "# TYPE yodel_overlap_ratio gauge\n"
                           "# UNIT yodel_overlap_ratio ratio\n"
                           "# HELP yodel_overlap_ratio Time that all runs share, as a part of "
                           "the whole time.\n"
                           "yodel_overlap_ratio{target=\"a:1\"} 0.75\n"},
         {"lost", "# TYPE yodel_lost gauge\n"
                  "# HELP yodel_lost Messages without a reply in time.\n"
                  "yodel_lost{target=\"a:1\"} 1\n"},
         {"duration_seconds", "yodel_duration_seconds{target=\"a:1\"} 2\n"},
         {"exit_status", "# TYPE yodel_exit_status gauge\n"
                         "# HELP yodel_exit_status Exit status.\n"
                         "yodel_exit_status{target=\"a:1\"} 7\n# EOF\n"}}));
    CHECK(contains(text, "\n" + written));
    CHECK(text.starts_with("# TYPE yodel_rtt_min_seconds gauge\n"));
    CHECK(text.ends_with("\n# EOF\n"));
    CHECK_FALSE(contains(text, "jitter"));
    CHECK_FALSE(contains(text, "handshake"));
}

TEST_CASE("writes a target with any bytes, or none") {
    const auto [target, labels] = GENERATE(table<std::string, std::string>(
        {{"", " "}, {"a\"\\\n\x1b\xff", "{target=\"a\\\"\\\\^J^[\\\\xff\"} "}}));
    CHECK(contains(metrics_text({.results = {}, .verdict = nothing, .target = target}),
                   "\nyodel_sent" + labels + "0\n"));
}

TEST_CASE("each figure has a meaning, for people who see it alone") {
    for (const Figure& figure : figures()) {
        CAPTURE(figure.name);
        CHECK(figure.help.size() > 5);
    }
}

TEST_CASE("writes test cases for the run, its requirements and its differences") {
    Results results;
    results.utc_offset = 1795420228s;
    results.count_sent(3, {});
    results.count_answered({.round_trip = 2ms}, ev::Time(1500ms));
    const Verdict verdict = Verdict::on(results, parse_requirements("p99<1ms,lost=0"));
    CHECK(junit_text({.results = results,
                      .verdict = verdict,
                      .target = "a:1",
                      .differences = {"reply 1 <\n  now b\n"},
                      .failure = "one\ntwo"}) ==
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
          "<testsuite name=\"yodel a:1\" timestamp=\"2026-11-23T07:50:28\" tests=\"4\" "
          "failures=\"3\" errors=\"0\" skipped=\"0\" time=\"1.500\">\n"
          "<testcase classname=\"yodel.run\" name=\"run\" time=\"1.500\">"
          "<failure message=\"one\">one&#10;two</failure></testcase>\n"
          "<testcase classname=\"yodel.require\" name=\"p99&#60;1ms\" time=\"0.000\">"
          "<failure message=\"required p99&#60;1ms, was 2ms\">required p99&#60;1ms, was 2ms"
          "</failure></testcase>\n"
          "<testcase classname=\"yodel.require\" name=\"lost=0\" time=\"0.000\"></testcase>\n"
          "<testcase classname=\"yodel.replay\" name=\"reply 1 &#60;\" time=\"0.000\">"
          "<failure message=\"reply 1 &#60;\">reply 1 &#60;&#10;  now b&#10;</failure>"
          "</testcase>\n</testsuite>\n</testsuites>\n");
}
